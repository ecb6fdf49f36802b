package operations

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
)

// shareless is an edge whose only token may have all of it, and that says whether it is ready.
var shareless = strings.NewReplacer("\tpubsub\n", "\tpubsub\n\tpubsub_ready\n", "drain 7s", `drain 7s
		limits {
			max_connections_per_token 100000
			max_connections_per_tenant 100000
		}`).Replace(harness.MetricsCaddyfile)

// fill opens sessions until one is refused as on a full edge, for the reason that is wanted.
func fill(e *harness.Edge, open func(harness.Handshake) (*harness.Socket, harness.Answer), why string) (sockets []*harness.Socket, token string) {
	e.T.Helper()
	token = e.Issue(harness.AllowAll("room")).Token
	for {
		s, a := open(harness.Handshake{Token: token})
		if s != nil {
			sockets = append(sockets, s)
			continue
		}
		a.Problem(e.T, http.StatusServiceUnavailable, "too_many_connections")
		if a.Header.Get("Retry-After") == "" || !strings.Contains(string(a.Body), why) {
			e.T.Errorf("refused with %v and %s, want a time and %q", a.Header, a.Body, why)
		}
		return sockets, token
	}
}

// expectFull requires that a full edge answers everything else, and says that it is full.
func expectFull(e *harness.Edge, limit, why string, sockets []*harness.Socket) {
	e.T.Helper()
	for path, want := range map[string]int{"/ping": 200, "/metrics": 200, "/ready": 503} {
		if a := e.Rest("GET", path, "", nil); a.Status != want {
			e.T.Errorf("GET %s: %d %s, want %d", path, a.Status, a.Body, want)
		} else if want == 503 {
			a.Problem(e.T, 503, "too_many_connections")
			if !strings.Contains(string(a.Body), why) {
				e.T.Errorf("not ready: %s, want %q", a.Body, why)
			}
		}
	}
	if used := e.Metrics()["millrace_connections_used_ratio{limit="+limit+"}"]; limit != "" && (used < 0.98 || used > 1) {
		e.T.Errorf("%g of the limit %s is used", used, limit)
	}
	issued := e.Issue(harness.AllowAll("room"))
	if a := e.Revoke(e.Master, issued.Token); a.Status != http.StatusOK {
		e.T.Errorf("to revoke a token: %d %s", a.Status, a.Body)
	}
	for i, s := range []*harness.Socket{sockets[0], sockets[len(sockets)-1]} {
		channel := fmt.Sprint("echo.", i)
		s.Subscribe("paint.room", channel)
		s.Publish("paint.room", channel, "x")
		s.ExpectDeliver("paint.room", channel, "x", channel)
	}
}

// expectRoom requires that one may come for one that goes.
func expectRoom(e *harness.Edge, left *harness.Socket, open func(harness.Handshake) (*harness.Socket, harness.Answer), token string) {
	e.T.Helper()
	e.Must(left.Cut())
	e.Poll("readiness", func() bool { return e.Rest("GET", "/ready", "", nil).Status == http.StatusOK })
	if s, a := open(harness.Handshake{Token: token}); s == nil {
		e.T.Errorf("refused, when one has left: %d %s", a.Status, a.Body)
	}
}

// An edge that may open few files keeps some for its store and its operators: sessions are refused before these
// are gone, and who only connects takes the place of others who do.
func TestOpenFiles(t *testing.T) {
	t.Parallel()
	const limit = 256
	e := harness.StartEdge(t, shareless, func(e *harness.Edge) {
		script := filepath.Join(t.TempDir(), "edge")
		e.Must(os.WriteFile(script, fmt.Appendf(nil, "#!/bin/sh\nulimit -n %d\nexec '%s' \"$@\"\n", limit, e.Program), 0o700))
		e.Program = script
	})
	e.AwaitLine(`"open_files":256`, `"websocket_connections":144`, `"needed_files":117408`)
	sockets, token := fill(e, e.Open, "open files")
	if len(sockets) != 144 {
		t.Errorf("%d sessions were admitted", len(sockets))
	}
	crowd := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	for i := range 2 * limit { // nobody is idle for long
		conn, err := crowd.DialContext(t.Context(), "tcp", fmt.Sprintf("127.0.0.1:%d", []int{e.HTTP, e.HTTPS}[i%2]))
		e.Must(err)
		defer conn.Close()
	}
	expectFull(e, "files", "open files", sockets)
	if n := e.Metrics()["millrace_tcp_idle_closed_total"]; n == 0 {
		t.Error("nobody of the crowd was closed")
	}
	if n := e.Sample().Descriptors; n > limit-16 {
		t.Errorf("the edge has %d of %d files open", n, limit)
	}
	expectRoom(e, sockets[0], e.Open, token)
}

// So does one whose memory is used up by what nobody counts for it.
func TestMemoryIsShort(t *testing.T) {
	t.Parallel()
	caddyfile := strings.Replace(shareless, "limits {", "limits {\n\t\t\tconnection_memory 1GiB", 1)
	e := harness.StartEdge(t, caddyfile, harness.WithEnv("GOMEMLIMIT=64MiB"))
	sockets, _ := fill(e, e.OpenWebTransport, "memory")
	expectFull(e, "", "memory", sockets)
	t.Logf("%d sessions: %d MiB in use", len(sockets), e.Memory()>>10)
	for _, s := range sockets {
		e.Must(s.Cut())
	}
	e.Poll("readiness", func() bool { return e.Rest("GET", "/ready", "", nil).Status == http.StatusOK })
}

// An edge with little memory refuses sessions before it is used up, by what each transport takes, and serves those
// that it has.
func TestConnectionMemory(t *testing.T) {
	t.Parallel()
	const mib = 128
	e := harness.StartEdge(t, shareless, harness.WithEnv(fmt.Sprintf("GOMEMLIMIT=%dMiB", mib)))
	sockets, token := fill(e, e.OpenWebTransport, "memory")
	if want := (mib - 64) / 2 * 1024 / 120; len(sockets) != want {
		t.Errorf("%d sessions were admitted, want %d", len(sockets), want)
	}
	begin := time.Now()
	expectFull(e, "memory", "memory", sockets)
	if s, a := e.Open(harness.Handshake{Token: token}); s == nil {
		t.Errorf("there is room for a WebSocket, which was refused: %d %s", a.Status, a.Body)
	}
	live := e.Memory() >> 10
	t.Logf("%d sessions: %d MiB of %d in use; answers to all took %v", len(sockets), live, mib, time.Since(begin))
	if live > mib*3/4 {
		t.Errorf("%d of %d MiB are in use", live, mib)
	}
	expectRoom(e, sockets[0], e.OpenWebTransport, token)
}
