package sdks

import (
	"strings"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/sdk"
)

var bothTransports = []string{"webtransport", "websocket"}

// takes requires that a client connects to the edge by this transport, and can use it.
func takes(s *stage, options sdk.Options, transport string, addresses ...string) {
	s.T.Helper()
	c := s.Connect(options, addresses...)
	if e := c.Event("connected"); e.Edge != s.Edges[0].HttpsURL("") || e.Transport != transport {
		s.T.Errorf("%s: got %v, want %s by %s", s.Kind, e, s.Edges[0].HttpsURL(""), transport)
	}
	c.Flush()
}

// The address of a list stands for the edges on it.
func listOfEdges(s *stage) { takes(s, sdk.Options{}, s.Kind.Transport, s.Edges[0].HttpsURL("/near")) }

// offCaddyfile is an edge whose HTTP/3 is Caddy's, which would wait for browsers
// to close their connections when it stops.
var offCaddyfile = strings.NewReplacer("pubsub {", "pubsub {\n\t\twebtransport off", "admin ", "grace_period 1s\n\tadmin ").Replace(harness.DefaultCaddyfile)

// Where there is no WebTransport, WebSocket is taken.
func fallsBack(s *stage) { takes(s, sdk.Options{Transports: bothTransports}, "websocket") }

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
