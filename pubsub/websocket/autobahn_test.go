//go:build autobahn

package websocket

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
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
		must(t, hub.Close())
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
	plain, secure := httptest.NewServer(handler), httptest.NewTLSServer(handler)
	defer plain.Close()
	defer secure.Close()
	servers := []map[string]string{
		{"agent": "plain", "url": "ws" + strings.TrimPrefix(plain.URL, "http")},
		{"agent": "tls", "url": "wss" + strings.TrimPrefix(secure.URL, "https")},
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Minute)
	defer cancel()
	suite := autobahn.New(t)
	if output, err := suite.Command(ctx, "fuzzingclient", map[string]any{"servers": servers}).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	suite.Check()
}
