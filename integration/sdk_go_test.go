package integration

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/millrace/millrace/client"
)

// goSDK runs clients of package client in this process.
type goSDK struct {
	report func(sdkReport)
	tls    *tls.Config
	ctx    context.Context // ends with the test
	work   sync.WaitGroup

	mu      sync.Mutex
	clients map[string]*goClient
}

// goClient carries out the commands of a client one after the other.
type goClient struct {
	host     *goSDK
	name     string
	commands chan sdkCommand
	tokens   chan sdkCommand // answers of the token provider
	client   *client.Client  // nil: not connected
	subs     map[string]*client.Subscription
}

func startGoSDK(t *testing.T, edges []*edge, report func(sdkReport)) sdkHost {
	t.Helper()
	pool := x509.NewCertPool()
	for _, e := range edges {
		root, err := os.ReadFile(e.rootFile())
		if err != nil {
			t.Fatal(err)
		}
		pool.AppendCertsFromPEM(root)
	}
	ctx, cancel := context.WithCancel(context.Background())
	g := &goSDK{report: report, tls: &tls.Config{RootCAs: pool}, ctx: ctx, clients: map[string]*goClient{}}
	t.Cleanup(func() {
		cancel()
		g.work.Wait()
	})
	return g
}

func (g *goSDK) send(command sdkCommand) error {
	g.mu.Lock()
	c := g.clients[command.Client]
	if c == nil {
		c = &goClient{
			host: g, name: command.Client, commands: make(chan sdkCommand, 4096), tokens: make(chan sdkCommand, 16),
			subs: map[string]*client.Subscription{},
		}
		g.clients[command.Client] = c
		g.work.Go(c.run) // ends with the test
	}
	g.mu.Unlock()
	if command.Cmd == "token" { // the client may be connecting
		c.tokens <- command
		g.report(sdkReport{Client: c.name, Event: "answer", ID: command.ID})
		return nil
	}
	select {
	case c.commands <- command:
		return nil
	default:
		return errors.New("too many commands wait")
	}
}

func (c *goClient) run() {
	for {
		select {
		case command := <-c.commands:
			answer := sdkReport{Client: c.name, Event: "answer", ID: command.ID}
			answer.Error = goError(c.carryOut(command, &answer))
			c.host.report(answer)
		case <-c.host.ctx.Done():
			if c.client != nil {
				_ = c.client.Close() // it says no more than Err did
			}
			return
		}
	}
}

func (c *goClient) carryOut(command sdkCommand, answer *sdkReport) error {
	ctx, cancel := context.WithTimeout(c.host.ctx, waitTimeout)
	defer cancel()
	if command.Master != "" {
		return c.administer(ctx, command, answer)
	}
	if c.client == nil && command.Cmd != "connect" {
		return errors.New("not connected")
	}
	switch command.Cmd {
	case "connect":
		return c.connect(ctx, command, answer)
	case "subscribe":
		return c.subscribe(ctx, command)
	case "position":
		answer.Position = c.subs[command.Sub].Position()
		return nil
	case "read":
		c.read(command.Sub)
		return nil
	case "unsubscribe":
		return c.subs[command.Sub].Unsubscribe(ctx)
	case "publish":
		if command.Confirm {
			opts := []client.PublishOption{client.WithDelivery(goDeliveries[command.Delivery])}
			if command.Key != "" {
				opts = append(opts, client.WithKey(command.Key))
			}
			var err error
			answer.Position, err = c.client.PublishConfirmed(ctx, command.Tenant, command.Channel, command.Payload, opts...)
			return err
		}
		if command.Delivery == "" {
			return c.client.Publish(ctx, command.Tenant, command.Channel, command.Payload)
		}
		return c.client.PublishTo(ctx, goDeliveries[command.Delivery], command.Tenant, command.Channel, command.Payload)
	case "flush":
		return c.client.Flush(ctx)
	case "close":
		return c.client.Close()
	}
	return fmt.Errorf("unknown command %s", command.Cmd)
}

var goDeliveries = map[string]client.Delivery{
	"broadcast": client.Broadcast, "one-nearest": client.OneNearest, "one-random": client.OneRandom,
}

func (c *goClient) connect(ctx context.Context, command sdkCommand, answer *sdkReport) error {
	o := command.Options
	options := client.Options{
		Token: o.Token, FallbackAfter: ms(o.FallbackAfter), ConnectTimeout: ms(o.ConnectTimeout), KeepAlive: ms(o.KeepAlive),
		PongTimeout: ms(o.PongTimeout), MinBackOff: ms(o.MinBackOff), MaxBackOff: ms(o.MaxBackOff),
		Queue: o.Queue, QueuePolicy: client.QueuePolicy(o.QueuePolicy), TLS: c.host.tls, OnEvent: c.event,
	}
	for _, t := range o.Transports {
		options.Transports = append(options.Transports, client.Transport(t))
	}
	if o.Provider {
		options.TokenProvider = c.token
	}
	connected, err := client.Connect(ctx, command.Addresses, options)
	if err != nil {
		return err
	}
	c.client = connected
	c.host.work.Go(func() { // ends with the client, which run closes
		<-connected.Done()
		c.host.report(sdkReport{Client: c.name, Event: "ended", Error: goError(connected.Err())})
	})
	return nil
}

// administer calls a TokenAdmin.
func (c *goClient) administer(ctx context.Context, command sdkCommand, answer *sdkReport) error {
	admin, err := client.NewTokenAdmin(command.Addresses[0], command.Master, client.WithTLS(c.host.tls))
	if err != nil {
		return err
	}
	life := time.Duration(command.Seconds) * time.Second
	switch command.Cmd {
	case "issue":
		issued, err := admin.Issue(ctx, client.IssueRequest{
			CreatedBy: "integration", ExpiresIn: life,
			Grants: []client.Grant{{Tenants: []string{command.Tenant}, Publish: command.Rules, Subscribe: command.Rules}},
		})
		answer.Token, answer.TokenID, answer.ExpiresAt = issued.Token, issued.TokenID, issued.ExpiresAt.Format(time.RFC3339Nano)
		return err
	case "refresh":
		expires, err := admin.Refresh(ctx, command.TokenID, client.Expiry{At: time.Now().Add(life)})
		answer.ExpiresAt = expires.Format(time.RFC3339Nano)
		return err
	case "revoke":
		return admin.Revoke(ctx, command.Token)
	case "list":
		for info, err := range admin.List(ctx, client.ListOptions{Tenant: command.Tenant, PageSize: 2}) {
			if err != nil {
				return err
			}
			answer.Tokens = append(answer.Tokens, sdkToken{info.TokenID, info.Status})
		}
		return nil
	}
	return fmt.Errorf("unknown command %s", command.Cmd)
}

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }

// token is a token provider that asks the test.
func (c *goClient) token(ctx context.Context) (client.AccessToken, error) {
	c.host.report(sdkReport{Client: c.name, Event: "tokenWanted"})
	select {
	case given := <-c.tokens:
		if given.Text != "" {
			return client.AccessToken{}, errors.New(given.Text)
		}
		token := client.AccessToken{Token: given.Token}
		if given.ExpiresAt != "" {
			var err error
			if token.ExpiresAt, err = time.Parse(time.RFC3339, given.ExpiresAt); err != nil {
				return token, err
			}
		}
		return token, nil
	case <-ctx.Done():
		return client.AccessToken{}, ctx.Err()
	}
}

func (c *goClient) subscribe(ctx context.Context, command sdkCommand) error {
	var options []client.SubscribeOption
	if o := command.Options; o != nil && o.Queue != 0 {
		options = append(options, client.WithQueue(o.Queue, client.QueuePolicy(o.QueuePolicy)))
	}
	if o := command.Options; o != nil && o.History != nil {
		options = append(options, client.WithHistory(goFrom(o.History)))
	}
	if command.Mode == "callback" {
		s, err := c.client.SubscribeFunc(ctx, command.Tenant, command.Pattern, c.messages(command.Sub), options...)
		if err == nil {
			c.subs[command.Sub] = s
		}
		return err
	}
	s, err := c.client.Subscribe(ctx, command.Tenant, command.Pattern, options...)
	if err != nil {
		return err
	}
	c.subs[command.Sub] = s
	if command.Mode == "iterate" {
		c.read(command.Sub)
	}
	return nil
}

// goFrom is the option history of the SDK for TypeScript.
func goFrom(history any) client.From {
	switch history := history.(type) {
	case historyLast:
		return client.LastN(history.Last)
	case historyAfter:
		return client.After(history.After)
	}
	if history == "last" {
		return client.Last
	}
	return client.Now
}

// read reads a subscription to its end.
func (c *goClient) read(name string) {
	s, report := c.subs[name], c.messages(name)
	c.host.work.Go(func() { // ends with the subscription, or the client, which run closes
		for m := range s.Messages() {
			report(m)
		}
		c.host.report(sdkReport{Client: c.name, Event: "subscriptionEnded", Sub: name, Error: goError(s.Err())})
	})
}

func (c *goClient) messages(sub string) func(client.Message) {
	return func(m client.Message) {
		c.host.report(sdkReport{
			Client: c.name, Event: "message", Sub: sub, Tenant: m.Tenant, Channel: m.Channel, Payload: m.Payload,
			Pattern: m.Pattern, Patterns: append([]string(nil), m.Patterns...), Late: m.Late, Position: m.Position,
		})
	}
}

func (c *goClient) event(event client.Event) {
	r := sdkReport{Client: c.name}
	switch e := event.(type) {
	case client.Connected:
		r.Event, r.Edge, r.Transport = "connected", e.Edge, string(e.Transport)
	case client.Disconnected:
		r.Event, r.Edge, r.Transport, r.Error = "disconnected", e.Edge, string(e.Transport), goError(e.Err)
	case client.Suspect:
		r.Event, r.Edge, r.Transport = "suspect", e.Edge, string(e.Transport)
	case client.Recovered:
		r.Event, r.Edge, r.Transport, r.Away = "recovered", e.Edge, string(e.Transport), inMS(e.Away)
	case client.Reconnecting:
		r.Event, r.Attempt, r.Delay = "reconnecting", e.Attempt, inMS(e.Delay)
	case client.Reconnected:
		r.Event, r.Edge, r.Transport, r.Away = "reconnected", e.Edge, string(e.Transport), inMS(e.Away)
		r.Complete = e.Complete
	case client.Gap:
		r.Event, r.Tenant, r.Pattern, r.Before = "gap", e.Tenant, e.Pattern, e.Before
	case client.Moving:
		r.Event, r.Edge, r.Transport, r.Reason = "moving", e.Edge, string(e.Transport), string(e.Reason)
	case client.Moved:
		r.Event, r.Edge, r.Transport, r.Reason = "moved", e.Edge, string(e.Transport), string(e.Reason)
	case client.PublishError:
		r.Event, r.Tenant, r.Channel, r.Code = "publishError", e.Tenant, e.Channel, string(e.Code)
	case client.SubscriptionError:
		r.Event, r.Tenant, r.Pattern, r.Code = "subscriptionError", e.Tenant, e.Pattern, string(e.Code)
	case client.SlowConsumer:
		r.Event, r.Dropped = "slowConsumer", e.Dropped
	case client.EgressLimited:
		r.Event, r.Delay = "egressLimited", inMS(e.Delay)
	case client.LinkDown:
		r.Event, r.Edge = "linkDown", e.Edge
	case client.LinkUp:
		r.Event, r.Edge = "linkUp", e.Edge
	case client.QueueFull:
		r.Event, r.Tenant, r.Pattern, r.Dropped = "queueFull", e.Tenant, e.Pattern, e.Dropped
	case client.EdgeError:
		r.Event, r.Code, r.Detail = "edgeError", string(e.Code), e.Detail
	case client.RoundTrip:
		r.Event, r.RTT = "roundTrip", inMS(e.RTT)
	case client.Closed:
		r.Event, r.Error = "closed", goError(e.Err)
	default:
		r.Event = fmt.Sprintf("unknown event %T", event)
	}
	c.host.report(r)
}

func inMS(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func goError(err error) *sdkError {
	if err == nil {
		return nil
	}
	var e *client.Error
	if !errors.As(err, &e) {
		return &sdkError{Text: err.Error()}
	}
	return &sdkError{
		Code: string(e.Code), Text: err.Error(), Tenant: e.Tenant, Pattern: e.Pattern, Channel: e.Channel,
		Status: e.Status, CloseCode: e.Close,
	}
}
