package browser

import (
	"bufio"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
)

// A foreignKind is a third-party client in the folder clients.
type foreignKind struct {
	Name    string
	command []string
	needs   string // present when scripts/install-test-deps.sh has run
}

var ForeignKinds = []foreignKind{
	{"node ws", []string{"node", "clients/node_client.mjs"}, "clients/node_modules/ws"},
	{"python websockets", []string{"clients/.venv/bin/python", "clients/python_client.py"}, "clients/.venv/bin/python"},
}

// Foreign is a running client. clients/node_client.mjs lists its commands and events.
type Foreign struct {
	t      *testing.T
	kind   foreignKind
	stdin  io.WriteCloser
	events chan map[string]any // closed when the process has closed its stdout
}

// Start runs a client that ends with the test.
func (k foreignKind) Start(t *testing.T) *Foreign {
	t.Helper()
	if _, err := os.Stat(k.needs); err != nil {
		t.Fatalf("%s is not installed (%v): run scripts/install-test-deps.sh", k.Name, err)
	}
	cmd := exec.Command(k.command[0], k.command[1:]...)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	stdout, failed := cmd.StdoutPipe()
	if err := cmp.Or(err, failed); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	f := &Foreign{t: t, kind: k, stdin: stdin, events: make(chan map[string]any, 1024)}
	go f.readEvents(stdout) // ends with the process's stdout
	t.Cleanup(func() {
		stdin.Close() // the client then ends by itself
		kill := time.AfterFunc(harness.WaitTimeout, func() {
			if err := cmd.Process.Kill(); err != nil {
				t.Error(err)
			}
		})
		defer kill.Stop()
		for range f.events { // until the reader is done with the pipe, as Wait requires
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v", k.Name, err)
		}
	})
	return f
}

func (f *Foreign) readEvents(stdout io.Reader) {
	defer close(f.events)
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event map[string]any
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			event = map[string]any{"event": "not JSON", "text": lines.Text()}
		}
		f.events <- event
	}
}

// next returns the next event.
func (f *Foreign) next(limit time.Duration) (event harness.Object, err error) {
	timeout := time.NewTimer(limit)
	defer timeout.Stop()
	select {
	case event, ok := <-f.events:
		if !ok {
			return nil, errors.New("it ended")
		}
		return event, nil
	case <-timeout.C:
		return nil, fmt.Errorf("nothing for %v", limit)
	}
}

func (f *Foreign) Do(command harness.Object) {
	f.t.Helper()
	if err := json.NewEncoder(f.stdin).Encode(command); err != nil {
		f.t.Fatal(err)
	}
}

// Connect opens a WebSocket; auth is "header" or "subprotocol".
func (f *Foreign) Connect(e *harness.Edge, token, auth string) {
	f.t.Helper()
	f.Do(harness.Object{"cmd": "open", "url": fmt.Sprintf("ws://localhost:%d/ws", e.HTTP), "token": token, "auth": auth})
}

func (f *Foreign) Text(line string) {
	f.t.Helper()
	f.Do(harness.Object{"cmd": "text", "text": line})
}

func (f *Foreign) Subscribe(tenant string, patterns ...string) {
	f.t.Helper()
	for _, p := range patterns {
		f.Text("SUB:" + tenant + ":" + p)
		f.ExpectText("OK:SUB:" + tenant + ":" + p)
	}
}

// Expect requires that the next event is this one; the order of patterns is free.
func (f *Foreign) Expect(want harness.Object) {
	f.t.Helper()
	got, err := f.next(harness.WaitTimeout)
	if patterns, ok := got["patterns"].([]any); ok {
		slices.SortFunc(patterns, func(a, b any) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		f.t.Fatalf("%s reports %v, %v; want %v", f.kind.Name, got, err, want)
	}
}

func (f *Foreign) ExpectText(line string) {
	f.t.Helper()
	f.Expect(harness.Object{"event": "text", "text": line})
}

// ExpectDeliver requires that the next event is this message, with these patterns, in order.
func (f *Foreign) ExpectDeliver(tenant, channel, payload string, patterns ...string) {
	f.t.Helper()
	list := make([]any, len(patterns))
	for i, pattern := range patterns {
		list[i] = pattern
	}
	f.Expect(harness.Object{
		"event": "deliver", "tenant": tenant, "channel": channel, "payload": hex.EncodeToString([]byte(payload)), "patterns": list,
	})
}
