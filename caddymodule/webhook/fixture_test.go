package webhook

import (
	"crypto/hmac"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/millrace/millrace/pubsub/hook"
	"github.com/millrace/millrace/wire"
)

const secret = "a secret of some length"

// receiver is a backend: a real HTTPS server. It checks every signature.
type receiver struct {
	*testing.T
	server *httptest.Server
	ca     string

	mu       sync.Mutex
	ids      []string // of all requests
	bodies   [][]byte // likewise
	batches  []batch  // that were taken
	asked    []event
	statuses []int // of the next answers; empty: 200
	answer   string
	header   http.Header
	block    chan struct{}          // not nil: requests wait for it to be closed
	arrived  chan struct{}          // gets one for each request
	logs     *observer.ObservedLogs // of the hook that was opened last
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{T: t, arrived: make(chan struct{}, 1000), answer: `{"allow":true}`, header: http.Header{}}
	r.server = httptest.NewTLSServer(r)
	t.Cleanup(r.server.Close)
	r.ca = authority(t, r.server)
	return r
}

// authority writes the certificate of a server to a file, for its clients.
func authority(t *testing.T, server *httptest.Server) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "ca.pem")
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(file, cert, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return // the client has gone
	}
	seconds, _ := strconv.ParseInt(req.Header.Get("webhook-timestamp"), 10, 64)
	at := time.Unix(seconds, 0)
	id := req.Header.Get("webhook-id")
	if want := signature([]byte(secret), id, at, body); !hmac.Equal([]byte(req.Header.Get("webhook-signature")), []byte(want)) {
		r.Errorf("the signature is %q", req.Header.Get("webhook-signature"))
	}
	if age := time.Since(at).Abs(); age > time.Minute {
		r.Errorf("the timestamp is %v away", age)
	}
	r.mu.Lock()
	block := r.block
	status := http.StatusOK
	if len(r.statuses) > 0 {
		status, r.statuses = r.statuses[0], r.statuses[1:]
	}
	r.ids, r.bodies = append(r.ids, id), append(r.bodies, body)
	r.mu.Unlock()
	r.arrived <- struct{}{}
	if block != nil {
		select {
		case <-block:
		case <-req.Context().Done():
			return
		}
	}
	var got struct {
		batch
		Ask *event `json:"ask"`
	}
	if err := json.Unmarshal(body, &got); err != nil || got.ID != id || got.Edge != instance() {
		r.Errorf("the body %s: %v", body, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, values := range r.header {
		w.Header()[name] = values
	}
	w.WriteHeader(status)
	switch {
	case status != http.StatusOK:
	case got.Ask != nil:
		r.asked = append(r.asked, *got.Ask)
		_, _ = io.WriteString(w, r.answer)
	default:
		r.batches = append(r.batches, got.batch)
	}
}

// await waits for n requests.
func (r *receiver) await(n int) {
	r.Helper()
	for range n {
		select {
		case <-r.arrived:
		case <-time.After(3 * time.Minute):
			r.Fatal("no request in 20 s")
		}
	}
}

// set changes how the receiver answers.
func (r *receiver) set(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
}

// taken are the batches until now.
func (r *receiver) taken() []batch {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.batches
}

// open provisions a hook for the receiver, as Caddy does.
func (r *receiver) open(change func(*Webhook)) *Webhook {
	r.Helper()
	r.Setenv("TEST_WEBHOOK_SECRET", secret)
	h := &Webhook{URL: r.server.URL + "/secret-path", Secret: "{env.TEST_WEBHOOK_SECRET}", CA: r.ca, BatchDelay: caddy.Duration(time.Millisecond)}
	if change != nil {
		change(h)
	}
	o, err := h.options()
	if err != nil {
		r.Fatal(err)
	}
	core, logs := observer.New(zap.WarnLevel)
	r.logs = logs
	h.worker = newWorker(o, zap.New(core))
	r.Cleanup(func() {
		if err := h.worker.Destruct(); err != nil {
			r.Error(err)
		}
	})
	return h
}

func client(id uint64, token string) hook.Client {
	return hook.Client{ID: id, TokenID: token, Tenants: []string{"t"}, IP: netip.MustParseAddr("192.0.2.1"), Transport: "websocket"}
}

var goodbye = hook.Disconnection{Code: wire.CloseForbidden, Reason: "token_revoked", After: 1500 * time.Millisecond}

// awaitTrue waits until something is so.
func awaitTrue(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(3 * time.Minute); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("20 s in vain for %s", what)
		}
	}
}

// listenTLS serves a receiver at an address again.
func listenTLS(t *testing.T, address string, r *receiver) *http.Server {
	t.Helper()
	ln, err := tls.Listen("tcp", address, r.server.TLS)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: r}
	go func() { _ = server.Serve(ln) }()
	return server
}
