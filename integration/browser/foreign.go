package browser

import (
	"bufio"
	"cmp"
	"encoding/hex"
	"encoding/json"
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
	needs   string   // present when scripts/install-test-deps.sh has run
	env     []string // in addition to that of the test
}

var ForeignKinds = []foreignKind{
	{"node ws", []string{"node", "clients/node_client.mjs"}, "clients/node_modules/ws", nil},
	{"python websockets", []string{"clients/.venv/bin/python", "clients/python_client.py"}, "clients/.venv/bin/python", nil},
}

// Foreign is a running client. clients/node_client.mjs lists its commands and events.
type Foreign struct {
	t      *testing.T
	kind   foreignKind
	stdin  io.WriteCloser
	events chan map[string]any // closed when the process has closed its stdout
	fences int
}

// Start runs a client that ends with the test.
func (k foreignKind) Start(t *testing.T) *Foreign {
	t.Helper()
	if _, err := os.Stat(k.needs); err != nil {
		t.Fatalf("%s is not installed (%v): run scripts/install-test-deps.sh", k.Name, err)
	}
	cmd := exec.Command(k.command[0], k.command[1:]...)
	cmd.Stderr = os.Stderr
	cmd.Env = append(os.Environ(), k.env...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	f := &Foreign{t: t, kind: k, stdin: stdin, events: make(chan map[string]any, 1024)}
	stop := make(chan struct{})
	go f.readEvents(stdout, stop) // ends with the process's stdout, or with the test
	t.Cleanup(func() {
		stdin.Close() // the client then ends by itself
		close(stop)
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

func (f *Foreign) readEvents(stdout io.Reader, stop <-chan struct{}) {
	defer close(f.events)
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event map[string]any
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			event = map[string]any{"event": "not JSON", "text": lines.Text()}
		}
		select {
		case f.events <- event:
		case <-stop: // there is no reader any longer: drain the pipe
		}
	}
}

func (f *Foreign) Do(command harness.Object) {
	f.t.Helper()
	line, err := json.Marshal(command)
	if err != nil {
		f.t.Fatal(err)
	}
	if _, err := f.stdin.Write(append(line, '\n')); err != nil {
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

func (f *Foreign) Publish(tenant, channel, payload string) {
	f.t.Helper()
	f.Do(harness.Object{"cmd": "publish", "tenant": tenant, "channel": channel, "payload": hex.EncodeToString([]byte(payload))})
}

func (f *Foreign) Subscribe(tenant string, patterns ...string) {
	f.t.Helper()
	for _, p := range patterns {
		f.Text("SUB:" + tenant + ":" + p)
		f.ExpectText("OK:SUB:" + tenant + ":" + p)
	}
}

// Expect requires that the next event is this one.
func (f *Foreign) Expect(want harness.Object) {
	f.t.Helper()
	select {
	case got, ok := <-f.events:
		if !ok {
			f.t.Fatalf("%s ended, want %v", f.kind.Name, want)
		}
		sortPatterns(got)
		if !reflect.DeepEqual(got, want) {
			f.t.Fatalf("%s reports %v, want %v", f.kind.Name, got, want)
		}
	case <-time.After(harness.WaitTimeout):
		f.t.Fatalf("%s reports nothing for %v, want %v", f.kind.Name, harness.WaitTimeout, want)
	}
}

func (f *Foreign) ExpectText(line string) {
	f.t.Helper()
	f.Expect(harness.Object{"event": "text", "text": line})
}

// ExpectDeliver requires that the next event is this message; the order of the
// patterns is free.
func (f *Foreign) ExpectDeliver(tenant, channel, payload string, patterns ...string) {
	f.t.Helper()
	want := harness.Object{
		"event": "deliver", "tenant": tenant, "channel": channel, "payload": hex.EncodeToString([]byte(payload)),
		"patterns": anySlice(patterns),
	}
	sortPatterns(want)
	f.Expect(want)
}

// Fence requires that nothing is on its way, as [socket.fence].
func (f *Foreign) Fence() {
	f.t.Helper()
	f.fences++
	pair := fmt.Sprintf("fence:n%d", f.fences)
	f.Text("UNSUB:" + pair)
	f.ExpectText("OK:UNSUB:" + pair)
}

func anySlice(s []string) []any {
	out := make([]any, len(s))
	for i, v := range s {
		out[i] = v
	}
	return out
}

// sortPatterns puts the patterns of an event, if it has any, in order.
func sortPatterns(event harness.Object) {
	if patterns, ok := event["patterns"].([]any); ok {
		slices.SortFunc(patterns, func(a, b any) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	}
}
