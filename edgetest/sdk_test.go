package edgetest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/edgetest"
	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/pubsub/presence"
)

func TestExample(t *testing.T) { testOrders(t) }

// connect connects a client of the SDK to the near edge.
func (s *stage) connect(token string, change ...func(*client.Options)) *client.Client {
	s.Helper()
	return s.near.Client(token, append(change, edgetest.Over(s.transport))...)
}

func (s *stage) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// A client with a token provider gets its token renewed over the REST API for hours, without a
// loss; one without ends with its token.
func TestRenewal(t *testing.T) {
	everywhere(t, func(s *stage) {
		admin := s.far.Admin()
		var asked atomic.Int32
		c := s.connect("", func(o *client.Options) {
			o.TokenProvider = func(ctx context.Context) (client.AccessToken, error) {
				asked.Add(1)
				issued, err := admin.Issue(ctx, client.IssueRequest{
					CreatedBy: "test", ExpiresIn: time.Hour, Grants: []client.Grant{{Tenants: []string{edgetest.Tenant}, Subscribe: []string{"#"}}},
				})
				return client.AccessToken{Token: issued.Token, ExpiresAt: issued.ExpiresAt}, err
			}
		})
		sub, err := c.Subscribe(s.Context(), edgetest.Tenant, "x")
		s.must(err)
		for i := range 8 {
			p := s.publisher()
			p.send(publish("x", fmt.Sprint(i)))
			if m, ok := <-sub.Messages(); !ok || string(m.Payload) != fmt.Sprint(i) {
				s.Fatalf("got %q, want %d: %v", m.Payload, i, c.Err())
			}
			p.abort()
			time.Sleep(time.Hour)
		}
		if n := asked.Load(); n < 9 || n > 11 { // after 80 to 90 % of each hour
			s.Errorf("the provider was asked %d times in 8 hours", n)
		}
		short := s.connect(s.near.Token(edgetest.ExpiresIn(time.Minute)))
		<-short.Done()
		if !errors.Is(short.Err(), client.ErrTokenExpired) && !errors.Is(short.Err(), client.ErrUnauthorized) {
			s.Errorf("ended with %v", short.Err())
		}
	})
}

// A client that is told to reconnect moves to the other edge, and loses nothing.
func TestMove(t *testing.T) {
	for _, transport := range transports {
		t.Run(string(transport), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				near := edgetest.New(t)
				far := edgetest.New(t, edgetest.Join(near))
				token := near.Token(all()...)
				o := client.Options{Token: token, TLS: near.TLS(), Network: near.Network(edgetest.ClientAddress), Transports: []client.Transport{transport}}
				c, err := client.Connect(t.Context(), []string{near.URL() + "/edges"}, o)
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				sub, err := c.Subscribe(t.Context(), edgetest.Tenant, "x")
				if err != nil {
					t.Fatal(err)
				}
				from, to := near, far
				if c.Edge() == far.URL() {
					from, to = far, near
				}
				p := dial(t, to, transport, token)
				from.Drain()
				for i := range 100 {
					p.send(publish("x", fmt.Sprint(i)))
					time.Sleep(100 * time.Millisecond)
				}
				for i := range 100 {
					if m := <-sub.Messages(); string(m.Payload) != fmt.Sprint(i) {
						t.Fatalf("got %q, want %d", m.Payload, i)
					}
				}
				if c.Edge() != to.URL() {
					t.Errorf("it is at %s", c.Edge())
				}
			})
		})
	}
}

// A connection that breaks off is resumed from the history, until the messages are too old.
func TestHistory(t *testing.T) {
	for _, transport := range transports {
		t.Run(string(transport), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := edgetest.New(t, edgetest.History("chat", history.Limits{Messages: 10, Age: 10 * time.Minute}, "chat.*"))
				c := e.Client(e.Token(all()...), edgetest.Over(transport))
				sub, err := c.Subscribe(t.Context(), edgetest.Tenant, "chat.*", client.WithHistory(client.Now))
				if err != nil {
					t.Fatal(err)
				}
				other, refused := open(t, e, transport, handshake{token: e.Token(all()...), from: "203.0.113.9"})
				if other == nil {
					t.Fatal(refused)
				}
				away := func(minutes int, want ...string) {
					t.Helper()
					heal := e.CutClients(edgetest.ClientAddress)
					time.Sleep(time.Minute) // the edge and the client have given up
					other.send(publish("chat.1", "missed"))
					time.Sleep(time.Duration(minutes) * time.Minute)
					heal()
					time.Sleep(time.Minute)
					other.send(publish("chat.1", "live"))
					synctest.Wait()
					var got []string
					for range want {
						got = append(got, string((<-sub.Messages()).Payload))
					}
					if !slices.Equal(got, want) {
						t.Errorf("after %d minutes: got %q, want %q", minutes, got, want)
					}
				}
				away(5, "missed", "live")
				away(15, "live")
			})
		})
	}
}

// Who leaves, or whose token is revoked, is gone at once; whose connection ends, after the linger.
func TestPresence(t *testing.T) {
	for _, transport := range transports {
		t.Run(string(transport), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := edgetest.New(t, edgetest.Presence("rooms", 5*time.Minute, "room.*"))
				room, err := pattern.Parse("room.1")
				if err != nil {
					t.Fatal(err)
				}
				tokens := map[string]string{}
				member := func(name string) *session {
					tokens[name] = e.Token(all(edgetest.Subject(name))...)
					c := dial(t, e, transport, tokens[name])
					c.ask("JOIN:test:room.1")
					return c
				}
				here := func(what string, want ...string) {
					t.Helper()
					time.Sleep(2 * time.Second)
					list, _ := e.Hub().Members(presence.Query{Tenant: edgetest.Tenant, Pattern: room, Limit: 10})
					var got []string
					for _, m := range list {
						got = append(got, m.Subject)
					}
					if slices.Sort(got); !slices.Equal(got, want) {
						t.Errorf("%s: %q, want %q", what, got, want)
					}
				}
				leaves, lost, returns, revoked := member("ann"), member("bob"), member("carol"), member("dan")
				here("all joined", "ann", "bob", "carol", "dan")
				leaves.ask("LEAVE:test:room.1")
				lost.abort()
				returns.abort()
				e.Revoke(tokens["dan"])
				revoked.expect("ERR:token_revoked", "close 4403")
				here("one left, one was revoked, two were lost", "bob", "carol")
				time.Sleep(4 * time.Minute)
				member("carol")
				here("one came back", "bob", "carol")
				time.Sleep(time.Minute)
				here("the linger is over", "carol")
			})
		})
	}
}
