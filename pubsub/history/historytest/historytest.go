// Package historytest is the conformance suite of history stores. A store passes it with
//
//	func TestConformance(t *testing.T) {
//		historytest.Run(t, func(t *testing.T) history.Store { return mystore.New() })
//	}
package historytest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

// timeout is how long the suite waits for what a store has to do.
const timeout = 3 * time.Minute

// Run checks the contract of [history.Store]. open makes an empty store; the suite closes
// it.
func Run(t *testing.T, open func(t *testing.T) history.Store) {
	for _, c := range []struct {
		name string
		test func(*rig)
	}{
		{"positions ascend, and pages are whole", testPages},
		{"tenants, channels and histories are apart", testApart},
		{"concurrent publishers", testConcurrent},
		{"the newest of each channel", testNewest},
		{"the newest n of a channel", testBefore},
		{"messages of a channel", testMessages},
		{"size", testSize},
		{"half of the size for one tenant", testSizeShare},
		{"age", testAge},
		{"limits change at once", testLimits},
		{"purge", testPurge},
		{"positions of others", testKnows},
		{"keys", testKeys},
		{"senders", testSenders},
		{"keys are bounded", testKeysBounded},
		{"usage", testUsage},
		{"after close", testClose},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			r := &rig{T: t, Store: open(t)}
			t.Cleanup(func() { _ = r.Close() })
			r.define("h", history.DefaultLimits())
			c.test(r)
		})
	}
}

type rig struct {
	*testing.T
	history.Store
}

// define defines a history of channels that no other one has. What a test stores in it need
// not be of these: the hub looks at that, not the store.
func (r *rig) define(name string, l history.Limits) {
	r.Helper()
	if err := r.Define(history.Definition{Name: name, Channels: []string{name + ".#"}, Limits: l}); err != nil {
		r.Fatalf("Define: %v", err)
	}
}

// limits are the default ones with a change.
func limits(change func(*history.Limits)) history.Limits {
	l := history.DefaultLimits()
	change(&l)
	return l
}

// append stores a message and waits for its result.
func (r *rig) append(m history.Message) history.Result {
	r.Helper()
	results := make(chan history.Result, 1)
	m.Stored = func(_ *history.Message, res history.Result) { results <- res }
	r.Append(&m)
	select {
	case res := <-results:
		return res
	case <-time.After(timeout):
		r.Fatal("Stored was not called")
		panic("unreachable")
	}
}

// put stores a message of tenant t in history h, and returns its position.
func (r *rig) put(channel, payload string) wire.Position {
	r.Helper()
	res := r.append(history.Message{History: "h", Tenant: "t", Channel: []byte(channel), Payload: []byte(payload)})
	if res.Err != nil || res.Repeated {
		r.Fatalf("Append: %+v", res)
	}
	return res.Position
}

func query(p string, after uint64) history.Query {
	parsed, err := pattern.Parse(p)
	if err != nil {
		panic(err)
	}
	return history.Query{History: "h", Tenant: "t", Pattern: parsed, After: after, MaxMessages: 1000, MaxBytes: 1 << 20}
}

func (r *rig) page(q history.Query) history.Page {
	r.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	p, err := r.Read(ctx, q)
	if err != nil {
		r.Fatalf("Read: %v", err)
	}
	return p
}

// texts reads all pages from a place on, and returns "channel=payload" of each message.
func (r *rig) texts(q history.Query) string {
	r.Helper()
	head, err := r.Head(q.History, q.Tenant)
	if err != nil {
		r.Fatalf("Head: %v", err)
	}
	var list []string
	for range 10_000 {
		p := r.page(q)
		last := q.After
		for _, m := range p.Messages {
			if m.Position.N <= last || m.Position.N > p.Through.N {
				r.Fatalf("message %v after %d in a page through %v", m.Position, last, p.Through)
			}
			last = m.Position.N
			list = append(list, m.Channel+"="+string(m.Payload))
		}
		if p.Through.N >= head.N {
			return strings.Join(list, " ")
		}
		if p.Through.N <= q.After {
			r.Fatalf("a page after %d reaches %v, and the head is %v", q.After, p.Through, head)
		}
		q.After = p.Through.N
	}
	r.Fatal("the pages have no end")
	return ""
}

func (r *rig) expect(q history.Query, want string) {
	r.Helper()
	if got := r.texts(q); got != want {
		r.Errorf("after %d, %s: got %q, want %q", q.After, q.Pattern, got, want)
	}
}

// expectRemoved wants a page to tell, or not, that a reader at q.After has missed something.
func (r *rig) expectRemoved(q history.Query, want bool) {
	r.Helper()
	if p := r.page(q); (p.Removed.N > q.After) != want {
		r.Errorf("after %d, %s: removed up to %v, want a loss: %v", q.After, q.Pattern, p.Removed, want)
	}
}

func testPages(r *rig) {
	before, err := r.Head("h", "t")
	if err != nil {
		r.Fatal(err)
	}
	var positions []wire.Position
	var all []string
	for i := range 50 {
		channel := fmt.Sprintf("c.%d", i%3)
		at := r.put(channel, fmt.Sprint(i))
		if i > 0 && (at.N <= positions[i-1].N || at.T < positions[i-1].T || at.Epoch != positions[i-1].Epoch) {
			r.Fatalf("%v comes after %v", at, positions[i-1])
		}
		positions, all = append(positions, at), append(all, fmt.Sprintf("%s=%d", channel, i))
	}
	if head, err := r.Head("h", "t"); err != nil || head != positions[49] {
		r.Errorf("the head is %v, %v", head, err)
	}
	for _, n := range []int{1, 7, 1000} {
		q := query("c.*", before.N)
		q.MaxMessages = n
		r.expect(q, strings.Join(all, " "))
		r.expectRemoved(q, false)
	}
	q := query("c.*", positions[9].N)
	r.expect(q, strings.Join(all[10:], " "))
	q.MaxBytes = 1 // and yet a message comes with each page
	r.expect(q, strings.Join(all[10:], " "))
	r.expect(query("c.1", positions[45].N), "c.1=46 c.1=49")
	r.expect(query("d.*", 0), "")
	if p := r.page(query("c.*", positions[49].N)); len(p.Messages) > 0 || p.Through != positions[49] {
		r.Errorf("behind the head: %+v", p)
	}
	got := r.page(query("c.0", 0)).Messages[0].Position
	if got != positions[0] {
		r.Errorf("position %v, want %v", got, positions[0])
	}
}

func testApart(r *rig) {
	r.define("other", history.DefaultLimits())
	r.put("c", "1")
	for _, m := range []history.Message{{History: "h", Tenant: "u", Channel: []byte("c"), Payload: []byte("2")}, {History: "other", Tenant: "t", Channel: []byte("c"), Payload: []byte("3")}} {
		if res := r.append(m); res.Err != nil {
			r.Fatal(res.Err)
		}
	}
	r.expect(query("#", 0), "c=1")
	q := query("#", 0)
	q.Tenant = "u"
	r.expect(q, "c=2")
	q = query("#", 0)
	q.History = "other"
	r.expect(q, "c=3")
	if res := r.append(history.Message{History: "none", Tenant: "t", Channel: []byte("c")}); res.Err == nil {
		r.Error("a history that nobody defined takes messages")
	}
	if _, err := r.Head("none", "t"); err == nil {
		r.Error("a history that nobody defined has a head")
	}
}

// What is stored is there for who reads from within Stored's call on, in the order of
// positions, which is the order of the calls.
func testConcurrent(r *rig) {
	const publishers, each = 8, 200
	var mu sync.Mutex
	var order []uint64
	var waiting sync.WaitGroup
	last := map[int]int{}
	for i := range publishers {
		waiting.Add(1)
		go func() {
			defer waiting.Done()
			var stored sync.WaitGroup
			for j := range each {
				stored.Add(1)
				r.Append(&history.Message{
					History: "h", Tenant: "t", Channel: fmt.Appendf(nil, "c.%d.%d", i, j/50), Payload: []byte{byte(j)},
					Stored: func(m *history.Message, res history.Result) {
						defer stored.Done()
						if res.Err != nil {
							r.Errorf("Append: %v", res.Err)
							return
						}
						mu.Lock()
						defer mu.Unlock()
						order = append(order, res.Position.N)
						if last[i] > j {
							r.Errorf("message %d of a publisher is stored after %d", j, last[i])
						}
						last[i] = j
					},
				})
			}
			stored.Wait()
		}()
	}
	waiting.Wait()
	for i := 1; i < len(order); i++ {
		if order[i] <= order[i-1] {
			r.Fatalf("Stored was called for %d and then for %d", order[i-1], order[i])
		}
	}
	if n := len(strings.Fields(r.texts(query("c.#", 0)))); n != publishers*each || len(order) != n {
		r.Errorf("%d messages are stored, Stored was called for %d", n, len(order))
	}
}
