package load

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/conformance"
	"github.com/millrace/millrace/integration/harness"
)

// When one of two edges dies, its clients are at the other one: it refuses none of them, and
// those that were there before miss nothing.
func TestReconnectStorm(t *testing.T) {
	t.Parallel()
	storm(t, &crowd{N: harness.SoakCount(t, 50, 10_000), Dies: true}, func(dies *harness.Edge) { dies.Kill() })
}

// When all clients of an edge suspect it at once, as it is frozen, the other edge bears that.
// In the end each client has one connection, and none was without.
func TestSuspicionStorm(t *testing.T) {
	t.Parallel()
	storm(t, &crowd{N: harness.SoakCount(t, 50, 2_000)}, func(freezes *harness.Edge) {
		freezes.Signal(syscall.SIGSTOP)
		time.Sleep(harness.AtLength(6*time.Second, 15*time.Second)) // the edge stands still for so long
		freezes.Signal(syscall.SIGCONT)
	})
}

func storm(t *testing.T, c *crowd, fault func(e *harness.Edge)) {
	t.Helper()
	join := harness.Joining(harness.StartNATS(t, 1), "")[0]
	fails := harness.StartEdge(t, harness.DefaultCaddyfile, join)
	stays := harness.StartEdge(t, harness.DefaultCaddyfile, join, harness.WithMaster(fails))
	c.Leaves = fails.HttpsURL("")
	c.start(t, stays, fails)
	there := fails.Sessions() + stays.Sessions()
	bystanders := startTraffic(stays, 1, 10, 2)
	c.await("all know how often messages come", patience)
	refusals := func() (n float64) {
		for series, value := range stays.Metrics() {
			if strings.HasPrefix(series, "millrace_handshakes_refused_total{") {
				n += value
			}
		}
		return n
	}
	refused := refusals()
	bystanders.slowest.take()
	fault(fails)
	if c.Dies {
		c.await("all are back", patience)
	}
	bystanders.awaitMore(40)
	if got := refusals(); got != refused {
		t.Errorf("the edge that stays has refused %v handshakes", got-refused)
	}
	stays.Poll("one connection of each client", func() bool {
		sessions := stays.Sessions() - 11 // of the bystanders
		if !c.Dies {
			sessions += fails.Sessions()
		}
		return sessions == there
	})
	bystanders.awaitMore(40)
	bystanders.end()
	c.end("crowd:")
	t.Logf("a message took at most %v to bystanders at the other edge", bystanders.slowest.take())
}

// The configuration is loaded again and again below many connections with traffic: none is
// lost, and no message.
func TestReloadsUnderLoad(t *testing.T) {
	t.Parallel()
	const each = 100
	e := harness.StartEdge(t, conformance.American)
	l := startTraffic(e, harness.SoakCount(t, 2*each, 10_000)/each, each, 10)
	for n := range harness.AtLength(6, 100) {
		e.Reload([]string{conformance.European, conformance.American}[n%2])
		l.awaitMore(each)
	}
	l.end()
	t.Logf("%d deliveries, of which one took at most %v", l.got.Load(), l.slowest.take())
}
