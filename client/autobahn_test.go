//go:build autobahn

package client

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/millrace/millrace/internal/autobahn"
)

// TestAutobahn takes the SDK's WebSocket through the fuzzing server of the Autobahn
// test suite; see package autobahn.
func TestAutobahn(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	address := listener.Addr().String()
	listener.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Minute)
	defer cancel()
	var output bytes.Buffer
	suite := autobahn.New(t)
	server := suite.Command(ctx, "fuzzingserver", map[string]any{"url": "ws://" + address, "webport": 0})
	server.Stdout, server.Stderr = &output, &output
	must(t, server.Start())
	defer func() {
		_ = server.Process.Kill()
		_ = server.Wait() // killed
		if t.Failed() {
			t.Log(output.String())
		}
	}()
	for conn, err := net.Dial("tcp", address); ; conn, err = net.Dial("tcp", address) {
		if err == nil {
			conn.Close()
			break
		}
		if ctx.Err() != nil {
			t.Fatal("the fuzzing server does not start")
		}
		time.Sleep(50 * time.Millisecond) // the only sign is that it listens
	}

	said := echoAll(ctx, t, address, "/getCaseCount")
	count, err := strconv.Atoi(said)
	if err != nil || count == 0 {
		t.Fatalf("%q cases", said)
	}
	for n := 1; n <= count; n++ {
		echoAll(ctx, t, address, fmt.Sprintf("/runCase?case=%d&agent=go", n))
	}
	echoAll(ctx, t, address, "/updateReports?agent=go")
	suite.Check()
}

// echoAll sends back all that comes over the SDK's link, and returns the last of it.
func echoAll(ctx context.Context, t *testing.T, address, path string) (last string) {
	t.Helper()
	o := Options{Token: "AT_a", Transports: []Transport{WebSocket}}
	s, err := o.settings()
	must(t, err)
	s.Paths.WebSocket = path
	l, err := s.dialWebSocket(ctx, "http://"+address, "AT_a")
	must(t, err)
	defer l.abort()
	w := l.(*webSocket)
	w.setWaker(func() { _ = w.send(nil) }) // who reads is who writes, here
	for {
		message, frame, err := w.receive()
		if err != nil {
			return last
		}
		last = string(message)
		kind := websocket.TextMessage
		if frame {
			kind = websocket.BinaryMessage
		}
		if path[:4] == "/run" && (w.conn.WriteMessage(kind, message) != nil || w.raw.flush() != nil) {
			return last
		}
	}
}
