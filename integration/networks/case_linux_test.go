package networks

import (
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/millrace/millrace/internal/netlab"
)

// breakage is a case: what breaks, and what a user may see of it.
type breakage struct {
	name     string // for MILLRACE_CASES
	title    string
	only     string // a transport; empty: each
	unmarked bool   // nothing is asked for: it is measured, in a soak

	size      int  // bytes of each message
	atNear    bool // the publisher is at the edge that breaks
	both      bool // the client knows both edges
	silent    bool // nothing is published before the break
	keepAlive func() time.Duration
	probing   bool // the edges' machines find out by themselves how much passes over TCP

	play func(w *watch)

	// Marks. What is zero is not asked for.
	within, overWebSocket time.Duration // until messages come again; of clients over WebSocket, if it is another
	none                  bool          // none missed, and no disconnected
	nothingMissed         func(kind) bool
	over                  string // the transport at the end
	stays                 bool   // on its connection
}

// atLength is how long: short, or in a soak at length.
func atLength(short, soak time.Duration) time.Duration {
	if soaking {
		return soak
	}
	return short
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

// keepAlive is the option of clients without traffic, in a soak its default.
func keepAlive() time.Duration { return atLength(3*time.Second, 25*time.Second) }

var breakages = []breakage{
	{
		name: "killed", title: "edge killed (-9), back at once",
		within: 3 * time.Second, overWebSocket: time.Second,
		play: func(w *watch) {
			w.l.near.kill()
			w.l.near.start()
			w.l.near.awaitReady() // what it takes to start is not the client's
			w.next(time.Now())
		},
	},
	{
		name: "another", title: "edge killed, another is there", both: true,
		within: 4 * time.Second,
		play: func(w *watch) {
			begin := time.Now()
			w.l.near.kill()
			w.next(begin)
		},
	},
	{
		name: "udp-dies", title: "UDP dies, TCP lives", only: "webtransport",
		within: 5 * time.Second, over: "websocket",
		play: func(w *watch) {
			w.l.treat(netlab.Treatment{CutUDP: true})
			w.next(time.Now())
		},
	},
	{
		name: "mtu", title: "path MTU falls to 1,300, then to 1,250, and routers tell", size: 5000,
		within: 5 * time.Second,
		play:   func(w *watch) { w.shrink(false) },
	},
	{
		name: "black-hole", title: "likewise, and nobody tells", size: 5000, unmarked: true,
		play: func(w *watch) { w.shrink(true) },
	},
	{
		name: "black-hole-probing", title: "likewise, to an edge with `net.ipv4.tcp_mtu_probing=1`", size: 5000, probing: true, unmarked: true,
		play: func(w *watch) { w.shrink(true) },
	},
	{
		name: "address", title: "the client's address changes",
		overWebSocket: 5 * time.Second,
		nothingMissed: func(k kind) bool { return k.transport == "webtransport" },
		play: func(w *watch) {
			if _, err := w.l.network.Readdress(clientMachine); err != nil {
				w.l.Fatal(err)
			}
			w.next(time.Now())
		},
	},
	{
		name: "frozen", title: "edge frozen for 15 s", atNear: true,
		none: true,
		play: func(w *watch) {
			w.l.near.signal(syscall.SIGSTOP)
			w.pass(atLength(8*time.Second, 15*time.Second))
			w.l.near.signal(syscall.SIGCONT)
			w.next(time.Now())
		},
	},
	{
		name: "udp-away", title: "UDP away for 8 s", only: "webtransport",
		none: true,
		play: func(w *watch) {
			w.l.treat(netlab.Treatment{CutUDP: true})
			w.pass(8 * time.Second)
			w.l.treat(netlab.Treatment{})
			w.next(time.Now())
		},
	},
	{
		name: "away", title: "network away for 8 s",
		none: true,
		play: func(w *watch) {
			w.l.treat(netlab.Treatment{Cut: true})
			w.pass(8 * time.Second)
			w.l.treat(netlab.Treatment{})
			w.next(time.Now())
		},
	},
	{
		name: "idle", title: "a client without traffic loses its edge, another is there", both: true, silent: true,
		keepAlive: keepAlive,
		within:    25*time.Second + 4*time.Second, // of the soak
		play: func(w *watch) {
			begin := time.Now()
			from := len(w.s.reports())
			w.l.treat(netlab.Treatment{Cut: true})
			r, err := w.s.await(from, aside, func(r report) bool {
				return r.Event == "reconnected" || r.Event == "recovered" || r.Event == "moved"
			})
			if err != nil {
				w.o.never = true
			}
			w.p = w.l.publish(w.l.far, 0)
			w.next(time.Now())
			w.o.back = r.at.Sub(begin)
		},
	},
	{
		name: "loss", title: "5 % loss, 100 ms round trip",
		stays: true,
		play: func(w *watch) {
			w.l.treat(netlab.Treatment{Loss: 0.05, Delay: 50 * time.Millisecond})
			w.pass(setting(w.l.T, "MILLRACE_LOSS", atLength(8*time.Second, time.Hour)))
			w.l.treat(netlab.Treatment{Delay: 50 * time.Millisecond})
			w.next(time.Now())
			w.o.back = 0 // it was never away
		},
	},
	{
		name: "sleep", title: "the computer sleeps for 10 minutes",
		within: 3 * time.Second,
		play: func(w *watch) {
			w.l.treat(netlab.Treatment{Cut: true}) // a computer that sleeps answers nothing
			w.l.network.Set(clientMachine, farMachine, netlab.Treatment{Cut: true})
			w.signal(syscall.SIGSTOP)
			w.pass(setting(w.l.T, "MILLRACE_SLEEP", atLength(6*time.Second, 10*time.Minute)))
			w.l.heal()
			begin := time.Now()
			w.signal(syscall.SIGCONT)
			w.next(begin)
		},
	},
}

// shrink has the path's MTU fall twice.
func (w *watch) shrink(silent bool) {
	for _, mtu := range []int{1300, 1250} {
		w.l.treat(netlab.Treatment{MTU: mtu, Silent: silent})
		w.next(time.Now())
		if w.o.never {
			return
		}
		w.pass(3 * time.Second) // in which connections find out how much passes
	}
}

// pass lets time go by: what is broken is so for that long.
func (w *watch) pass(d time.Duration) { time.Sleep(d) }

// signal sends a signal to all processes of the client.
func (w *watch) signal(s syscall.Signal) {
	if err := w.s.machine.Signal(s); err != nil {
		w.l.Fatal(err)
	}
}

// misses says which marks an outcome misses. Only a soak has the machine for itself: else
// times may be longer, though not as long as they would be with a client that does not notice.
func (b breakage) misses(k kind, o outcome) (list []string) {
	if b.unmarked {
		return nil
	}
	within := b.within
	if k.transport == "websocket" && b.overWebSocket != 0 {
		within = b.overWebSocket
	}
	if b.silent {
		within -= 25*time.Second - keepAlive()
	}
	if within != 0 && !soaking {
		within = 2*within + 2*time.Second
	}
	if o.never {
		list = append(list, "no message came any more")
	} else if within != 0 && o.back > within {
		list = append(list, "back after "+seconds(o.back)+" instead of "+seconds(within))
	}
	if b.none && o.lost {
		list = append(list, "disconnected")
	}
	if (b.none || b.nothingMissed != nil && b.nothingMissed(k)) && o.missed > 0 {
		list = append(list, "messages were missed")
	}
	if b.over != "" && o.over != b.over {
		list = append(list, "over "+o.over+" in the end")
	}
	if b.stays && o.switches > 0 {
		list = append(list, "it changed its connection")
	}
	return list
}
