package networks

import (
	"syscall"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/internal/netlab"
)

// breakage is a case: what breaks, and what a user may see of it; see docs/networks.md.
type breakage struct {
	only  string // a transport; empty: each
	short bool   // it is in the short form, too

	size   int  // bytes of each message
	atNear bool // the publisher is at the edge that breaks
	both   bool // the client knows both edges
	silent bool // nothing is published before the break

	play func(w *watch)

	// Marks. Times are asked for in a soak only, which has the machine for itself.
	within map[string]time.Duration // by transport, until messages come again
	none   []string                 // the transports over which none is missed, and nobody is disconnected
	over   string                   // the transport at the end
	stays  bool                     // on its connection; in a soak
}

var all, withoutUDP = []string{"webtransport", "websocket"}, netlab.Treatment{CutUDP: true}

// marks are those of both transports, in seconds.
func marks(webTransport, webSocket int) map[string]time.Duration {
	return map[string]time.Duration{"webtransport": time.Duration(webTransport) * time.Second, "websocket": time.Duration(webSocket) * time.Second}
}

var breakages = map[string]breakage{
	// An edge is killed (-9), and is back at once.
	"killed": {within: marks(3, 1), play: func(w *watch) {
		w.near.Kill()
		w.near.again() // what it takes to start is not the client's
		w.next(time.Now())
	}},
	"another": {both: true, within: marks(4, 4), play: func(w *watch) {
		begin := time.Now()
		w.near.Kill()
		w.next(begin)
	}},
	"udp-dies": {only: "webtransport", within: marks(5, 5), over: "websocket", play: suffers(0, withoutUDP)},
	// The path takes less, and routers tell.
	"mtu": {size: 5000, within: marks(5, 5), short: true, play: func(w *watch) {
		for _, most := range []int{1300, 1250} {
			w.treat(netlab.Treatment{MTU: most})
			w.next(time.Now())
			w.next(time.Now().Add(3 * time.Second)) // the client knows what passes
		}
	}},
	"address": {within: marks(0, 5), none: all[:1], short: true, play: func(w *watch) {
		_, err := w.network.Readdress(clientMachine)
		w.near.Must(err)
		w.next(time.Now())
	}},
	"frozen": {atNear: true, none: all, play: func(w *watch) {
		w.near.Edge.Signal(syscall.SIGSTOP)
		time.Sleep(15 * time.Second)
		w.near.Edge.Signal(syscall.SIGCONT)
		w.next(time.Now())
	}},
	"udp-away": {only: "webtransport", none: all, play: suffers(8*time.Second, withoutUDP)},
	"away":     {none: all, play: suffers(8*time.Second, netlab.Treatment{Cut: true})},
	// A client without traffic loses its edge, and another is there.
	"idle": {both: true, silent: true, within: marks(29, 29), play: func(w *watch) {
		begin := time.Now()
		w.treat(netlab.Treatment{Cut: true})
		w.back = w.sub.C.IsBack().At.Sub(begin)
		w.halt = w.publish(w.far, 50*time.Millisecond, 0)
		w.next(time.Now())
	}},
	"loss": {stays: true, play: func(w *watch) {
		w.treat(netlab.Treatment{Loss: 0.05, Delay: 50 * time.Millisecond})
		time.Sleep(time.Minute)
		w.treat(netlab.Treatment{})
		w.next(time.Now())
	}},
	// A computer that sleeps answers nothing. Edges end its connection within 75 s.
	"sleep": {within: marks(3, 3), short: true, play: func(w *watch) {
		w.treat(netlab.Treatment{Cut: true})
		w.near.Must(w.network.Machine(clientMachine).Signal(syscall.SIGSTOP))
		time.Sleep(harness.AtLength(3*time.Second, 75*time.Second))
		w.treat(netlab.Treatment{})
		begin := time.Now()
		w.near.Must(w.network.Machine(clientMachine).Signal(syscall.SIGCONT))
		w.next(begin)
	}},
}

// suffers treats the path so, for a while or to the end.
func suffers(during time.Duration, how netlab.Treatment) func(*watch) {
	return func(w *watch) {
		if w.treat(how); during > 0 {
			time.Sleep(during)
			w.treat(netlab.Treatment{})
		}
		w.next(time.Now())
	}
}
