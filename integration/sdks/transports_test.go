package sdks

import (
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/sdk"
)

var bothTransports = []string{"webtransport", "websocket"}

// The address of a list stands for the edges on it.
func listOfEdges(s *stage) {
	c := s.Connect(sdk.Options{}, s.Edges[0].HttpsURL("/near"))
	s.told(c, "connected", "", s.Edges[0].HttpsURL(""), s.Kind.Transport, c.Flush)
}

// Where packets of QUIC get lost, WebSocket starts after the time that is set for it.
func withoutUDP(s *stage) {
	const after = 2500 * time.Millisecond
	path := harness.NewBadPath(s.T, s.Edges[0])
	path.SwallowUDP()
	begin := time.Now()
	c := s.Connect(sdk.Options{Transports: bothTransports, FallbackAfter: int(after.Milliseconds())}, path.Url())
	if took := time.Since(begin); s.Kind.AlsoOver("webtransport") && took < after {
		s.T.Errorf("WebSocket was there after %v, want that it starts after %v", took, after)
	}
	s.told(c, "connected", "", path.Url(), "websocket", c.Flush)
}
