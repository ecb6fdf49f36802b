//go:build autobahn

package websocket

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/memory"
	"go.uber.org/zap"
)

// TestAutobahn runs the fuzzing client of the Autobahn test suite, which
// scripts/soak-rfc6455.sh installs, against an echo over this transport. WSTEST is
// the command, AUTOBAHN_CASES narrows the cases, AUTOBAHN_REPORT keeps the report.
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
	out := os.Getenv("AUTOBAHN_REPORT")
	if out == "" {
		out = t.TempDir()
	}
	spec := map[string]any{"outdir": out, "cases": cases(), "exclude-cases": []string{}, "exclude-agent-cases": map[string]any{}}
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
		server := &http.Server{Handler: handler, ReadHeaderTimeout: patience}
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
	spec["servers"] = servers
	text, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "spec.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Getenv("WSTEST"), "-m", "fuzzingclient", "-s", file)
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	checkReport(t, out)
}

func cases() []string {
	if c := os.Getenv("AUTOBAHN_CASES"); c != "" {
		return []string{c}
	}
	return []string{"1.*", "2.*", "3.*", "4.*", "5.*", "6.*", "7.*", "9.*", "10.*"}
}

// checkReport fails for every case that is not passed in every respect. What a case
// only informs about is no matter of right or wrong.
func checkReport(t *testing.T, dir string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	var report map[string]map[string]struct{ Behavior, BehaviorClose string }
	if err := json.Unmarshal(b, &report); err != nil {
		t.Fatal(err)
	}
	if len(report) == 0 {
		t.Fatal("the report is empty")
	}
	for agent, results := range report {
		count := map[string]int{}
		for id, r := range results {
			count[r.Behavior]++
			for _, b := range []string{r.Behavior, r.BehaviorClose} {
				if b != "OK" && b != "INFORMATIONAL" {
					t.Errorf("%s: case %s: %s, close %s", agent, id, r.Behavior, r.BehaviorClose)
					break
				}
			}
		}
		t.Logf("%s: %d cases: %v", agent, len(results), count)
	}
}
