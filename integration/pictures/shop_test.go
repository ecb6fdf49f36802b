package pictures

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/integration/harness"
)

// A shop is what an edge has to do while its console is looked at: customers come and go, and get the
// states of orders, which a backend publishes.
type shop struct {
	e         *harness.Edge
	backend   *client.Client
	customers []customer
}

type customer struct {
	token  string
	client *client.Client // nil while they are away
}

// openShop opens a shop that closes when the test ends.
func openShop(e *harness.Edge) {
	e.T.Helper()
	s := &shop{e: e}
	request := harness.TokenRequest(harness.AllowAll("orders"))
	request["created_by"] = "order service"
	var err error
	s.backend, err = s.connect(e.IssueAs(e.Master, request).Token, client.WebSocket)
	must(e.T, err)
	for i, name := range strings.Fields("ada ben carla david emma farid grace hugo ines jonas kira liam mina " +
		"noah olga pia quinn rosa sami tara uwe vera wanda xaver yara zoe") {
		request := harness.TokenRequest(harness.Grant("orders", nil, []string{"order.*.state"}),
			harness.Grant("support", []string{"chat.#"}, []string{"chat.#"}))
		request["created_by"], request["subject"] = "web shop", name
		request["right"].(harness.Object)["expires_at"] = harness.In(time.Duration(20+7*i) * time.Minute)
		s.customers = append(s.customers, customer{token: e.IssueAs(e.Master, request).Token})
	}
	ctx, cancel := context.WithCancel(e.T.Context())
	done := make(chan error, 1)
	go func() { done <- s.run(ctx) }()
	e.T.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			e.T.Error(err)
		}
	})
}

// run does in 45 s what the console shows as 15 minutes.
func (s *shop) run(ctx context.Context) error {
	defer func() {
		for _, c := range append(s.customers, customer{client: s.backend}) {
			if c.client != nil {
				_ = c.client.Close()
			}
		}
	}()
	began, tick := time.Now(), time.NewTicker(50*time.Millisecond)
	defer tick.Stop()
	for n := 0; ; n++ {
		phase := time.Since(began).Seconds() / 45
		if err := s.let(int((0.4 + 0.25*phase + 0.2*math.Sin(7*phase)) * float64(len(s.customers)))); err != nil {
			return err
		}
		for i := range int(5 + 2*math.Sin(11*phase+2) + 2*math.Sin(29*phase+1)) {
			order, state := fmt.Sprintf("A-%d", 1000+(n*7+i)%500), []string{"paid", "packed", "sent"}[(n+i)%3]
			if err := s.backend.Publish(ctx, "shop.orders", "order."+order+".state", fmt.Appendf(nil, `{"order":%q,"state":%q}`, order, state)); err != nil && ctx.Err() == nil {
				return err
			}
		}
		if n%130 == 50 || n%310 == 70 {
			_ = s.customers[0].client.Publish(ctx, "shop.orders", "order.A-1000.state", nil) // is refused
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// let makes so many customers be there, ada among them.
func (s *shop) let(many int) (err error) {
	for i := range s.customers {
		c := &s.customers[i]
		switch present := i*11%len(s.customers) < many; {
		case present && c.client == nil:
			transport := []client.Transport{client.WebSocket, client.WebSocket, client.WebTransport}[i%3]
			if c.client, err = s.connect(c.token, transport); err == nil {
				_, err = c.client.SubscribeFunc(context.Background(), "shop.orders", "order.*.state", func(client.Message) {})
			}
			if err != nil {
				return err
			}
		case !present && c.client != nil:
			_ = c.client.Close()
			c.client = nil
		}
	}
	return nil
}

func (s *shop) connect(token string, transport client.Transport) (*client.Client, error) {
	tls, err := s.e.TlsConfig()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), harness.WaitTimeout)
	defer cancel()
	url := s.e.HttpURL("")
	if transport == client.WebTransport {
		url = s.e.HttpsURL("")
	}
	return client.Connect(ctx, []string{url}, client.Options{Token: token, TLS: tls, Transports: []client.Transport{transport}})
}
