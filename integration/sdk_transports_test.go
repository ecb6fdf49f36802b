package integration

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
)

var bothTransports = []string{"webtransport", "websocket"}

// Without TLS the token could be read on the way.
func sdkPlaintext(s *sdkStage) {
	c := s.client()
	if _, err := c.try(s.connecting(s.kind, sdkOptions{}, "http://192.0.2.1:8080")); err.ErrorCode() != "bad_option" {
		s.t.Errorf("got %v, want bad_option", err)
	}
	if s.kind.transport == "webtransport" {
		return // which there is none without TLS
	}
	c = s.connect(sdkOptions{}, s.edges[0].httpURL("")) // loopback
	c.publish(s.tenant, "x", "")
	c.flush()
}

var sdkListCaddyfile = strings.Replace(defaultCaddyfile, "\trespond \"no such page\" 404\n",
	"\tpubsub_edges /near {\n\t\tedge localhost:{{.HTTPS}} EU\n\t}\n\trespond \"no such page\" 404\n", 2)

// The address of a list stands for the edges on it.
func sdkList(s *sdkStage) {
	c := s.connect(sdkOptions{}, s.edges[0].httpsURL("/near"))
	if e := c.event("connected"); e.Edge != s.edges[0].httpsURL("") {
		s.t.Errorf("got %v, want the edge of the list, %s", e, s.edges[0].httpsURL(""))
	}
	sub := c.subscribe(s.tenant, "x")
	c.publish(s.tenant, "x", "over the list")
	sub.want(s.tenant, "x", "over the list", "x")
}

// Of several edges the client takes the one that answers soonest, and that takes
// it.
func sdkNearest(s *sdkStage) {
	far := slowPings(s.t, 300*time.Millisecond)
	gone := fmt.Sprintf("http://localhost:%d", closedPort(s.t))
	near := s.edges[0].httpsURL("")
	options := sdkOptions{}
	if s.kind.transport == "webtransport" {
		options.Transports = bothTransports // as plain HTTP has no WebTransport
	}
	c := s.connect(options, far, gone, near)
	if e := c.event("connected"); e.Edge != near {
		s.t.Errorf("got %v, want the nearest edge, %s", e, near)
	}
	c.close()

	// The nearest refuses: a server that is no edge.
	wrong := slowPings(s.t, 0)
	c = s.connect(options, wrong, near)
	if e := c.event("connected"); e.Edge != near {
		s.t.Errorf("got %v, want the edge that takes the client, %s", e, near)
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
func sdkOtherProtocol(s *sdkStage) {
	request := tokenRequest(allowAll(s.room))
	request["right"].(object)["allow_protocols"] = []string{s.kind.transport}
	token := s.edges[0].issueAs(s.edges[0].master, request).Token
	c := s.connect(sdkOptions{Token: token, Transports: bothTransports})
	if e := c.event("connected"); e.Transport != s.kind.transport {
		s.t.Errorf("got %v, want %s", e, s.kind.transport)
	}
	c.flush()
}

// sdkOffCaddyfile is an edge whose HTTP/3 is Caddy's, which would wait for browsers
// to close their connections when it stops.
var sdkOffCaddyfile = strings.NewReplacer("pubsub {", "pubsub {\n\t\twebtransport off", "admin ", "grace_period 1s\n\tadmin ").Replace(defaultCaddyfile)

// One transport alone is all that is tried.
func sdkForced(s *sdkStage) {
	c := s.client()
	_, err := c.try(s.connecting(s.kind, sdkOptions{ConnectTimeout: 3000}))
	if s.kind.transport == "websocket" && err != nil {
		s.t.Errorf("got %v", err)
	}
	if s.kind.transport == "webtransport" {
		if err == nil || err.Code == "" {
			s.t.Errorf("got %v, want an error with a code: the edge has no WebTransport", err)
		}
		c.never("connected")
	}
}

// Where there is no WebTransport, WebSocket is taken.
func sdkFallsBack(s *sdkStage) {
	c := s.connect(sdkOptions{Transports: bothTransports})
	if e := c.event("connected"); e.Transport != "websocket" {
		s.t.Errorf("got %v, want websocket", e)
	}
	c.flush()
}

// sdkNoUDPCaddyfile is an edge whose UDP port belongs to nobody: see blockUDP.
var sdkNoUDPCaddyfile = strings.Replace(defaultCaddyfile, "admin ", "servers {\n\t\tprotocols h1 h2\n\t}\n\tadmin ", 1)

// Where packets of QUIC get lost, WebSocket starts after the time that is set for
// it. The client remembers that: it does not wait again when it moves.
func sdkWithoutUDP(s *sdkStage) {
	const after = 2500 * time.Millisecond
	c := s.client()
	begin := time.Now()
	id := c.tell(s.connecting(s.kind, sdkOptions{Provider: true, Transports: bothTransports, FallbackAfter: int(after.Milliseconds())}))
	c.event("tokenWanted")
	first, _ := s.shortLived(12 * time.Second)
	c.giveToken(first)
	if r := c.answer(id, "connect"); r.Error != nil {
		s.t.Fatal(r.Error)
	}
	took := time.Since(begin)
	if e := c.event("connected"); e.Transport != "websocket" {
		s.t.Errorf("got %v, want websocket", e)
	}
	if s.kind.alsoOver("webtransport") && took < after {
		s.t.Errorf("WebSocket was there after %v, want that it starts after %v", took, after)
	}
	c.event("tokenWanted")
	c.giveToken(s.edges[0].issue(allowAll(s.room)))
	moving := c.event("moving")
	moved := c.event("moved")
	if moved.Transport != "websocket" || moved.At.Sub(moving.At) >= after {
		s.t.Errorf("got %v after %v, want websocket, and no wait for WebTransport", moved, moved.At.Sub(moving.At))
	}
	c.never("disconnected")
}

// blockUDP takes the packets that come to the edge's port, and says nothing.
func blockUDP(t *testing.T, e *edge) {
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
		if packets.Load() == 0 && len(sdkKindsOver("webtransport")) > 0 {
			t.Error("nobody tried UDP")
		}
	})
}
