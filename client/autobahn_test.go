//go:build autobahn

package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// TestAutobahn takes the SDK's WebSocket through the fuzzing server of the Autobahn
// test suite, which scripts/soak-rfc6455.sh installs. WSTEST is the command,
// AUTOBAHN_CASES narrows the cases, AUTOBAHN_REPORT keeps the report.
func TestAutobahn(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	out := os.Getenv("AUTOBAHN_REPORT")
	if out == "" {
		out = t.TempDir()
	}
	cases := []string{"1.*", "2.*", "3.*", "4.*", "5.*", "6.*", "7.*", "9.*", "10.*"}
	if c := os.Getenv("AUTOBAHN_CASES"); c != "" {
		cases = []string{c}
	}
	spec, err := json.Marshal(map[string]any{
		"url": "ws://" + address, "webport": 0, "outdir": out, "cases": cases,
		"exclude-cases": []string{}, "exclude-agent-cases": map[string]any{},
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "spec.json")
	if err := os.WriteFile(file, spec, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Minute)
	defer cancel()
	var output bytes.Buffer
	server := exec.CommandContext(ctx, os.Getenv("WSTEST"), "-m", "fuzzingserver", "-s", file)
	server.Stdout, server.Stderr = &output, &output
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
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
	checkReport(t, out)
}

// echoAll sends back all that comes over the SDK's link, and returns the last of it.
func echoAll(ctx context.Context, t *testing.T, address, path string) (last string) {
	t.Helper()
	o := Options{Token: "AT_a", Transports: []Transport{WebSocket}}
	s, err := o.settings()
	if err != nil {
		t.Fatal(err)
	}
	s.Paths.WebSocket = path
	l, err := s.dialWebSocket(ctx, "http://"+address, "AT_a")
	if err != nil {
		t.Fatal(err)
	}
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
			if (r.Behavior != "OK" && r.Behavior != "INFORMATIONAL") || (r.BehaviorClose != "OK" && r.BehaviorClose != "INFORMATIONAL") {
				t.Errorf("%s: case %s: %s, close %s", agent, id, r.Behavior, r.BehaviorClose)
			}
		}
		t.Logf("%s: %d cases: %v", agent, len(results), count)
	}
}
