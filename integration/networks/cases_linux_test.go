package networks

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/sdk"
	"github.com/millrace/millrace/internal/netlab"
)

// breakage is a case: what breaks, and what a user may see of it.
type breakage struct {
	name  string // for MILLRACE_CASES
	title string
	only  string // a transport; empty: each
	short bool   // it is in the short form, too
	long  bool   // it waits for long

	size      int  // bytes of each message
	atNear    bool // the publisher is at the edge that breaks
	both      bool // the client knows both edges
	silent    bool // nothing is published before the break
	keepAlive time.Duration
	probing   bool // the edges' machines find out by themselves how much passes over TCP

	play func(w *watch)

	// Marks. What is zero is not asked for. Times are asked for in a soak only.
	unmarked              bool          // not even that messages come again
	within, overWebSocket time.Duration // until messages come again; of clients over WebSocket, if it is another
	none                  bool          // none missed, and no disconnected
	noneOverWebTransport  bool
	over                  string // the transport at the end
	stays                 bool   // on its connection; in a soak
}

var breakages = []breakage{
	{name: "killed", title: "edge killed (-9), back at once", within: 3 * time.Second, overWebSocket: time.Second, play: func(w *watch) {
		w.l.near.Kill()
		w.l.near.again() // what it takes to start is not the client's
		w.next(time.Now())
	}},
	{name: "another", title: "edge killed, another is there", both: true, within: 4 * time.Second, play: func(w *watch) {
		begin := time.Now()
		w.l.near.Kill()
		w.next(begin)
	}},
	{
		name: "udp-dies", title: "UDP dies, TCP lives", only: "webtransport", within: 5 * time.Second, over: "websocket",
		play: suffers(0, netlab.Treatment{CutUDP: true}),
	},
	{
		name: "mtu", title: "path MTU falls to 1,300, then to 1,250, and routers tell", size: 5000, within: 5 * time.Second, short: true,
		play: suffers(0, netlab.Treatment{MTU: 1300}, netlab.Treatment{MTU: 1250}),
	},
	{
		name: "black-hole", title: "likewise, and nobody tells", size: 5000, unmarked: true,
		play: suffers(0, netlab.Treatment{MTU: 1300, Silent: true}, netlab.Treatment{MTU: 1250, Silent: true}),
	},
	{
		name: "black-hole-probing", title: "likewise, to an edge with `net.ipv4.tcp_mtu_probing=1`", size: 5000, probing: true, unmarked: true,
		play: suffers(0, netlab.Treatment{MTU: 1300, Silent: true}, netlab.Treatment{MTU: 1250, Silent: true}),
	},
	{
		name: "address", title: "the client's address changes", overWebSocket: 5 * time.Second, noneOverWebTransport: true, short: true,
		play: func(w *watch) {
			_, err := w.l.network.Readdress(clientMachine)
			w.l.near.Must(err)
			w.next(time.Now())
		},
	},
	{name: "frozen", title: "edge frozen for 15 s", atNear: true, none: true, play: func(w *watch) {
		w.l.near.Edge.Signal(syscall.SIGSTOP)
		time.Sleep(15 * time.Second)
		w.l.near.Edge.Signal(syscall.SIGCONT)
		w.next(time.Now())
	}},
	{
		name: "udp-away", title: "UDP away for 8 s", only: "webtransport", none: true,
		play: suffers(8*time.Second, netlab.Treatment{CutUDP: true}),
	},
	{name: "away", title: "network away for 8 s", none: true, play: suffers(8*time.Second, netlab.Treatment{Cut: true})},
	{
		name: "idle", title: "a client without traffic loses its edge, another is there", both: true, silent: true,
		keepAlive: 25 * time.Second, within: 29 * time.Second,
		play: func(w *watch) {
			begin := time.Now()
			w.l.treat(netlab.Treatment{Cut: true})
			r, found := w.until(func(r sdk.Report) bool {
				return r.Event == "reconnected" || r.Event == "recovered" || r.Event == "moved"
			})
			w.publish(w.l.far, 0)
			w.next(time.Now())
			w.o.never, w.o.back = w.o.never || !found, r.At.Sub(begin)
		},
	},
	{name: "loss", title: "5 % loss, 100 ms round trip", long: true, stays: true, play: func(w *watch) {
		w.l.treat(netlab.Treatment{Loss: 0.05, Delay: 50 * time.Millisecond})
		w.pass("MILLRACE_LOSS", "1h")
		w.l.treat(netlab.Treatment{Delay: 50 * time.Millisecond})
		w.next(time.Now())
		w.o.back = 0 // it was never away
	}},
	{name: "sleep", title: "the computer sleeps for 10 minutes", long: true, within: 3 * time.Second, short: true, play: func(w *watch) {
		w.l.treat(netlab.Treatment{Cut: true}) // a computer that sleeps answers nothing
		w.l.network.Set(clientMachine, farMachine, netlab.Treatment{Cut: true})
		w.l.near.Must(w.l.network.Machine(clientMachine).Signal(syscall.SIGSTOP))
		w.pass("MILLRACE_SLEEP", harness.AtLength("3s", "10m"))
		w.l.network.Set(clientMachine, farMachine, netlab.Treatment{})
		w.l.treat(netlab.Treatment{})
		begin := time.Now()
		w.l.near.Must(w.l.network.Machine(clientMachine).Signal(syscall.SIGCONT))
		w.next(begin)
	}},
}

// suffers treats the path in these ways, one after the other: each for a while, or until
// connections have found out what passes.
func suffers(during time.Duration, ways ...netlab.Treatment) func(*watch) {
	return func(w *watch) {
		for _, how := range ways {
			w.l.treat(how)
			if during > 0 {
				time.Sleep(during)
				w.l.treat(netlab.Treatment{})
			}
			if w.next(time.Now()); w.o.never {
				return
			}
			if len(ways) > 1 {
				time.Sleep(3 * time.Second)
			}
		}
	}
}

// pass lets time go by, which the environment may set.
func (w *watch) pass(env, standard string) {
	d, err := time.ParseDuration(cmp.Or(os.Getenv(env), standard))
	w.l.near.Must(err)
	time.Sleep(d)
}

// mark is the time in which messages have to come again; zero: none is asked for.
func (b breakage) mark(k sdk.Kind) time.Duration {
	if k.Transport == "websocket" && b.overWebSocket != 0 {
		return b.overWebSocket
	}
	return b.within
}

// misses says which marks an outcome misses. Only a soak has the machine for itself.
func (b breakage) misses(k sdk.Kind, o outcome) string {
	if b.unmarked {
		return ""
	}
	var list []string
	for text, is := range map[string]bool{
		"no message came any more":                    o.never,
		fmt.Sprintf("not back within %v", b.mark(k)):  harness.Soaking && b.mark(k) != 0 && o.back > b.mark(k),
		"disconnected":                                b.none && slices.Contains(o.events, "disconnected"),
		"messages were missed":                        o.missed > 0 && (b.none || b.noneOverWebTransport && k.Transport == "webtransport"),
		"another transport in the end than " + b.over: b.over != "" && o.over != b.over,
		"it changed its connection":                   harness.Soaking && b.stays && o.switches > 0,
	} {
		if is {
			list = append(list, text)
		}
	}
	return strings.Join(list, ", ")
}
