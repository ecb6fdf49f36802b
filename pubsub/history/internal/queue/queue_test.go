package queue

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/millrace/millrace/pubsub/history"
)

func message(owner, tenant string, n int) *history.Message {
	return &history.Message{History: "h", Tenant: tenant, Owner: owner, Channel: fmt.Append(nil, n)}
}

// Whoever has a lot in the queue, in many tenants, is waited for once per turn of another owner; and in its
// turns, its tenants take turns.
func TestTurns(t *testing.T) {
	q := Queue{Most: 1000, MostBytes: 1 << 30}
	push := func(owner, tenant string, n int) {
		t.Helper()
		if err := q.Push(message(owner, tenant, n)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 400 {
		push("a", fmt.Sprint("a", i%100), i)
	}
	push("a", "last", 0)
	for i := range 3 {
		push("b", "b", i)
		push("", "nobody's", i)
	}
	places := map[string][]int{}
	for i := range 407 {
		m := q.Next(nil)
		places[m.Tenant] = append(places[m.Tenant], i)
		if want := fmt.Sprint(len(places[m.Tenant]) - 1); (m.Tenant == "b" || m.Tenant == "nobody's") && string(m.Channel) != want {
			t.Errorf("%s comes in place of %s", m.Channel, want)
		}
	}
	for tenant, last := range map[string]int{"b": 8, "nobody's": 8, "last": 106} {
		if got := places[tenant]; got[len(got)-1] > last {
			t.Errorf("the messages of %s come as %v, want the last one by %d", tenant, got, last)
		}
	}
	if q.Next(nil) != nil || q.Len() != 0 || len(q.owners)+len(q.tenants) != 0 {
		t.Errorf("left: %+v", q)
	}
}

// No tenant and no owner has more than half; nobody known is no owner. Another one's tenant is charged to
// whoever stores in it.
func TestShares(t *testing.T) {
	fill := func(q *Queue, owner string, tenants int) (n int) {
		for ; ; n++ {
			m := message(owner, fmt.Sprint("t", n%tenants), n)
			m.Payload = make([]byte, 1000)
			if err := q.Push(m); err != nil {
				if !errors.Is(err, history.ErrUnavailable) {
					t.Fatal(err)
				}
				return n
			}
		}
	}
	for name, q := range map[string]*Queue{"messages": {Most: 100, MostBytes: 1 << 30}, "bytes": {Most: 1 << 30, MostBytes: 100 * (Overhead + 1010)}} {
		if n := fill(q, "", 1); n < 49 || n > 50 {
			t.Errorf("%s: a tenant has %d of 100", name, n)
		}
		q.TakeAll(func(time.Time) bool { return true })
		a, b := fill(q, "a", 16), fill(q, "b", 16)
		if a < 49 || a > 50 || b < 49 || b > 50 {
			t.Errorf("%s: two owners have %d and %d of 100", name, a, b)
		}
		q.TakeAll(func(time.Time) bool { return true })
		if n := fill(q, "", 16); n < 99 || n > 100 {
			t.Errorf("%s: who is not known has %d of 100", name, n)
		}
	}
	var one Queue
	one.Most = 1
	if err := one.Push(message("a", "t", 0)); err != nil {
		t.Errorf("a message that is larger than the queue, alone: %v", err)
	}
}

// Who is not ready delays nobody else, and comes when it is and has resumed.
func TestUnready(t *testing.T) {
	q := Queue{Most: 1000, MostBytes: 1 << 30}
	for i := range 10 {
		for _, owner := range []string{"a", "b", "c"} {
			if err := q.Push(message(owner, fmt.Sprint(owner, i%2), i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	unready := map[string]bool{"a0": true, "a1": true, "c1": true}
	ready := func(m *history.Message) bool { return !unready[m.Tenant] }
	for i, want := range []map[string]int{{"b0": 5, "b1": 5, "c0": 5}, {}, {"a1": 5, "c1": 5}} {
		got := map[string]int{}
		for m := q.Next(ready); m != nil; m = q.Next(ready) {
			got[m.Tenant]++
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%d: got %v, want %v", i, got, want)
		}
		if clear(unready); i > 0 {
			q.Resume("h", "a1")
			q.Resume("h", "c1")
		}
	}
}

// However it is used, a tenant's messages keep their order, all come once, and nothing is left of those
// that are gone.
func TestOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	q := Queue{Most: 500, MostBytes: 1 << 30}
	next, out := map[string]int{}, map[string]int{}
	ready := func(m *history.Message) bool { return random.IntN(4) > 0 }
	take := func(m *history.Message) {
		if m != nil {
			if want := fmt.Sprint(out[m.Tenant]); string(m.Channel) != want {
				t.Fatalf("%s comes in %s, want %s", m.Channel, m.Tenant, want)
			}
			out[m.Tenant]++
		}
	}
	for range 20_000 {
		tenant := fmt.Sprint(random.IntN(30))
		switch n := random.IntN(1000); {
		case n < 500:
			if q.Push(message([]string{"", "a", "b"}[random.IntN(3)], tenant, next[tenant])) == nil {
				next[tenant]++
			}
		case n < 990:
			take(q.Next(ready))
			q.Resume("h", tenant)
		default:
			some := random.IntN(2) == 0
			for _, m := range q.TakeAll(func(time.Time) bool { return some && random.IntN(3) > 0 }) {
				take(m)
			}
		}
	}
	for _, m := range q.TakeAll(func(time.Time) bool { return true }) {
		take(m)
	}
	if fmt.Sprint(next) != fmt.Sprint(out) || q.messages+q.bytes+len(q.owners)+len(q.tenants)+q.turns.n != 0 || len(q.spare) > maxSpare {
		t.Errorf("of %v, %v came; left: %+v", next, out, q)
	}
}

func BenchmarkQueue(b *testing.B) {
	for _, tenants := range []int{1, 1000} {
		b.Run(fmt.Sprint("tenants=", tenants), func(b *testing.B) {
			var list []*history.Message
			for i := range 1000 {
				list = append(list, message("", fmt.Sprint("t", i%tenants), i))
			}
			q := Queue{Most: 1 << 20, MostBytes: 1 << 30}
			b.ReportAllocs()
			for i := range b.N {
				_ = q.Push(list[i%len(list)])
				if i%64 == 63 {
					for q.Next(nil) != nil {
					}
				}
			}
		})
	}
}
