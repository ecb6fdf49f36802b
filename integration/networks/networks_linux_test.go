package networks

import (
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/sdk"
	"github.com/millrace/millrace/internal/netlab"
)

// A client gets messages again soon after a network breaks, or never misses any: see
// docs/networks.md.
func TestNetworks(t *testing.T) {
	t.Parallel()
	var played atomic.Bool
	t.Cleanup(func() {
		if !played.Load() {
			t.Error("no case has this name")
		}
	})
	for _, k := range sdk.Kinds {
		for name, b := range breakages {
			if k.Where == "python" || b.only != "" && b.only != k.Transport ||
				!harness.Soaking && (!b.short || k.Where != "go") {
				continue
			}
			t.Run(k.String()+"/"+name, func(t *testing.T) {
				t.Parallel()
				played.Store(true)
				startLab(t).play(b, k)
			})
		}
	}
}

// watch is a case that is being played, and what its client has seen.
type watch struct {
	*lab
	sub  *sdk.Sub
	halt func() int // of the publisher

	got     map[int]bool
	latest  time.Time     // when the latest message came
	back    time.Duration // until the first message that was sent after the break; the longest, if it broke several times
	silence time.Duration // the longest time between two messages
}

// play plays a case, and compares what the client has seen with the marks.
func (l *lab) play(b breakage, k sdk.Kind) {
	l.Helper()
	edges := []*edge{l.near}
	if b.both { // the other edge is the second choice, as long as the client chooses
		edges = append(edges, l.far)
		l.network.Set(clientMachine, farMachine, netlab.Treatment{Delay: 250 * time.Millisecond})
	}
	w := &watch{lab: l, got: map[int]bool{}, sub: l.subscriber(k, edges...)}
	l.network.Set(clientMachine, farMachine, netlab.Treatment{})
	if !b.silent {
		w.halt = l.publish(map[bool]*edge{false: l.far, true: l.near}[b.atNear], 50*time.Millisecond, b.size)
		w.next(time.Now().Add(2 * time.Second)) // then all is calm, and paths are known
	}
	b.play(w)
	sent, none := w.halt(), slices.Contains(b.none, k.Transport)
	missed := func() int { return sent - slices.Min(slices.Collect(maps.Keys(w.got))) - len(w.got) }
	for more := true; more && (none && missed() > 0 || !w.got[sent-1]); {
		_, more = w.take() // what does not come is counted
	}
	over, switches, within := k.Transport, 0, b.within[k.Transport]
	for _, r := range w.sub.C.Events.Rest() {
		if r.Event == "recovered" && r.Away > 0 || r.Event == "reconnected" || r.Event == "moved" {
			over, switches = r.Transport, switches+1
		}
	}
	l.Logf("back after %v, silent for %v, %d of %d missed, %d switches", w.back, w.silence, missed(), sent, switches)
	if none {
		w.sub.C.Never("disconnected")
	}
	for text, is := range map[string]bool{
		"too late":                       harness.Soaking && within > 0 && w.back > within,
		"messages were missed":           none && missed() > 0,
		"the transport is not " + b.over: b.over != "" && over != b.over,
		"it changed its connection":      harness.Soaking && b.stays && switches > 0,
	} {
		if is {
			l.Error(text)
		}
	}
}

// next awaits a message that was sent after a time, and notes how long that took.
func (w *watch) next(after time.Time) {
	w.Helper()
	for sent, found := w.take(); !sent.After(after); sent, found = w.take() {
		if !found {
			w.Fatalf("no message comes any more; events: %v", w.sub.C.Events.Rest())
		}
	}
	w.back = max(w.back, w.latest.Sub(after))
}

// take notes the next message, and returns when it was sent; false: none comes.
func (w *watch) take() (sent time.Time, found bool) {
	r, found := w.sub.Messages.Next()
	if !found || r.Event != "message" {
		return sent, false
	}
	n, sent := message(r)
	if w.got[n] = true; !w.latest.IsZero() {
		w.silence = max(w.silence, r.At.Sub(w.latest))
	}
	w.latest = r.At
	return sent, true
}
