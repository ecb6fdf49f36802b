package sdks

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/sdk"
)

var bothTransports = []string{"webtransport", "websocket"}

// Without TLS the token could be read on the way.
func sdkPlaintext(s *sdk.Stage) {
	c := s.Client()
	if _, err := c.Try(s.Connecting(s.Kind, sdk.Options{}, "http://192.0.2.1:8080")); err.ErrorCode() != "bad_option" {
		s.T.Errorf("got %v, want bad_option", err)
	}
	if s.Kind.Transport == "webtransport" {
		return // which there is none without TLS
	}
	c = s.Connect(sdk.Options{}, s.Edges[0].HttpURL("")) // loopback
	c.Publish(s.Tenant, "x", "")
	c.Flush()
}

var sdkListCaddyfile = strings.Replace(harness.DefaultCaddyfile, "\trespond \"no such page\" 404\n",
	"\tpubsub_edges /near {\n\t\tedge localhost:{{.HTTPS}} EU\n\t}\n\trespond \"no such page\" 404\n", 2)

// The address of a list stands for the edges on it.
func sdkList(s *sdk.Stage) {
	c := s.Connect(sdk.Options{}, s.Edges[0].HttpsURL("/near"))
	if e := c.Event("connected"); e.Edge != s.Edges[0].HttpsURL("") {
		s.T.Errorf("got %v, want the edge of the list, %s", e, s.Edges[0].HttpsURL(""))
	}
	sub := c.Subscribe(s.Tenant, "x")
	c.Publish(s.Tenant, "x", "over the list")
	sub.Want(s.Tenant, "x", "over the list", "x")
}

// Of several edges the client takes the one that answers soonest, and that takes
// it.
func sdkNearest(s *sdk.Stage) {
	far := slowPings(s.T, 300*time.Millisecond)
	gone := fmt.Sprintf("http://localhost:%d", closedPort(s.T))
	near := s.Edges[0].HttpsURL("")
	options := sdk.Options{}
	if s.Kind.Transport == "webtransport" {
		options.Transports = bothTransports // as plain HTTP has no WebTransport
	}
	c := s.Connect(options, far, gone, near)
	if e := c.Event("connected"); e.Edge != near {
		s.T.Errorf("got %v, want the nearest edge, %s", e, near)
	}
	c.Close()

	// The nearest refuses: a server that is no edge.
	wrong := slowPings(s.T, 0)
	c = s.Connect(options, wrong, near)
	if e := c.Event("connected"); e.Edge != near {
		s.T.Errorf("got %v, want the edge that takes the client, %s", e, near)
	}
}

// slowPings is a server that answers nothing but /ping, late.
func slowPings(t *testing.T, after time.Duration) (address string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		if r.URL.Path != "/ping" {
			http.NotFound(w, r)
			return
		}
		select {
		case <-time.After(after):
		case <-r.Context().Done():
		}
		fmt.Fprint(w, "pong")
	}))
	t.Cleanup(server.Close)
	return strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
}

// closedPort is one on which nobody listens.
func closedPort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// A token for one transport: the other one is refused, and this one is taken.
func sdkOtherProtocol(s *sdk.Stage) {
	request := harness.TokenRequest(harness.AllowAll(s.Room))
	request["right"].(harness.Object)["allow_protocols"] = []string{s.Kind.Transport}
	token := s.Edges[0].IssueAs(s.Edges[0].Master, request).Token
	c := s.Connect(sdk.Options{Token: token, Transports: bothTransports})
	if e := c.Event("connected"); e.Transport != s.Kind.Transport {
		s.T.Errorf("got %v, want %s", e, s.Kind.Transport)
	}
	c.Flush()
}

// sdkOffCaddyfile is an edge whose HTTP/3 is Caddy's, which would wait for browsers
// to close their connections when it stops.
var sdkOffCaddyfile = strings.NewReplacer("pubsub {", "pubsub {\n\t\twebtransport off", "admin ", "grace_period 1s\n\tadmin ").Replace(harness.DefaultCaddyfile)

// One transport alone is all that is tried.
func sdkForced(s *sdk.Stage) {
	c := s.Client()
	_, err := c.Try(s.Connecting(s.Kind, sdk.Options{ConnectTimeout: 3000}))
	if s.Kind.Transport == "websocket" && err != nil {
		s.T.Errorf("got %v", err)
	}
	if s.Kind.Transport == "webtransport" {
		if err == nil || err.Code == "" {
			s.T.Errorf("got %v, want an error with a code: the edge has no WebTransport", err)
		}
		c.Never("connected")
	}
}

// Where there is no WebTransport, WebSocket is taken.
func sdkFallsBack(s *sdk.Stage) {
	c := s.Connect(sdk.Options{Transports: bothTransports})
	if e := c.Event("connected"); e.Transport != "websocket" {
		s.T.Errorf("got %v, want websocket", e)
	}
	c.Flush()
}

// sdkNoUDPCaddyfile is an edge whose UDP port belongs to nobody: see blockUDP.
var sdkNoUDPCaddyfile = strings.Replace(harness.DefaultCaddyfile, "admin ", "servers {\n\t\tprotocols h1 h2\n\t}\n\tadmin ", 1)

// Where packets of QUIC get lost, WebSocket starts after the time that is set for
// it. The client remembers that: it does not wait again when it moves.
func sdkWithoutUDP(s *sdk.Stage) {
	const after = 2500 * time.Millisecond
	c := s.Client()
	begin := time.Now()
	id := c.Tell(s.Connecting(s.Kind, sdk.Options{Provider: true, Transports: bothTransports, FallbackAfter: int(after.Milliseconds())}))
	c.Event("tokenWanted")
	first, _ := shortLived(s, 12*time.Second)
	giveToken(c, first)
	if r := c.Answer(id, "connect"); r.Error != nil {
		s.T.Fatal(r.Error)
	}
	took := time.Since(begin)
	if e := c.Event("connected"); e.Transport != "websocket" {
		s.T.Errorf("got %v, want websocket", e)
	}
	if s.Kind.AlsoOver("webtransport") && took < after {
		s.T.Errorf("WebSocket was there after %v, want that it starts after %v", took, after)
	}
	c.Event("tokenWanted")
	giveToken(c, s.Edges[0].Issue(harness.AllowAll(s.Room)))
	moving := c.Event("moving")
	moved := c.Event("moved")
	if moved.Transport != "websocket" || moved.At.Sub(moving.At) >= after {
		s.T.Errorf("got %v after %v, want websocket, and no wait for WebTransport", moved, moved.At.Sub(moving.At))
	}
	c.Never("disconnected")
}

// blockUDP takes the packets that come to the edge's port, and says nothing.
func blockUDP(t *testing.T, e *harness.Edge) {
	t.Helper()
	var packets atomic.Int64
	for _, host := range []string{"127.0.0.1", "::1"} {
		socket, err := net.ListenPacket("udp", net.JoinHostPort(host, strconv.Itoa(e.HTTPS)))
		if err != nil && host == "::1" {
			continue // not every machine has IPv6
		}
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() { // ends with the socket
			defer close(done)
			buffer := make([]byte, 2048)
			for {
				if _, _, err := socket.ReadFrom(buffer); err != nil {
					return
				}
				packets.Add(1)
			}
		}()
		t.Cleanup(func() {
			socket.Close()
			<-done
		})
	}
	t.Cleanup(func() {
		if packets.Load() == 0 && len(sdk.KindsOver("webtransport")) > 0 {
			t.Error("nobody tried UDP")
		}
	})
}
