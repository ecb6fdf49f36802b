package nats

import (
	"strings"
	"time"
)

// NATS delivers a broadcast once for each subscription that matches. So the
// subscriptions of a tenant that can overlap are at most maxShapes (see shapeOf):
// with more, one wildcard for all its broadcasts replaces them, and each broadcast
// crosses once. And a tenant may have only as many interests as its share of
// Config.MaxInterests (see fits): with more, one wildcard for all its messages
// replaces its subscriptions. The hub matches again in any case. For deliver-one the
// price is that NATS may choose this edge for a message that nobody here takes, which
// is then forwarded.
const (
	// maxShapes bounds how many copies of a broadcast NATS may send to an edge: one
	// more than this.
	maxShapes = 16
	// minWildcardTime is how long a wildcard stays at least: going back costs a
	// subscription for each interest.
	minWildcardTime = time.Minute
	// switchTime is how long both are there when a wildcard replaces subscriptions, or
	// they replace it. The new ones have come to all servers by then.
	switchTime = time.Second
	// DefaultMaxInterests is the default of Config.MaxInterests. So many interests take
	// some 3 GiB in a NATS server.
	DefaultMaxInterests = 500_000
)

// tenantInterests are the interests of a tenant. Guarded by Broker.mu.
type tenantInterests struct {
	bySubject   map[string]*interest
	shapes      map[string]int // how many wanted interests have each shape; "" is not counted
	wantedCount int            // how many are wanted
	wildcard    *interest      // in all of the tenant's messages

	wildcardForBroadcast, wildcardForOne bool      // wildcard replaces the others, for broadcasts and for messages for one connection
	switchedAt                           time.Time // when that last changed
	switching                            bool      // what is replaced is still there
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

// interestsOf returns the interests of a tenant, new if there are none. The caller holds
// b.mu.
func (b *Broker) interestsOf(tenant string) *tenantInterests {
	t := b.interests[tenant]
	if t == nil {
		wildcard := &interest{subject: strings.ReplaceAll(tenant, ".", "=") + ".>"}
		t = &tenantInterests{bySubject: map[string]*interest{}, shapes: map[string]int{}, wildcard: wildcard}
		wildcard.tenant, wildcard.tenantInterests = tenant, t
		b.interests[tenant] = t
	}
	return t
}

// updateInterest counts an interest that is wanted, or no longer is: change is 1 or -1.
// It has the writer look at what this changes. The caller holds b.mu.
func (b *Broker) updateInterest(in *interest, change int) {
	t := in.tenantInterests
	t.wantedCount += change
	if !t.wildcardForOne {
		b.interestCount += change
	}
	if in.shape != "" {
		if t.shapes[in.shape] += change; t.shapes[in.shape] == 0 {
			delete(t.shapes, in.shape)
		}
	}
	one := t.wildcardForOne || !fits(0, t.wantedCount, b.interestCount, b.config.MaxInterests) // this one is counted
	broadcast := t.wildcardForBroadcast || one || len(t.shapes) > maxShapes
	if t.wildcardForBroadcast && b.canLeaveWildcard(t) {
		broadcast, one = false, false
	}
	b.switchTo(t, broadcast, one)
	wanted := in.patterns > 0
	b.setWanted(in, wanted && !t.wildcardForBroadcast, wanted && !t.wildcardForOne)
}

// canLeaveWildcard reports whether a tenant can have a subscription for each interest
// again, for some time to come. The caller holds b.mu.
func (b *Broker) canLeaveWildcard(t *tenantInterests) bool {
	switch {
	case t.wantedCount == 0:
		return true
	case len(t.shapes) > maxShapes/2 || time.Since(t.switchedAt) < minWildcardTime:
		return false
	}
	return !t.wildcardForOne || fits(t.wantedCount, t.wantedCount, b.interestCount, b.config.MaxInterests)
}

// switchTo replaces a tenant's subscriptions by its wildcard, or the wildcard by them:
// for broadcasts, and for messages for one connection (one). The caller holds b.mu.
func (b *Broker) switchTo(t *tenantInterests, broadcast, one bool) {
	if broadcast == t.wildcardForBroadcast && one == t.wildcardForOne {
		return
	}
	if one != t.wildcardForOne {
		if one {
			b.interestCount -= t.wantedCount
		} else {
			b.interestCount += t.wantedCount
		}
	}
	t.wildcardForBroadcast, t.wildcardForOne, t.switchedAt, t.switching = broadcast, one, time.Now(), true
	b.switching[t] = struct{}{}
	b.setWanted(t.wildcard, t.wildcard.wantBroadcast || broadcast, t.wildcard.wantOne || one)
	for _, in := range t.bySubject {
		wanted := in.patterns > 0
		b.setWanted(in, wanted && (in.wantBroadcast || !broadcast), wanted && (in.wantOne || !one))
	}
}

// finishSwitches ends the subscriptions that were replaced long enough ago.
func (b *Broker) finishSwitches(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for t := range b.switching {
		if now.Sub(t.switchedAt) < switchTime {
			continue
		}
		delete(b.switching, t)
		t.switching = false
		b.setWanted(t.wildcard, t.wildcardForBroadcast, t.wildcardForOne)
		for _, in := range t.bySubject {
			wanted := in.patterns > 0
			b.setWanted(in, wanted && !t.wildcardForBroadcast, wanted && !t.wildcardForOne)
		}
		b.queueChange(t.wildcard) // it may have been the last of the tenant
	}
}

// setWanted notes what is wanted of an interest. The caller holds b.mu.
func (b *Broker) setWanted(in *interest, broadcast, one bool) {
	if in.wantBroadcast != broadcast || in.wantOne != one || in.patterns == 0 {
		in.wantBroadcast, in.wantOne = broadcast, one
		b.queueChange(in)
	}
}
