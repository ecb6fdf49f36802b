package takeover

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Under load, new clients have to prove their address before they cost anything.
func TestAddressesAreValidatedUnderLoad(t *testing.T) {
	socket, err := net.ListenPacket("udp", "127.0.0.1:0")
	must(t, err)
	defer socket.Close()
	verify := newTransport(socket).VerifySourceAddress
	asked := 0
	for range 2 * freeHandshakes {
		if verify(socket.LocalAddr()) {
			asked++
		}
	}
	// The limit refills while the loop runs.
	if asked == 0 || asked > freeHandshakes {
		t.Errorf("%d of %d clients at once have to prove their address, want some, and the first %d not", asked, 2*freeHandshakes, freeHandshakes)
	}
}

// A client that has vanished is forgotten after 30 s, of which package edgetest tests what
// follows; one that only has nothing to say is asked before, more than once.
func TestIdleTimeout(t *testing.T) {
	c := new(port).quicConfig()
	if c.MaxIdleTimeout != 30*time.Second || 3*c.KeepAlivePeriod > c.MaxIdleTimeout {
		t.Errorf("forgotten after %v, asked every %v", c.MaxIdleTimeout, c.KeepAlivePeriod)
	}
}

// Traces of connections, which an operator may ask for, hold no header.
func TestTracesHoldNoTokens(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("QLOGDIR", dir)
	address := unused(t)
	g := newGeneration(t, address, "one", answer("hello"))
	g.start(t)
	c := connect(t, address)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.base+"/", nil)
	must(t, err)
	req.Header.Set("Authorization", "Bearer AT_token")
	res, err := c.RoundTrip(req)
	must(t, err)
	res.Body.Close()
	g.Quiesce()
	must(t, g.Close(0))
	traces, err := filepath.Glob(filepath.Join(dir, "*_server.sqlog"))
	if err != nil || len(traces) != 1 {
		t.Fatalf("the traces are %v, %v, want one", traces, err)
	}
	trace, err := os.ReadFile(traces[0])
	must(t, err)
	if !strings.Contains(string(trace), "packet_received") || strings.Contains(string(trace), "AT_token") {
		t.Errorf("the trace holds the token, or nothing:\n%s", trace)
	}
}
