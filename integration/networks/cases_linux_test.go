package networks

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
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

// setting is a duration that the environment may set.
func setting(t *testing.T, name string, standard time.Duration) time.Duration {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return standard
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		t.Fatalf("%s is %q, want a duration such as 10m", name, text)
	}
	return d
}

var breakages = []breakage{
	{name: "killed", title: "edge killed (-9), back at once", within: 3 * time.Second, overWebSocket: time.Second, play: func(w *watch) {
		w.l.near.kill()
		w.l.near.start()
		w.l.near.awaitReady() // what it takes to start is not the client's
		w.next(time.Now())
	}},
	{name: "another", title: "edge killed, another is there", both: true, within: 4 * time.Second, play: func(w *watch) {
		begin := time.Now()
		w.l.near.kill()
		w.next(begin)
	}},
	{
		name: "udp-dies", title: "UDP dies, TCP lives", only: "webtransport", within: 5 * time.Second, over: "websocket",
		play: func(w *watch) { w.suffers(netlab.Treatment{CutUDP: true}, 0) },
	},
	{
		name: "mtu", title: "path MTU falls to 1,300, then to 1,250, and routers tell", size: 5000, within: 5 * time.Second, short: true,
		play: func(w *watch) { w.shrink(false) },
	},
	{name: "black-hole", title: "likewise, and nobody tells", size: 5000, unmarked: true, play: func(w *watch) { w.shrink(true) }},
	{
		name: "black-hole-probing", title: "likewise, to an edge with `net.ipv4.tcp_mtu_probing=1`", size: 5000, probing: true, unmarked: true,
		play: func(w *watch) { w.shrink(true) },
	},
	{
		name: "address", title: "the client's address changes", overWebSocket: 5 * time.Second, noneOverWebTransport: true, short: true,
		play: func(w *watch) {
			if _, err := w.l.network.Readdress(clientMachine); err != nil {
				w.l.Fatal(err)
			}
			w.next(time.Now())
		},
	},
	{name: "frozen", title: "edge frozen for 15 s", atNear: true, none: true, play: func(w *watch) {
		w.l.near.signal(syscall.SIGSTOP)
		w.pass(15 * time.Second)
		w.l.near.signal(syscall.SIGCONT)
		w.next(time.Now())
	}},
	{
		name: "udp-away", title: "UDP away for 8 s", only: "webtransport", none: true,
		play: func(w *watch) { w.suffers(netlab.Treatment{CutUDP: true}, 8*time.Second) },
	},
	{
		name: "away", title: "network away for 8 s", none: true,
		play: func(w *watch) { w.suffers(netlab.Treatment{Cut: true}, 8*time.Second) },
	},
	{
		name: "idle", title: "a client without traffic loses its edge, another is there", both: true, silent: true,
		keepAlive: 25 * time.Second, within: 29 * time.Second,
		play: func(w *watch) {
			begin, from := time.Now(), len(w.s.reports())
			w.l.treat(netlab.Treatment{Cut: true})
			r, found := w.s.await(from, limit, func(r sdk.Report) bool {
				return r.Event == "reconnected" || r.Event == "recovered" || r.Event == "moved"
			})
			w.p = w.l.publish(w.l.far, publishEvery, 0, channel)
			w.next(time.Now())
			w.o.never, w.o.back = w.o.never || !found, r.At.Sub(begin)
		},
	},
	{name: "loss", title: "5 % loss, 100 ms round trip", stays: true, play: func(w *watch) {
		w.l.treat(netlab.Treatment{Loss: 0.05, Delay: 50 * time.Millisecond})
		w.pass(setting(w.l.T, "MILLRACE_LOSS", time.Hour))
		w.l.treat(netlab.Treatment{Delay: 50 * time.Millisecond})
		w.next(time.Now())
		w.o.back = 0 // it was never away
	}},
	{name: "sleep", title: "the computer sleeps for 10 minutes", within: 3 * time.Second, short: true, play: func(w *watch) {
		w.l.treat(netlab.Treatment{Cut: true}) // a computer that sleeps answers nothing
		w.l.network.Set(clientMachine, farMachine, netlab.Treatment{Cut: true})
		w.signal(syscall.SIGSTOP)
		w.pass(setting(w.l.T, "MILLRACE_SLEEP", harness.AtLength(3*time.Second, 10*time.Minute)))
		w.l.heal()
		begin := time.Now()
		w.signal(syscall.SIGCONT)
		w.next(begin)
	}},
}

// shrink has the path's MTU fall twice.
func (w *watch) shrink(silent bool) {
	for _, mtu := range []int{1300, 1250} {
		if w.suffers(netlab.Treatment{MTU: mtu, Silent: silent}, 0); w.o.never {
			return
		}
		w.pass(3 * time.Second) // in which connections find out how much passes
	}
}

// suffers treats the path so, for a while, or for good.
func (w *watch) suffers(how netlab.Treatment, during time.Duration) {
	w.l.treat(how)
	if during > 0 {
		w.pass(during)
		w.l.treat(netlab.Treatment{})
	}
	w.next(time.Now())
}

// pass lets time go by: what is broken is so for that long.
func (w *watch) pass(d time.Duration) { time.Sleep(d) }

// signal sends a signal to all processes of the client.
func (w *watch) signal(s syscall.Signal) {
	if err := w.s.machine.Signal(s); err != nil {
		w.l.Fatal(err)
	}
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
		fmt.Sprintf("not back within %v", b.mark(k)):  soaking && b.mark(k) != 0 && o.back > b.mark(k),
		"disconnected":                                b.none && o.lost,
		"messages were missed":                        o.missed > 0 && (b.none || b.noneOverWebTransport && k.Transport == "webtransport"),
		"another transport in the end than " + b.over: b.over != "" && o.over != b.over,
		"it changed its connection":                   soaking && b.stays && o.switches > 0,
	} {
		if is {
			list = append(list, text)
		}
	}
	return strings.Join(list, ", ")
}
