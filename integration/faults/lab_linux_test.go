package faults

import (
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/internal/loopback"
	"github.com/millrace/millrace/internal/netlab"
	"github.com/millrace/millrace/internal/smalldisk"
)

var (
	millrace string // the program
	whyNot   error  // there can be no network namespaces here; nil: there can
)

// builtEnv names the path of the program if it is already built: in a namespace there is no
// network to build it.
const builtEnv = "MILLRACE_FAULTS_PROGRAM"

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "faults")
	if err == nil {
		defer os.RemoveAll(dir)
		whyNot = netlab.Possible()
		if millrace = os.Getenv(builtEnv); millrace == "" {
			millrace, err = build(dir)
		}
	}
	if err == nil {
		var code int
		var again bool
		if code, again, err = netlab.Apart(builtEnv + "=" + millrace); again && err == nil {
			return code
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

const (
	machines    = 3
	diskSize    = 160 << 20 // of the disk of an edge's NATS server
	waitTimeout = 2 * time.Minute
)

// lab is three edges with embedded NATS servers, which are one cluster. They are in a network
// of their own; where there can be none, they are on loopback, with proxies on their routes.
type lab struct {
	*testing.T
	network *netlab.Network // nil: there is none
	cutters map[[2]int]*harness.Cutter
	edges   []*edge // the first is machine 1
	traffic *traffic
}

func startLab(t *testing.T) *lab {
	t.Helper()
	l := &lab{T: t, cutters: map[[2]int]*harness.Cutter{}}
	if whyNot == nil {
		var err error
		if l.network, err = netlab.New(machines); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		for _, e := range l.edges {
			if e.cmd != nil {
				_ = e.cmd.Process.Signal(syscall.SIGCONT)
				_ = e.cmd.Process.Signal(syscall.SIGKILL) // it may have ended
				<-e.end
			}
		}
		if l.network != nil {
			if err := l.network.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	for i := 1; i <= machines; i++ {
		e := &edge{t: t, number: i, dir: t.TempDir()}
		if e.client.Timeout = 10 * time.Second; l.network != nil {
			m := l.network.Machine(i)
			e.namespace, e.disk = m.Namespace, smalldisk.Mount(t, diskSize)
			e.http, e.admin, e.listen = m.IP+":8080", "127.0.0.1:2019", m.IP+":6222"
		} else {
			port := func() string { return fmt.Sprintf("127.0.0.1:%d", loopback.FreePort(t)) }
			e.http, e.admin, e.listen, e.disk = port(), port(), port(), t.TempDir()
		}
		l.edges = append(l.edges, e)
	}
	for _, e := range l.edges {
		var routes []string
		for _, other := range l.edges {
			switch {
			case other == e:
			case l.network != nil:
				routes = append(routes, "nats://"+other.listen)
			default:
				cutter := harness.NewCutter(t, other.listen)
				l.cutters[[2]int{e.number, other.number}] = cutter
				routes = append(routes, cutter.Url())
			}
		}
		e.config(routes)
		e.start()
	}
	l.await("three edges that issue tokens", l.issues)
	l.startTraffic()
	l.await("messages from each edge to each", func() bool { return l.traffic.crossed(time.Time{}) })
	return l
}

// part applies a treatment between an edge and all others.
func (l *lab) part(e *edge, how netlab.Treatment) {
	for _, other := range l.edges {
		if other != e && l.network != nil {
			l.network.Set(e.number, other.number, how)
		}
	}
	for between, cutter := range l.cutters {
		switch {
		case between[0] != e.number && between[1] != e.number:
		case how.Cut:
			cutter.Part()
		case how == netlab.Treatment{}:
			cutter.Delay(harness.Late{})
			cutter.Heal()
		default:
			cutter.Delay(harness.Late{ToServer: how.Delay, ToEdge: how.Delay})
		}
	}
}

func (l *lab) await(what string, is func() bool) {
	l.Helper()
	for end := time.Now().Add(waitTimeout); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			for _, e := range l.edges {
				if e.out != nil { // it did start
					l.Logf("edge %d wrote:\n%s", e.number, e.out.String())
				}
			}
			l.Fatalf("%v in vain for %s", waitTimeout, what)
		}
	}
}

// issues reports whether each edge is ready, and issues tokens.
func (l *lab) issues() bool {
	for _, e := range l.edges {
		status, err := e.call("GET", "/ready", nil, nil)
		if err != nil || status != 200 {
			return false
		}
		if _, err := e.issue(); err != nil {
			return false
		}
	}
	return true
}
