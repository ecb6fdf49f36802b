package nats

import (
	"strings"
	"time"
)

// NATS delivers a broadcast once for each subscription that matches. So the
// subscriptions of a tenant that can overlap are at most maxShapes (see shapeOf):
// with more, one of all its broadcasts takes their place, and each crosses once.
// And the interests of a tenant are at most as many as are free then (see fits and
// Config.MaxInterests): with more, one subscription of all its messages takes the
// place of theirs. The hub matches again in any case. For deliver-one the price is
// that NATS may choose this edge for a message that nobody here takes, which is then
// passed on.
const (
	// maxShapes is how many copies of a broadcast NATS may send to an edge, and one
	// more.
	maxShapes = 16
	// wideTime is how long one subscription stays in the place of many at least:
	// going back costs a subscription for each interest.
	wideTime = time.Minute
	// turnTime is how long both are there when one takes the place of the other.
	// The new one has come to all servers by then.
	turnTime = time.Second
	// DefaultMaxInterests are some 3 GiB in a NATS server.
	DefaultMaxInterests = 500_000
)

// tenantInterests are those of a tenant. Guarded by Broker.mu.
type tenantInterests struct {
	bySubject map[string]*interest
	shapes    map[string]int // of those that are wanted, and how many have each; "" aside
	wanted    int
	whole     *interest // in all of the tenant's messages

	all, one bool      // whole is to take the place of the others, for broadcasts and for one connection
	turned   time.Time // when that changed last
	turning  bool      // what was before is still there
}

// shapeOf returns where the wildcards are in a subject; "" without one. Two
// subjects of one shape match no message in common, nor do two without a wildcard.
func shapeOf(subject string) string {
	if !strings.ContainsAny(subject, "*>") {
		return ""
	}
	var b strings.Builder
	for token := range strings.SplitSeq(subject, ".") {
		switch token {
		case "*", ">":
			b.WriteString(token)
		default:
			b.WriteByte('.')
		}
	}
	return b.String()
}

// interestsOf returns those of a tenant, made if there are none. The caller holds
// b.mu.
func (b *Broker) interestsOf(tenant string) *tenantInterests {
	t := b.interests[tenant]
	if t == nil {
		whole := &interest{subject: strings.ReplaceAll(tenant, ".", "=") + ".>"}
		t = &tenantInterests{bySubject: map[string]*interest{}, shapes: map[string]int{}, whole: whole}
		whole.tenant, whole.of = tenant, t
		b.interests[tenant] = t
	}
	return t
}

// count counts an interest that is wanted, or no longer is: change is 1 or -1. It
// has the writer look at what this changes. The caller holds b.mu.
func (b *Broker) count(in *interest, change int) {
	t := in.of
	t.wanted += change
	if !t.one {
		b.interested += change
	}
	if in.shape != "" {
		if t.shapes[in.shape] += change; t.shapes[in.shape] == 0 {
			delete(t.shapes, in.shape)
		}
	}
	one := t.one || !fits(0, t.wanted, b.interested, b.config.MaxInterests) // this one is counted
	all := t.all || one || len(t.shapes) > maxShapes
	if t.all && b.hasRoomAgain(t) {
		all, one = false, false
	}
	b.turn(t, all, one)
	wanted := in.patterns > 0
	b.set(in, wanted && !t.all, wanted && !t.one)
}

// hasRoomAgain reports whether a tenant can have subscriptions of its own again,
// for some time to come. The caller holds b.mu.
func (b *Broker) hasRoomAgain(t *tenantInterests) bool {
	switch {
	case t.wanted == 0:
		return true
	case len(t.shapes) > maxShapes/2 || time.Since(t.turned) < wideTime:
		return false
	}
	return !t.one || fits(t.wanted, t.wanted, b.interested, b.config.MaxInterests)
}

// turn puts one subscription in the place of a tenant's others, for broadcasts
// (all) and for messages for one connection, or these in its place. The caller
// holds b.mu.
func (b *Broker) turn(t *tenantInterests, all, one bool) {
	if all == t.all && one == t.one {
		return
	}
	if one != t.one {
		if one {
			b.interested -= t.wanted
		} else {
			b.interested += t.wanted
		}
	}
	t.all, t.one, t.turned, t.turning = all, one, time.Now(), true
	b.turning[t] = struct{}{}
	b.set(t.whole, t.whole.all || all, t.whole.one || one)
	for _, in := range t.bySubject {
		wanted := in.patterns > 0
		b.set(in, wanted && (in.all || !all), wanted && (in.one || !one))
	}
}

// finishTurns ends what has been replaced for long enough.
func (b *Broker) finishTurns(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for t := range b.turning {
		if now.Sub(t.turned) < turnTime {
			continue
		}
		delete(b.turning, t)
		t.turning = false
		b.set(t.whole, t.all, t.one)
		for _, in := range t.bySubject {
			wanted := in.patterns > 0
			b.set(in, wanted && !t.all, wanted && !t.one)
		}
		b.change(t.whole) // it may have been the last of the tenant
	}
}

// set notes what is wanted of an interest. The caller holds b.mu.
func (b *Broker) set(in *interest, all, one bool) {
	if in.all != all || in.one != one || in.patterns == 0 {
		in.all, in.one = all, one
		b.change(in)
	}
}
