package harness

import (
	"cmp"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// HookBackend is a backend that an edge asks. It refuses tokens and patterns, and says
// nothing to others, as it is told.
type HookBackend struct {
	*httptest.Server
	t *testing.T

	mu     sync.Mutex
	denied map[string]string // token id or pattern → reason; empty: silence
	events []string          // of connections and members, in order
}

const HookSecret = "a secret of some length"

func StartHookBackend(t *testing.T) *HookBackend {
	b := &HookBackend{
		t: t, denied: map[string]string{"denied": "no entry: not here", "silent": ""},
	}
	b.Server = httptest.NewTLSServer(b)
	t.Cleanup(b.Close)
	return b
}

type hookEvent struct {
	Event, Pattern, Reason, Subject, Channel string
	TokenID                                  string `json:"token_id"`
}

func (b *HookBackend) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Ask    hookEvent // of a connection, or a subscription
		Events []hookEvent
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		return
	}
	b.mu.Lock()
	for _, e := range body.Events {
		b.events = append(b.events, fmt.Sprint(cmp.Or(e.TokenID, e.Subject), " ", e.Event, " ", e.Pattern, e.Reason, e.Channel))
	}
	reason, refused := b.denied[cmp.Or(body.Ask.Pattern, body.Ask.TokenID)]
	b.mu.Unlock()
	if refused && reason == "" {
		<-r.Context().Done() // until the edge has lost patience
		return
	}
	_ = json.NewEncoder(w).Encode(Object{"allow": !refused, "reason": reason})
}

// Refuse makes the backend refuse connections of a token; with no reason, it is silent.
func (b *HookBackend) Refuse(tokenID, reason string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.denied[tokenID] = reason
}

// EventsOf are those of a token, or of a member by its subject, until now, in order.
func (b *HookBackend) EventsOf(tokenID string) (list []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.events {
		if about, found := strings.CutPrefix(e, tokenID+" "); found {
			list = append(list, strings.TrimSpace(about))
		}
	}
	return list
}

// Options are what an edge needs to send to the backend.
func (b *HookBackend) Options() []Option {
	b.t.Helper()
	ca := filepath.Join(b.t.TempDir(), "ca.pem")
	must(b.t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: b.Certificate().Raw}), 0o600))
	return []Option{WithEnv("HOOK_URL=" + b.URL), WithEnv("HOOK_CA=" + ca), WithEnv("HOOK_SECRET=" + HookSecret)}
}
