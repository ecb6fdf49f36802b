package webhook

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"
)

// openFor is a hook that asks a backend.
func openFor(t *testing.T, url, ca string) *Webhook {
	t.Helper()
	t.Setenv("TEST_WEBHOOK_SECRET", secret)
	h := &Webhook{URL: url, Secret: "{env.TEST_WEBHOOK_SECRET}", CA: ca, Events: []string{"none"}, Ask: &Ask{
		Before: []string{"connect"}, OnSilence: "refuse", Timeout: caddy.Duration(4 * time.Second),
	}}
	o, err := h.options()
	if err != nil {
		t.Fatal(err)
	}
	h.worker = newWorker(o, zap.NewNop())
	t.Cleanup(func() { _ = h.worker.Destruct() })
	return h
}

// A question that finds a connection of before closed is asked again, once, over a new one; and
// not once anything of the answer has come, or on a connection that is new.
func TestAskOverClosedConnection(t *testing.T) {
	for name, c := range map[string]struct {
		fail    func(request int, conn net.Conn) // closes the connection in place of an answer
		http2   bool
		allowed bool // the second question
		want    int  // requests, with the first question's
	}{
		"closed":              {fail: func(n int, conn net.Conn) { closeIf(n == 2, conn, "") }, allowed: true, want: 3},
		"closed, HTTP/2":      {fail: func(n int, conn net.Conn) { closeIf(n == 2, conn, "") }, http2: true, allowed: true, want: 3},
		"closed twice":        {fail: func(n int, conn net.Conn) { closeIf(n == 2 || n == 3, conn, "") }, want: 3},
		"closed in an answer": {fail: func(n int, conn net.Conn) { closeIf(n == 2, conn, "HTTP/1.1 200 O") }, want: 2},
		"closed when new":     {fail: func(n int, conn net.Conn) { closeIf(n == 1, conn, "") }, want: 2, allowed: true},
	} {
		t.Run(name, func(t *testing.T) {
			var requests atomic.Int32
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if _, err := io.ReadAll(r.Body); err == nil {
					c.fail(int(requests.Add(1)), r.Context().Value(connKey{}).(net.Conn))
				}
				_, _ = io.WriteString(w, `{"allow":true}`)
			}))
			server.EnableHTTP2 = c.http2
			server.Config.ConnContext = withConn
			server.StartTLS()
			defer server.Close()
			h := openFor(t, server.URL, authority(t, server))
			first := h.AuthorizeConnect(t.Context(), client(1, "a"))
			if (first == nil) != (name != "closed when new") {
				t.Errorf("the first question: %v", first)
			}
			if err := h.AuthorizeConnect(t.Context(), client(2, "a")); (err == nil) != c.allowed {
				t.Errorf("the second question: %v", err)
			}
			if n := int(requests.Load()); n != c.want {
				t.Errorf("%d requests, want %d", n, c.want)
			}
		})
	}
}

type connKey struct{}

func withConn(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, conn)
}

func closeIf(now bool, conn net.Conn, after string) {
	if now {
		_, _ = io.WriteString(conn, after)
		_ = conn.Close()
	}
}

// Questions that come as Node's own server closes its connections are answered: it does that 1 ms
// after each answer here, when the next question is on its way.
func TestAskNode(t *testing.T) {
	server := httptest.NewTLSServer(nil) // for its certificate
	server.Close()
	dir := t.TempDir()
	own := server.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(own.PrivateKey)
	if err == nil {
		err = errors.Join(
			os.WriteFile(filepath.Join(dir, "key.pem"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}), 0o600),
			os.WriteFile(filepath.Join(dir, "backend.js"), []byte(nodeBackend), 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	ca := authority(t, server)
	node := exec.CommandContext(t.Context(), "node", filepath.Join(dir, "backend.js"), ca, filepath.Join(dir, "key.pem"))
	node.Stderr = os.Stderr
	out, err := node.StdoutPipe()
	if err == nil {
		err = node.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 64)
	n, err := out.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	h := openFor(t, string(line[:n]), ca)
	for i := range 300 {
		if err := h.AuthorizeConnect(t.Context(), client(uint64(i), "a")); err != nil {
			t.Fatalf("question %d: %v", i, err)
		}
	}
}

const nodeBackend = `
const { readFileSync } = require("node:fs");
const [cert, key] = process.argv.slice(2).map((file) => readFileSync(file));
const server = require("node:https").createServer({ cert, key }, (request, response) => {
  request.resume().on("end", () => {
    response.end('{"allow":true}');
    setTimeout(() => request.socket.destroySoon(), Math.random()); // as when keepAliveTimeout is over
  });
});
server.listen(0, "127.0.0.1", () => process.stdout.write("https://127.0.0.1:" + server.address().port));
`
