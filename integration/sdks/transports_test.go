package sdks

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/sdk"
	"github.com/millrace/millrace/internal/loopback"
)

var bothTransports = []string{"webtransport", "websocket"}

// Without TLS the token could be read on the way.
func plaintext(s *stage) {
	s.Client().Refused(s.Connecting(s.Kind, sdk.Options{}, "http://192.0.2.1:8080"), "bad_option")
	if s.Kind.Transport == "websocket" { // WebTransport has TLS always
		s.Connect(sdk.Options{}, s.Edges[0].HttpURL("")).Flush() // loopback
	}
}

// takes requires that a client connects to this edge by this transport, and can use it.
func takes(s *stage, options sdk.Options, edge, transport string, addresses ...string) {
	s.T.Helper()
	c := s.Connect(options, addresses...)
	if e := c.Event("connected"); e.Edge != edge || e.Transport != transport {
		s.T.Errorf("%s: got %v, want %s by %s", s.Kind, e, edge, transport)
	}
	c.Flush()
}

// The address of a list stands for the edges on it.
func listOfEdges(s *stage) {
	takes(s, sdk.Options{}, s.Edges[0].HttpsURL(""), s.Kind.Transport, s.Edges[0].HttpsURL("/near"))
}

// Of several edges the client takes the one that answers first, and that takes it.
func nearest(s *stage) {
	near := s.Edges[0].HttpsURL("")
	options := sdk.Options{}
	if s.Kind.Transport == "webtransport" {
		options.Transports = bothTransports // plain HTTP has no WebTransport
	}
	far := pings(s.T, func(r *http.Request) { <-r.Context().Done() }) // until the client has lost interest
	gone := fmt.Sprintf("http://localhost:%d", loopback.FreePort(s.T))
	takes(s, options, near, s.Kind.Transport, far, gone, near)
	// One that answers at once, and is no edge.
	takes(s, options, near, s.Kind.Transport, pings(s.T, func(*http.Request) {}), near)
}

// pings is a server that answers nothing but /ping.
func pings(t *testing.T, wait func(*http.Request)) (address string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		if r.URL.Path != "/ping" {
			http.NotFound(w, r)
			return
		}
		wait(r)
		fmt.Fprint(w, "pong")
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
}

// A token for one transport: the other one is refused, and this one is taken.
func otherProtocol(s *stage) {
	request := harness.TokenRequest(harness.AllowAll(s.Room))
	request["right"].(harness.Object)["allow_protocols"] = []string{s.Kind.Transport}
	token := s.Edges[0].IssueAs(s.Edges[0].Master, request).Token
	takes(s, sdk.Options{Token: token, Transports: bothTransports}, s.Edges[0].HttpsURL(""), s.Kind.Transport)
}

// offCaddyfile is an edge whose HTTP/3 is Caddy's, which would wait for browsers
// to close their connections when it stops.
var offCaddyfile = strings.NewReplacer("pubsub {", "pubsub {\n\t\twebtransport off", "admin ", "grace_period 1s\n\tadmin ").Replace(harness.DefaultCaddyfile)

// One transport alone is all that is tried.
func forced(s *stage) {
	if s.Kind.Transport == "websocket" {
		takes(s, sdk.Options{}, s.Edges[0].HttpsURL(""), "websocket")
		return
	}
	c := s.Client()
	if _, err := c.Try(s.Connecting(s.Kind, sdk.Options{ConnectTimeout: 3000})); err.ErrorCode() == "" {
		s.T.Errorf("got %v, want an error with a code: the edge has no WebTransport", err)
	}
	c.Never("connected")
}

// Where there is no WebTransport, WebSocket is taken.
func fallsBack(s *stage) {
	takes(s, sdk.Options{Transports: bothTransports}, s.Edges[0].HttpsURL(""), "websocket")
}

// Where packets of QUIC get lost, WebSocket starts after the time that is set for it.
func withoutUDP(s *stage) {
	const after = 2500 * time.Millisecond
	path := harness.NewBadPath(s.T, s.Edges[0])
	path.SwallowUDP()
	command := s.Connecting(s.Kind, sdk.Options{Transports: bothTransports, FallbackAfter: int(after.Milliseconds())}, path.Url())
	c, begin := s.Client(), time.Now()
	c.Must(command)
	if took := time.Since(begin); s.Kind.AlsoOver("webtransport") && took < after {
		s.T.Errorf("WebSocket was there after %v, want that it starts after %v", took, after)
	}
	if e := c.Event("connected"); e.Transport != "websocket" {
		s.T.Errorf("got %v, want websocket", e)
	}
	c.Flush()
}

// An attempt may stall for good, as some do in Firefox on a busy machine: here the edge
// answers, and hears no more of the client. The client gives it up, and the next one works.
func stalledHandshake(s *stage) {
	path := harness.NewBadPath(s.T, s.Edges[0])
	path.Deafen()
	_, err := s.Client().Try(s.Connecting(s.Kind, sdk.Options{ConnectTimeout: 2000}, path.Url()))
	if err.ErrorCode() != "timeout" && err.ErrorCode() != "unreachable" { // that of Go may know more
		s.T.Errorf("got %v, want timeout", err)
	}
	if path.Heal(); path.Deafened() == 0 {
		s.T.Error("no handshake has stalled")
	}
	takes(s, sdk.Options{}, path.Url(), "webtransport", path.Url())
}
