//go:build autobahn

package websocket

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"go.uber.org/zap"

	"github.com/millrace/millrace/internal/autobahn"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/memory"
)

// TestAutobahn runs the fuzzing client of the Autobahn test suite, see
// package autobahn, against an echo over this transport.
func TestAutobahn(t *testing.T) {
	hub := pubsub.NewHub(memory.New(), fastLimits(), zap.NewNop())
	defer func() {
		if err := hub.Close(); err != nil {
			t.Error(err)
		}
	}()
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var u websocket.Upgrader
		conn, err := u.Upgrade(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		start(hub, echo{admit(t, hub, 1<<20)}, conn.NetConn(), nil, zap.NewNop())
	})
	var servers []map[string]string
	for _, secure := range []bool{false, true} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		agent, url := "plain", "ws://"+listener.Addr().String()
		if secure {
			agent, url = "tls", "wss://"+listener.Addr().String()
			listener = tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{certificate(t)}})
		}
		server := &http.Server{Handler: handler, ReadHeaderTimeout: eventTimeout}
		done := make(chan struct{})
		go func() { // ends with Close
			defer close(done)
			_ = server.Serve(listener)
		}()
		defer func() {
			server.Close()
			<-done
		}()
		servers = append(servers, map[string]string{"agent": agent, "url": url})
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Minute)
	defer cancel()
	suite := autobahn.New(t)
	if output, err := suite.Command(ctx, "fuzzingclient", map[string]any{"servers": servers}).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	suite.Check()
}
