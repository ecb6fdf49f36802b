package takeover

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/certmagic"
	"github.com/quic-go/quic-go"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

// A client hears at its next packet that the process it was connected to is gone, and
// that another one is at its address.
func TestStatelessReset(t *testing.T) {
	storage := &certmagic.FileStorage{Path: t.TempDir()}
	address := unused(t)
	open := func(storage certmagic.Storage) *port {
		g := newGeneration(t, address, "a", func(http.ResponseWriter, *http.Request) {})
		p, err := openPort(g.claims[0].addresses[0], &binding{g.server, g.handler(g.server), g.server.TLSConnPolicies.TLSConfig(caddy.Context{Context: t.Context()})}, storage, zap.NewNop())
		must(t, err)
		return p
	}
	killed := open(storage)
	c := connect(t, address)
	must(t, errorOf(c.get("/")))   // behind it no packet of the handshake is sent again, and takes others along
	must(t, killed.socket.Close()) // no last word
	killed.running.Wait()
	back := open(storage)
	defer func() { _ = back.Destruct() }()
	for end := time.Now().Add(testTimeout); c.quic.Context().Err() == nil; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the client has not heard within %v", testTimeout)
		}
		_ = c.quic.SendDatagram(make([]byte, 100)) // which fails once it has
	}
	if err := context.Cause(c.quic.Context()); !errors.As(err, new(*quic.StatelessResetError)) {
		t.Errorf("the connection ended with %v", err)
	}
}

// The key is made once, whoever asks first.
func TestResetKey(t *testing.T) {
	dir := t.TempDir()
	keys := make([]*quic.StatelessResetKey, 2)
	var all sync.WaitGroup
	for i := range keys {
		all.Go(func() {
			var err error
			keys[i], err = resetKey(&certmagic.FileStorage{Path: dir})
			noError(t, err)
		})
	}
	all.Wait()
	for _, k := range keys {
		if k == nil || *k != *keys[0] || bytes.Equal(k[:], make([]byte, len(k))) {
			t.Fatal("there is more than one key, or an empty one")
		}
	}
	info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(resetKeyName)))
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("others can read the key: %v, %v", info.Mode(), err)
	}
}

// An invalid key stops nobody, and is reported.
func TestBadResetKey(t *testing.T) {
	storage := &certmagic.FileStorage{Path: t.TempDir()}
	must(t, storage.Store(t.Context(), resetKeyName, []byte("secret")))
	core, logs := observer.New(zap.InfoLevel)
	g := newGeneration(t, unused(t), "a", func(http.ResponseWriter, *http.Request) {})
	g.storage, g.log = storage, zap.New(core)
	g.start(t)
	told := logs.FilterMessageSnippet("stateless resets").All()
	if len(told) != 1 {
		t.Fatalf("it was told %d times", len(told))
	}
	text, _ := told[0].ContextMap()["error"].(string)
	if want := resetKeyName + " in Caddy's storage has 6 bytes, and must have 32"; !strings.Contains(text, want) || strings.Contains(text, "secret") {
		t.Errorf("got %q, want %q", text, want)
	}
}
