package load

import (
	"maps"
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
	storm(t, harness.SoakCount(t, 50, 10_000), true, func(dies *harness.Edge, clients process) {
		dies.Kill()
		clients.Await("all are back", patience)
	})
}

// When all clients of an edge suspect it at once, as it is frozen, the other edge bears that.
// In the end each client has one connection, and none was without.
func TestSuspicionStorm(t *testing.T) {
	t.Parallel()
	storm(t, harness.SoakCount(t, 50, 2_000), false, func(freezes *harness.Edge, _ process) {
		freezes.Signal(syscall.SIGSTOP)
		time.Sleep(harness.AtLength(6*time.Second, 15*time.Second)) // the edge stands still for so long
		freezes.Signal(syscall.SIGCONT)
	})
}

func storm(t *testing.T, n int, dies bool, fault func(e *harness.Edge, clients process)) {
	t.Helper()
	join := harness.Joining(harness.StartNATS(t, 1), "")[0]
	fails := harness.StartEdge(t, harness.DefaultCaddyfile, join)
	stays := harness.StartEdge(t, harness.DefaultCaddyfile, join, harness.WithMaster(fails))
	c := &crowd{N: n, Leaves: fails.HttpsURL(""), Dies: dies}
	clients := c.Start(t, stays, fails)
	there := fails.Sessions() + stays.Sessions()
	bystanders := startTraffic(t, stays, stays, 1, 10, 100*time.Millisecond)
	toAll := stays.Dial(stays.Issue(harness.AllowAll("room")).Token)
	publish(t, toAll, 500*time.Millisecond, 1)
	clients.Await("all know how often messages come", patience)

	refused := refusals(stays)
	bystanders.apart.Store(true)
	fault(fails, clients)
	bystanders.AwaitMore(200)
	bystanders.apart.Store(false)
	if got := refusals(stays); !maps.Equal(got, refused) {
		t.Errorf("the edge that stays has refused handshakes: %v, and %v before", got, refused)
	}
	await(t, "one connection of each client", func() bool {
		sessions := stays.Sessions() - 12 // of the bystanders, and who publishes to all
		select {
		case <-fails.Exited:
		default:
			sessions += fails.Sessions()
		}
		return sessions == there
	})
	bystanders.AwaitMore(200)
	bystanders.End()
	clients.End("crowd:")
	t.Logf("latency of bystanders at the other edge, meanwhile: %v; before and after: %v", &bystanders.meanwhile, &bystanders.usual)
}

// publish publishes bursts to the crowd until stop is called, or the test ends.
func publish(t *testing.T, to *harness.Socket, every time.Duration, burst int) (stop func()) {
	t.Helper()
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() { // ends with quit
		defer close(ended)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			for range burst {
				if err := to.Write(harness.AsFrame, harness.RawPublish(crowdTenant, crowdChannel, "x")); err != nil {
					t.Error(err)
					return
				}
			}
			select {
			case <-tick.C:
			case <-quit:
				return
			}
		}
	}()
	done := false
	stop = func() {
		if !done {
			done = true
			close(quit)
			<-ended
		}
	}
	t.Cleanup(stop)
	return stop
}

// refusals is how many handshakes an edge has refused, by reason.
func refusals(e *harness.Edge) map[string]float64 {
	e.T.Helper()
	n := map[string]float64{}
	for series, value := range e.Metrics() {
		if reason, is := strings.CutPrefix(series, "millrace_handshakes_refused_total{"); is && value > 0 {
			n[reason] = value
		}
	}
	return n
}

// The configuration is loaded again and again below many connections with traffic: none is
// lost, and no message.
func TestReloadsUnderLoad(t *testing.T) {
	t.Parallel()
	const each = 100
	e := harness.StartEdge(t, conformance.American)
	l := startTraffic(t, e, e, harness.SoakCount(t, 2*each, 10_000)/each, each, 100*time.Millisecond)
	for n := range harness.AtLength(6, 100) {
		l.apart.Store(true)
		e.Reload([]string{conformance.European, conformance.American}[n%2])
		l.apart.Store(false)
		l.AwaitMore(each)
	}
	l.End()
	t.Logf("%d deliveries; latency during reloads: %v; between them: %v", l.got.Load(), &l.meanwhile, &l.usual)
}
