package nats

import (
	"errors"
	"fmt"
	"testing"
	"time"

	client "github.com/nats-io/nats.go"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/history/internal/index"
	"github.com/millrace/millrace/pubsub/history/internal/queue"
	"github.com/millrace/millrace/wire"
)

// What waits to be sent is bounded, and no tenant has more than half of that.
func TestQueueIsBounded(t *testing.T) {
	for name, size := range map[string]int{"messages": 1, "bytes": 64 << 10} {
		t.Run(name, func(t *testing.T) {
			o := newStream(new(Store), "h").out
			failed := 0
			push := func(tenant string) error {
				return o.push(&history.Message{Tenant: tenant, Payload: make([]byte, size), Stored: func(_ *history.Message, r history.Result) {
					if !errors.Is(r.Err, history.ErrClosed) {
						t.Errorf("%v", r.Err)
					}
					failed++
				}})
			}
			fill := func(tenant string) (n int) {
				for n <= maxQueued {
					if err := push(tenant); err != nil {
						if !errors.Is(err, history.ErrUnavailable) {
							t.Fatal(err)
						}
						return n
					}
					n++
				}
				t.Fatal("no bound")
				return 0
			}
			loud, other := fill("loud"), fill("other")
			most := min(maxQueued, maxQueuedBytes/(size+queue.Overhead))
			if loud > most/2 || other < most/2-1 || loud < most/2-1 {
				t.Errorf("%d and %d of %d", loud, other, most)
			}
			all := loud + other
			for i := range 100 { // also of many tenants with a message each
				all += fill(fmt.Sprint("another ", i))
			}
			if all > most {
				t.Errorf("%d of all tenants, and %d may be", all, most)
			}
			o.close()
			if failed < loud+other || o.queue.Len() != 0 {
				t.Errorf("%d failed of %d and %d; %d are left", failed, loud, other, o.queue.Len())
			}
			if err := push("t"); !errors.Is(err, history.ErrClosed) {
				t.Errorf("after the end: %v", err)
			}
		})
	}
}

// Payloads are in memory up to a bound, the last ones.
func TestCacheIsBounded(t *testing.T) {
	x := index.New(1, history.Limits{Messages: 10_000, Age: time.Hour, Size: 1 << 30}, nil)
	c := cache{most: 100 * (1000 + 64)}
	var entries []*index.Entry
	for n := range uint64(1000) {
		e := x.Add("", "t", []byte("c"), wire.Position{Epoch: 1, N: n + 1, T: uint64(time.Now().UnixMilli())}, nil, nil, 1000)
		c.add(e, make([]byte, 1000))
		entries = append(entries, e)
	}
	for i, e := range entries {
		if (e.Payload != nil) != (i >= 900) {
			t.Fatalf("message %d has its payload: %v", i, e.Payload != nil)
		}
	}
	if len(c.queue) > 300 {
		t.Errorf("a queue of %d", len(c.queue))
	}
}

// Times are remembered of as many messages as there are, and some more.
func TestTimelineIsBounded(t *testing.T) {
	l := timeline{epoch: 1}
	if at := l.at(5); at.N != 5 || at.T == 0 {
		t.Errorf("before there is any message: %v", at)
	}
	for n := range uint64(1_000_000) {
		l.add(wire.Position{Epoch: 1, N: 2 * n, T: n}, 100)
		if len(l.list) > minTimes+1 {
			t.Fatalf("%d times of 100 messages", len(l.list))
		}
	}
	head := wire.Position{Epoch: 1, N: 2_000_001, T: 2_000_000}
	for _, c := range []struct {
		n, t uint64
		want bool
	}{
		{1_999_998, 999_999, true}, {1_999_998, 999_998, false}, {1_999_997, 999_998, true}, {1_999_997, 999_999, true},
		{1_999_997, 999_997, false}, {2_000_000, 1_000_005, true}, {2_000_000, 999_000, false}, {5, 2, true}, {5, 1_000_000, false},
	} {
		if got := l.knows(wire.Position{Epoch: 1, N: c.n, T: c.t}, head); got != c.want {
			t.Errorf("%d at %d: %v", c.n, c.t, got)
		}
	}
	if at := l.at(1_999_997); at.N != 1_999_997 || at.T != 999_999 {
		t.Errorf("%v", at)
	}
}

// An answer that does not come is a publish with an unknown outcome.
func TestNoAnswer(t *testing.T) {
	s := natstest.Server(t)
	conn, err := client.Connect(s.ClientURL())
	must(t, err)
	defer conn.Close()
	a, err := newAcks(conn, 5*time.Second)
	must(t, err)
	o := newStream(new(Store), "h").out
	var results []history.Result
	now := time.Now()
	for i := range 3 {
		a.add(sent{o, &history.Message{Stored: func(_ *history.Message, r history.Result) { results = append(results, r) }}, now.Add(time.Duration(i) * time.Second), 1, 0})
	}
	a.expire(now.Add(6 * time.Second))
	if len(results) != 2 || !errors.Is(results[0].Err, history.ErrUnconfirmed) {
		t.Errorf("%+v", results)
	}
	a.close()
	if len(results) != 3 || len(a.waiting) > 0 {
		t.Errorf("%+v", results)
	}
}

// What an edge does not use any more it forgets, and reads again when it is used.
func TestIdle(t *testing.T) {
	before := idleTime
	idleTime = 200 * time.Millisecond
	defer func() { idleTime = before }()
	s := open(t, natstest.Connect(natstest.Server(t)))
	define(t, s, definition("h"))
	at := put(t, s, "h", "t", "c", "x")
	st := s.find("h")
	running := func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return st.running
	}
	await(t, "the end of the reception", func() bool { return !running() })
	if st.index != nil || st.cache.bytes != 0 {
		t.Error("what was read is still there")
	}
	if page := read(t, s, query("h", "t", "#", 0)); texts(page) != "c=x" || page.Messages[0].Position != at {
		t.Errorf("%+v, want %v", page, at)
	}
	follow(t, s, "h")
	time.Sleep(3 * idleTime) // nothing is to happen
	if !running() {
		t.Error("what is followed is not received")
	}
	s.Unfollow("h")
	await(t, "the end of the reception", func() bool { return !running() })
}
