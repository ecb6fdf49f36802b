package load

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/internal/loadgen"
)

const tenant = "paint.room"

// unlimited is a Caddyfile for so many clients of one token that they need more than half of the files that a
// process may open.
func unlimited(caddyfile string) string {
	return strings.Replace(caddyfile, "drain 7s", "drain 7s\n\t\tlimits {\n\t\t\tmax_connections 0\n\t\t}", 1)
}

// traffic is a run of the load generator, which requires each message, once and in order, and
// that no connection ends.
type traffic struct {
	t      *testing.T
	stop   context.CancelFunc
	ended  chan struct{} // closed after result is set
	result *loadgen.Result
}

// startTraffic returns when messages come.
func startTraffic(e *harness.Edge, transport string, o loadgen.Options) *traffic {
	e.T.Helper()
	request := harness.TokenRequest(harness.AllowAll("room"))
	request["right"].(harness.Object)["expires_at"] = harness.In(12 * time.Hour) // after any soak
	target := loadgen.EdgeOptions{
		URL: fmt.Sprintf("wss://localhost:%d", e.HTTPS), Token: e.IssueAs(e.Master, request).Token, Tenant: tenant,
		CAFile: e.RootFile(), CapKBPerSec: 16384, // of FastBandwidth
	}
	if transport == loadgen.WebTransport {
		target.URL = e.HttpsURL("")
	}
	flows := make(chan struct{})
	flow := sync.OnceFunc(func() { close(flows) })
	o.Payload, o.Duration, o.Patience = loadgen.MinPayload, time.Hour, harness.WaitTimeout
	o.Progress = func(line string) {
		if strings.Contains(line, "deliveries/s") {
			flow()
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	l := &traffic{t: e.T, stop: stop, ended: make(chan struct{})}
	var err error
	go func() { // ends with stop
		defer close(l.ended)
		l.result, err = loadgen.Run(ctx, loadgen.EdgeDriver(target), o)
	}()
	e.T.Cleanup(func() { stop(); <-l.ended })
	select {
	case <-flows:
	case <-l.ended: // within its own limits
		e.T.Fatalf("no traffic: %v", err)
	}
	return l
}

// startCalm is a little traffic over each transport.
func startCalm(e *harness.Edge) (end func()) {
	o := loadgen.Options{Scenario: loadgen.Latency, Subscribers: 1, Rate: 100}
	first, second := startTraffic(e, loadgen.WebSocket, o), startTraffic(e, loadgen.WebTransport, o)
	return func() { first.end(); second.end() }
}

// end requires all messages until now.
func (l *traffic) end() {
	l.t.Helper()
	l.stop()
	<-l.ended
	r := l.result
	l.t.Logf("%s: %d deliveries, p99 %.1f ms, at most %.1f ms", r.Scenario, r.Delivered, r.P99us/1e3, r.Maxus/1e3)
	if len(r.Errors) > 0 || r.Delivered == 0 {
		l.t.Errorf("%s: %q", r.Scenario, r.Errors)
	}
}

// pause is a pace, not a wait. It ends with the context at the latest.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
