package nats_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/memory"
	"github.com/millrace/millrace/pubsub/nats"
	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

// TestTenantsInProcess measures what 100 hostile sessions of one tenant do to the
// latency of another one, without sockets: rounds with them and without, by turns.
// It runs with MILLRACE_TENANTS, how many rounds. integration's TestManyTenantsP99
// does so with edges and clients.
func TestTenantsInProcess(t *testing.T) {
	rounds, _ := strconv.Atoi(os.Getenv("MILLRACE_TENANTS"))
	if rounds == 0 {
		t.Log("measured with MILLRACE_TENANTS")
		return
	}
	for _, edges := range []int{1, 2} {
		for _, share := range []int{100, 50, 25} {
			t.Run(fmt.Sprintf("edges=%d/share=%d", edges, share), func(t *testing.T) { measureTenants(t, edges, share, rounds) })
		}
	}
}

type everything struct{}

func (everything) CanPublish(_, _ []byte) bool               { return true }
func (everything) CanSubscribe(string, pattern.Pattern) bool { return true }

// sink is a transport that takes all at once.
type sink struct{ got func(data []byte) }

func (s sink) Write(msgs []pubsub.Outgoing) error {
	for _, m := range msgs {
		if s.got != nil && m.Kind == pubsub.Binary {
			s.got(m.Data)
		}
	}
	return nil
}
func (s sink) TryWrite(msgs []pubsub.Outgoing) (bool, error) { return true, s.Write(msgs) }
func (sink) Close(wire.CloseCode, string) error              { return nil }
func (sink) Abort()                                          {}

func measureTenants(t *testing.T, edges, share, rounds int) {
	limits := pubsub.DefaultLimits()
	limits.DefaultIngressKB, limits.DefaultEgressKB, limits.TenantShare = 1<<20, 1<<20, share
	var hubs []*pubsub.Hub
	for range edges {
		var b pubsub.Broker = memory.New()
		if edges > 1 {
			if len(hubs) == 0 {
				tenantsServer = natstest.Connect(natstest.Server(t))
			}
			var err error
			if b, err = nats.New(nats.Config{Connect: tenantsServer, Prefix: "p", QueueBytes: 8 << 20, Log: zap.NewNop()}); err != nil {
				t.Fatal(err)
			}
		}
		hubs = append(hubs, pubsub.NewHub(b, limits, zap.NewNop()))
	}
	var sessions []*pubsub.Session
	admit := func(h *pubsub.Hub, token string, got func([]byte)) *pubsub.Session {
		s, err := h.Admit(pubsub.Identity{TokenID: token, ExpiresAt: time.Now().Add(time.Hour), Rights: everything{}}, pubsub.Client{})
		if err != nil {
			t.Fatal(err)
		}
		s.Attach(sink{got})
		sessions = append(sessions, s)
		return s
	}
	frame := func(tenant, channel, payload string) []byte {
		return wire.AppendPublish(nil, wire.Publish{Tenant: []byte(tenant), Channel: []byte(channel), Payload: []byte(payload)})
	}
	channel := strings.TrimSuffix(strings.Repeat("aaaaaaa.", 8), ".")
	var crowd []*pubsub.Session
	for i := range 100 {
		s := admit(hubs[i%edges], "hostile", nil)
		random := rand.New(rand.NewPCG(1, uint64(i)))
		for range 1024 {
			tokens, n := strings.Split(channel, "."), random.IntN(1<<24)
			for at, token := range tokens {
				tokens[at] = token[:n%8] + "*"
				n /= 8
			}
			s.HandleLine([]byte("SUB:hostile:" + strings.Join(tokens, ".")))
		}
		crowd = append(crowd, s)
	}

	arrived := make(chan time.Duration, 100_000)
	from, to := admit(hubs[0], "good", nil), admit(hubs[edges-1], "good", func(data []byte) {
		d, err := wire.DecodeDeliver(data)
		var at int64
		if err == nil {
			_, err = fmt.Sscan(string(d.Payload), &at)
		}
		if err != nil {
			t.Error(err)
		}
		arrived <- time.Duration(time.Now().UnixNano() - at)
	})
	to.HandleLine([]byte("SUB:good:room"))
	for len(arrived) == 0 { // until the edges know of it
		from.HandleFrame(frame("good", "room", fmt.Sprint(time.Now().UnixNano())))
		time.Sleep(20 * time.Millisecond)
	}

	const messages = 3000
	round := func() []time.Duration {
		time.Sleep(50 * time.Millisecond)
		for len(arrived) > 0 {
			<-arrived
		}
		next := time.Now()
		for range messages {
			time.Sleep(time.Until(next))
			from.HandleFrame(frame("good", "room", fmt.Sprint(time.Now().UnixNano())))
			next = next.Add(time.Millisecond)
		}
		list := make([]time.Duration, 0, messages)
		for len(list) < messages {
			select {
			case d := <-arrived:
				list = append(list, d)
			case <-time.After(5 * time.Second):
				t.Errorf("%d of %d messages were lost", messages-len(list), messages)
				return list
			}
		}
		slices.Sort(list)
		return list
	}
	var ratios []float64
	for range rounds {
		calm := round()
		stop := make(chan struct{})
		var wg sync.WaitGroup
		var published atomic.Int64
		for _, s := range crowd {
			f := frame("hostile", channel, "hostile")
			wg.Go(func() { // a client that sends as fast as it is read from, through a socket that takes 20 µs
				for {
					select {
					case <-stop:
						return
					default:
					}
					s.Ready(time.Second)
					s.HandleFrame(f)
					published.Add(1)
					time.Sleep(20 * time.Microsecond)
				}
			})
		}
		begin := time.Now()
		disturbed := round()
		took := time.Since(begin).Seconds()
		close(stop)
		wg.Wait()
		if len(calm) == messages && len(disturbed) == messages {
			a, b := calm[messages*99/100], disturbed[messages*99/100]
			ratios = append(ratios, float64(b)/float64(a))
			t.Logf("p99 %v, disturbed %v: %.2f; p50 %v, %v; %.0f hostile messages/s", a, b, float64(b)/float64(a), calm[messages/2], disturbed[messages/2], float64(published.Load())/took)
		}
	}
	slices.Sort(ratios)
	if len(ratios) > 0 {
		t.Logf("median ratio %.2f (%.2f to %.2f)", ratios[len(ratios)/2], ratios[0], ratios[len(ratios)-1])
	}
	for _, s := range sessions {
		s.Detach()
	}
	for _, h := range hubs {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}
}

var tenantsServer natstest.Connector
