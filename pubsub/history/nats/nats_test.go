package nats

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	client "github.com/nats-io/nats.go"
	"go.uber.org/zap"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/history/historytest"
)

func TestConformance(t *testing.T) {
	historytest.Run(t, func(t *testing.T) history.Store {
		t.Parallel()
		// A message of a history of a second can be gone before a busy edge receives it, and is
		// unconfirmed then, after two such times.
		return open(t, natstest.Connect(natstest.Server(t)), func(c *Config) { c.callTimeout = natstest.Limit / 4 })
	})
}

func quiet(c *Config) { c.Log = zap.NewNop() }

// BenchmarkStored stores messages of 128 bytes, as many at once as wait for the stream.
func BenchmarkStored(b *testing.B) {
	for _, nodes := range []int{1, 3} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			servers := []*server.Server{}
			if nodes == 1 {
				servers = append(servers, natstest.Server(b))
			} else {
				servers = natstest.Cluster(b, nodes)
			}
			a := open(b, natstest.Connect(servers[0]), quiet, func(c *Config) { c.Replicas = nodes })
			define(b, a, definition("h", func(d *history.Definition) { d.Limits.Messages = 1000 }))
			follow(b, a, "h")
			payload := make([]byte, 128)
			slots := make(chan struct{}, 1024)
			var stored sync.WaitGroup
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				slots <- struct{}{}
				stored.Add(1)
				a.Append(&history.Message{
					History: "h", Tenant: "t", Channel: fmt.Appendf(nil, "c.%d", i%100), Payload: payload,
					Stored: func(_ *history.Message, r history.Result) {
						if r.Err != nil {
							b.Error(r.Err)
						}
						<-slots
						stored.Done()
					},
				})
			}
			stored.Wait()
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
		})
	}
}

// Another edge has the senders of what it receives, and of what was stored before it came,
// which it reads without payloads first. What is in the place of a sender, and invalid, is not
// a message.
func TestSendersOfOtherEdges(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	a, b := open(t, natstest.Connect(s)), open(t, natstest.Connect(s))
	define(t, a, definition("h"))
	follow(t, b, "h")
	senders := []string{"ann", "", " ann ", "Ännchen 😀", "\"", "\"\"", strings.Repeat("u", 128)}
	for i, sender := range senders {
		results := make(chan history.Result, 1)
		m := history.Message{History: "h", Tenant: "t", Channel: []byte("c"), Payload: fmt.Append(nil, i), Sender: []byte(sender)}
		m.Stored = func(_ *history.Message, r history.Result) { results <- r }
		if i%2 == 1 {
			m.Key = fmt.Append(nil, i)
		}
		a.Append(&m)
		if r := <-results; r.Err != nil {
			t.Fatal(r.Err)
		}
	}
	nc, err := natstest.Connect(s)()
	must(t, err)
	defer nc.Close()
	for _, bad := range []client.Header{
		{"Millrace-Sender": {"ann"}}, {"Millrace-Sender": {`"`}}, {"Millrace-Sender": {""}}, {"Millrace-Sender": {"\"a\x01\""}}, {"Millrace-Sender": {"\"\xff\""}},
		{"Millrace-Sender": {`"` + strings.Repeat("u", 129) + `"`}}, {"Millrace-Sender": {`"ann"`, `"bob"`}},
	} {
		must(t, nc.PublishMsg(&client.Msg{Subject: "p.h.h.m.t.c.=", Header: bad, Data: []byte("bad")}))
	}
	must(t, nc.Flush())
	last := put(t, a, "h", "t", "c", "last")
	later := open(t, natstest.Connect(s))
	follow(t, later, "h")
	for name, edge := range map[string]*Store{"who stored": a, "who received": b, "who came later": later} {
		awaitHead(t, edge, "h", last)
		var got []string
		for _, m := range read(t, edge, query("h", "t", "#", 0)).Messages {
			got = append(got, fmt.Sprintf("%s %q", m.Payload, m.Sender))
		}
		var want []string
		for i, sender := range senders {
			want = append(want, fmt.Sprintf("%d %q", i, sender))
		}
		if want = append(want, `last ""`); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s has\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// Beside edges of earlier versions, whose keys belong to all publishers of a channel, a publisher
// repeats its own messages alone, also to an edge that comes later.
func TestKeysOfOlderEdges(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	a := open(t, natstest.Connect(s))
	define(t, a, definition("h"))
	put(t, a, "h", "t", "c", "0")
	nc, err := natstest.Connect(s)()
	must(t, err)
	defer nc.Close()
	hash := sha256.Sum256([]byte("\x00\x01t\x00\x01ck"))
	must(t, nc.PublishMsg(&client.Msg{
		Subject: "p.h.h.m.t.c.=", Data: []byte("old"),
		Header: client.Header{"Millrace-Sender": {`"ann"`}, "Nats-Msg-Id": {hex.EncodeToString(hash[:16])}},
	}))
	must(t, nc.Flush())
	last := put(t, a, "h", "t", "c", "1")
	later := open(t, natstest.Connect(s))
	follow(t, later, "h")
	for i, edge := range []*Store{a, later} {
		awaitHead(t, edge, "h", last)
		for _, sender := range []string{"ann", "bob", ""} {
			results := make(chan history.Result, 1)
			edge.Append(&history.Message{
				History: "h", Tenant: "t", Channel: []byte("c"), Key: []byte("k"), Sender: []byte(sender), TokenID: "1",
				Stored: func(_ *history.Message, r history.Result) { results <- r },
			})
			// Ann repeats what an older edge stored; the others are new, and repeat themselves at the second edge.
			if r := <-results; r.Err != nil || r.Repeated != (i == 1 || sender == "ann") || sender == "ann" && r.Position.N >= last.N {
				t.Errorf("edge %d, %q: %+v", i, sender, r)
			}
		}
	}
}
