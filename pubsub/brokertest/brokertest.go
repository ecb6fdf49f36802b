// Package brokertest is the conformance suite of [pubsub.Broker].
package brokertest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

// Run checks a backend. connect returns the brokers of as many edges of one overlay,
// not joined yet; the suite closes them. One that connects to the others only after
// Join calls Linked(false) before Join returns, and Linked(true) when it has.
func Run(t *testing.T, connect func(t *testing.T, edges int) []pubsub.Broker) {
	for _, c := range []struct {
		name string
		run  func(*overlay)
	}{
		{"broadcast reaches every other edge once", broadcast},
		{"overlapping interests", overlapping},
		{"patterns", patterns},
		{"tenants are apart", tenants},
		{"interests come and go", churn},
		{"one nearest leaves the own edge out", oneNearest},
		{"one nearest finds the edge that takes it", oneNearestRefused},
		{"one goes to a leaving connection as a last resort", lastResort},
		{"messages keep their sender", senders},
		{"the fate of a message to one connection", fates}, // if it is a Confirmer
		{"one random is uniform, own edge included", oneRandom},
		{"order holds", order},
		{"payloads of any size", sizes},
		{"nothing comes after Close", closed},
		{"members", members}, // this and what follows: if it is a Requester
		{"requests", requests},
		{"requests without an answer", unanswered},
		{"concurrent requests", concurrentRequests},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := newOverlay(t, connect(t, 3))
			defer o.close()
			for i, e := range o.edges {
				o.await(fmt.Sprintf("the link of edge %d", i), e.linked)
			}
			// Before an edge knows another one, it passes no message on to that.
			o.requesters()
			c.run(o)
		})
	}
}

func broadcast(o *overlay) {
	o.everybody()
	o.publish(0, wire.Broadcast, "t", "a.b", "x")
	o.awaitTotal(2)
	for i, want := range []int{0, 1, 1} {
		got := o.edges[i].received()
		if len(got) != want || want > 0 && got[0] != (message{"t", "a.b", "x", ""}) {
			o.Errorf("edge %d received %v, want %d", i, got, want)
		}
	}
}

func overlapping(o *overlay) {
	for _, text := range []string{"a.b.c", "a.*.c", "a.>", "a.#", "a.b*.c", "#", ">", "*.b.c"} {
		o.subscribe(1, "t", text, "a.b.c")
	}
	o.subscribe(2, "t", "a.b.c", "a.b.c")
	const n = 500
	for i := range n {
		o.publish(0, wire.Broadcast, "t", "a.b.c", fmt.Sprint(i))
	}
	o.awaitTotal(2 * n)
	for e := 1; e < 3; e++ {
		for i, m := range o.edges[e].received() {
			if m.payload != fmt.Sprint(i) {
				o.Fatalf("edge %d: message %d is %s", e, i, m.payload)
			}
		}
	}
}

// Messages that match a pattern arrive, however the backend represents it.
func patterns(o *overlay) {
	channels := []string{"a", "b", "a.b", "a.b.c", "a.bc", "a.bc.d", "ab", "ab.c", "ab.c.d", "A", "a.b.c.d", "~.@", "a-b._"}
	for i, text := range []string{
		"a", "a.b", "*", "a.*", "*.b", "*.*", "a.b*", "a*", "a*.c", ">", "#", "a.>", "a.#", "a.b.>", "a.b.#", "a>", "a#", "a.b#", "a.b>", "~.@",
	} {
		p, err := pattern.Parse(text)
		if err != nil {
			o.Fatal(err)
		}
		tenant := fmt.Sprintf("t%d", i) // one for each pattern: other subscriptions would hide a fault
		var want []message
		for _, c := range channels {
			if p.Match(c) {
				want = append(want, message{tenant, c, text, ""})
			}
		}
		o.subscribe(2, tenant, "#", "a") // receives everything, which tells when all is delivered
		o.subscribe(1, tenant, text, want[0].channel)
		for _, c := range channels {
			o.publish(0, wire.Broadcast, tenant, c, text)
		}
		o.awaitTotal(len(channels) + len(want))
		if got := o.edges[1].received(); fmt.Sprint(got) != fmt.Sprint(want) {
			o.Errorf("%s: got %v\nwant %v", text, got, want)
		}
		o.edges[2].received()
	}
}

func tenants(o *overlay) {
	names := []string{"a", "a.b", "a.b.c", "A", "~", "a-b", "a_b", "@", ".", "..", "b." + strings.Repeat("x", 120)}
	for _, name := range names {
		o.subscribe(1, name, "#", "b.c")
		o.subscribe(2, name, "#", "b.c")
	}
	for _, name := range names {
		o.publish(0, wire.Broadcast, name, "b.c", name)
		o.publish(0, wire.OneNearest, name, "b.c", name)
		o.publish(0, wire.OneRandom, name, "b.c", name)
	}
	o.awaitTotal(4 * len(names))
	for i := 1; i < 3; i++ {
		for _, m := range o.edges[i].received() {
			if m.tenant != m.payload || m.channel != "b.c" {
				o.Errorf("edge %d: got %+v", i, m)
			}
		}
	}
}

// churn changes interests while messages are under way: those that stay lose
// nothing.
func churn(o *overlay) {
	o.subscribe(1, "t", "stay.*", "stay.x")
	const n = 2000
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range n / 4 {
				o.publish(0, wire.Broadcast, "t", "stay.x", fmt.Sprint(i))
			}
		})
	}
	for g := range 3 {
		wg.Go(func() {
			for i := range 200 {
				text := fmt.Sprintf("come.%d.%d", g, i%5)
				o.announce(1, "t", text)
				o.unsubscribe(1, "t", text)
			}
		})
	}
	wg.Wait()
	o.awaitTotal(n)
}

func oneNearest(o *overlay) {
	o.everybody()
	for range 50 {
		o.publish(0, wire.OneNearest, "t", "a.b", "x")
	}
	o.awaitTotal(50)
	if got := o.edges[0].count(); got != 0 {
		o.Errorf("the own edge received %d, want 0", got)
	}
}

// An edge that cannot take the message after all has to pass it on.
func oneNearestRefused(o *overlay) {
	o.everybody()
	o.edges[0].refuse(true)
	o.edges[1].refuse(true)
	for range 50 {
		o.publish(0, wire.OneNearest, "t", "a.b", "x")
	}
	o.awaitTotal(50)
	if got := o.edges[2].count(); got != 50 {
		o.Errorf("the one that takes them received %d of 50", got)
	}
}

func lastResort(o *overlay) {
	o.everybody()
	for _, e := range o.edges {
		e.leave(true)
	}
	for range 50 {
		o.publish(0, wire.OneNearest, "t", "a.b", "x")
		o.publish(0, wire.OneRandom, "t", "a.b", "x")
	}
	o.awaitTotal(100)
	for _, e := range o.edges {
		e.received()
	}
	o.edges[2].leave(false)
	for range 50 {
		o.publish(0, wire.OneNearest, "t", "a.b", "x")
		o.publish(0, wire.OneRandom, "t", "a.b", "x")
	}
	o.awaitTotal(100)
	if got := o.edges[2].count(); got != 100 {
		o.Errorf("the one that does not leave received %d of 100", got)
	}
}

// Who asks is told truly what became of a message, and once.
func fates(o *overlay) {
	confirmer, ok := o.brokers[0].(pubsub.Confirmer)
	if !ok {
		return
	}
	fate := func(d wire.Delivery, tenant string) pubsub.Fate {
		m := pubsub.Message{Tenant: []byte(tenant), Channel: []byte("a.b"), Payload: []byte("x"), Delivery: d}
		told := make(chan pubsub.Fate, 1)
		if err := confirmer.PublishConfirmed(m, func(f pubsub.Fate) { told <- f }); err != nil {
			o.Error(err)
		}
		for _, b := range [][]byte{m.Tenant, m.Channel, m.Payload} { // they were lent
			clear(b)
		}
		select {
		case f := <-told:
			return f
		case <-time.After(eventTimeout):
			o.Fatal("the fate of a message is not told")
			return 0
		}
	}
	want := func(what string, want pubsub.Fate) {
		o.Helper()
		before := o.total()
		for range 10 {
			for _, d := range []wire.Delivery{wire.OneNearest, wire.OneRandom} {
				if got := fate(d, "t"); got != want {
					o.Errorf("%s, %v: the fate is %d, want %d", what, d, got, want)
				}
				if want == pubsub.FateTaken {
					before++
				}
			}
		}
		if got := o.total(); got != before {
			o.Errorf("%s: %d messages were taken, want %d", what, got, before)
		}
	}
	want("nobody is interested", pubsub.FateNoSubscriber)
	for i := range o.edges[1:] {
		o.subscribe(1+i, "t", "#", "a.b")
	}
	want("two other edges take it", pubsub.FateTaken)
	o.edges[1].refuse(true)
	want("one other edge takes it", pubsub.FateTaken)
	o.edges[2].refuse(true)
	want("nobody has room", pubsub.FateBusy)
	o.subscribe(0, "t", "#", "a.b")
	if got := fate(wire.OneRandom, "t"); got != pubsub.FateTaken {
		o.Errorf("the own edge takes it: the fate is %d", got)
	}
	for _, e := range o.edges {
		e.refuse(false)
		e.leave(true)
	}
	want("those who leave take it", pubsub.FateTaken)
	for _, e := range o.edges {
		e.mu.Lock()
		e.unsent = 0 // what nobody had room for
		e.mu.Unlock()
	}
}

// The sender comes with the message, whichever way that goes.
func senders(o *overlay) {
	o.everybody()
	all := []string{"", "a", "Ännchen 😀", strings.Repeat("u", wire.MaxSender)}
	expect := func(want int, sender, payload string) {
		o.Helper()
		o.awaitTotal(want)
		for i, e := range o.edges {
			for _, m := range e.received() {
				if m != (message{"t", "a.b", payload, sender}) {
					o.Errorf("edge %d received %+v, want %q from %q", i, m, payload, sender)
				}
			}
		}
	}
	for i, sender := range all {
		for _, d := range []wire.Delivery{wire.Broadcast, wire.OneNearest, wire.OneRandom} {
			payload := strings.Repeat("p", i)
			o.publishAs(sender, 0, d, "t", "a.b", payload)
			want := 1
			if d == wire.Broadcast {
				want = len(o.edges) - 1
			}
			expect(want, sender, payload)
		}
	}
	o.edges[0].refuse(true)
	o.edges[1].refuse(true)
	for _, sender := range all {
		for _, d := range []wire.Delivery{wire.OneNearest, wire.OneRandom} {
			for range 10 { // some of them are forwarded
				o.publishAs(sender, 0, d, "t", "a.b", "x")
				expect(1, sender, "x")
			}
		}
	}
}

func oneRandom(o *overlay) {
	o.everybody()
	// An edge that is slow to say that it has a subscriber gets its share from then on.
	silent := func(e *edge) bool { return e.count() == 0 }
	for sent := 1; slices.ContainsFunc(o.edges, silent); sent++ {
		if sent > 100_000 {
			o.Fatal("an edge gets none of 100,000 messages")
		}
		o.publish(0, wire.OneRandom, "t", "a.b", "x")
		o.awaitTotal(sent)
	}
	for _, e := range o.edges {
		e.received()
	}
	const n = 900
	publish := func() {
		for i := range n {
			o.publish(0, wire.OneRandom, "t", "a.b", "x")
			if i%100 == 99 { // more at once may be too much for a busy edge
				o.awaitTotal(i + 1)
			}
		}
	}
	publish()
	for i, e := range o.edges { // 4.5 standard deviations
		if got := len(e.received()); got < n/3-64 || got > n/3+64 {
			o.Errorf("edge %d received %d of %d", i, got, n)
		}
	}
	o.edges[2].refuse(true)
	publish()
	for i, e := range o.edges[:2] {
		if got := len(e.received()); got < n/2-68 || got > n/2+68 {
			o.Errorf("edge %d received %d of %d, one of the three refused", i, got, n)
		}
	}
	for range 20 {
		o.publish(0, wire.OneRandom, "t", "nobody", "x")
		o.publish(0, wire.OneNearest, "u", "a.b", "x")
	}
}

func order(o *overlay) {
	o.everybody()
	const n = 1000
	var wg sync.WaitGroup
	for from := range o.edges {
		for c := range 2 {
			wg.Go(func() {
				for i := range n {
					o.publish(from, wire.Broadcast, "t", fmt.Sprintf("c%d%d", from, c), fmt.Sprint(i))
				}
			})
		}
	}
	wg.Wait()
	o.awaitTotal(3 * 2 * 2 * n)
	for i, e := range o.edges {
		next := map[string]int{}
		for _, m := range e.received() {
			if m.payload != fmt.Sprint(next[m.channel]) {
				o.Fatalf("edge %d, channel %s: message %d is %s", i, m.channel, next[m.channel], m.payload)
			}
			next[m.channel]++
		}
	}
}

func sizes(o *overlay) {
	o.everybody()
	channel := strings.Repeat("c", 256)
	var want []string
	for _, size := range []int{0, 1, 1000, 64 << 10, 500 << 10} {
		payload := strings.Repeat("p", size)
		want = append(want, payload)
		o.publish(0, wire.Broadcast, "t", channel, payload)
	}
	o.awaitTotal(2 * len(want))
	for i, m := range o.edges[1].received() {
		if m.payload != want[i] || m.channel != channel {
			o.Errorf("message %d has %d bytes, want %d", i, len(m.payload), len(want[i]))
		}
	}
}

func closed(o *overlay) {
	o.everybody()
	if err := o.brokers[1].Close(); err != nil {
		o.Fatal(err)
	}
	o.publish(0, wire.Broadcast, "t", "a.b", "x")
	for range 10 {
		o.publish(0, wire.OneNearest, "t", "a.b", "x")
	}
	o.awaitTotal(11)
	if got := o.edges[1].count(); got != 0 {
		o.Errorf("a closed broker's edge received %d", got)
	}
}
