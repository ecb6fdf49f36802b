package integration

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// What a console costs an edge with many tokens and connections, and how long its lists
// take. A soak compares the latency of deliveries with the page open and closed, in turns.
func TestConsoleLoad(t *testing.T) {
	t.Parallel()
	tokens, connections := atLength(2_000, 100_000), atLength(200, 10_000)
	e := startEdge(t, consoleCaddyfile)
	e.fillTokens(tokens)
	ada := e.console().login("ada", adaPassword)

	idle := startBackground(t, e.command("pubsub", "bench", "idle", "--url", fmt.Sprintf("ws://localhost:%d/ws", e.HTTP),
		"--connections", fmt.Sprint(connections), "--settle", "1h"))
	e.poll("the connections", func() bool {
		select {
		case <-idle.exited:
			t.Fatalf("the load ended: %s%s", idle.out, idle.err)
		default:
		}
		var list struct{ Edges []struct{ Total int } }
		ada.get("connections?limit=1").decode(t, http.StatusOK, &list)
		return len(list.Edges) == 1 && list.Edges[0].Total >= connections
	})
	for _, path := range []string{
		"tokens?limit=50", "tokens?limit=50&tenant=paint.none", "tokens?limit=50&created_by=nobody", "tokens?limit=50&status=revoked",
		"tokens?limit=50&id=ffff", "connections?limit=50", "connections?limit=50&tenant=paint.none", "connections?limit=50&ip=192.0.2.0/24", "overview", "edges",
	} {
		var took []time.Duration
		for range atLength(1, 20) {
			begin := time.Now()
			for next := path; next != ""; {
				var page struct {
					NextCursor string `json:"next_cursor"`
					Tokens     []struct{}
				}
				ada.get(next).decode(t, http.StatusOK, &page)
				if next = ""; page.NextCursor != "" && len(page.Tokens) < 50 && strings.HasPrefix(path, "tokens") {
					next = path + "&cursor=" + page.NextCursor
				}
			}
			took = append(took, time.Since(begin))
		}
		slices.Sort(took)
		t.Logf("%s: median %v, longest %v", path, took[len(took)/2], took[len(took)-1])
	}

	chrome := &browser{t: t, name: "chromium", driver: startChromium(t), context: t.Name()}
	page := chrome.open("console", e.httpURL("/console"), "")
	page.signIn("ada", adaPassword)
	page.goTo("Connections")
	page.until("document.querySelectorAll('tbody tr').length > 1")
	var rows, before int
	page.evaluate(&rows, "document.querySelectorAll('tr').length")
	if rows > 300 {
		t.Errorf("the page holds %d rows", rows)
	}
	page.evaluate(&before, "performance.memory.usedJSHeapSize")
	// In pairs, with the page open first in every other one: what else the machine does
	// changes from minute to minute.
	var open, closed, ratios []float64
	for i := range atLength(1, 12) {
		var p99 [2]float64
		for j := range p99 {
			at := (i + j) % 2
			page.goTo([]string{"Master tokens", "Connections"}[at]) // the former asks once
			p99[at] = e.latency(t)
		}
		closed, open, ratios = append(closed, p99[0]), append(open, p99[1]), append(ratios, p99[1]/p99[0])
	}
	var after int
	page.evaluate(&after, "performance.memory.usedJSHeapSize")
	t.Logf("p99 of deliveries in µs: closed %.0f, open %.0f; medians %.0f and %.0f; ratios %.2f, median %.2f; the page's heap %d KiB, then %d KiB",
		closed, open, median(closed), median(open), ratios, median(ratios), before>>10, after>>10)
	idle.signal(syscall.SIGINT)
	idle.exitCode()
}

// latency measures the p99 of deliveries, in µs.
func (e *edge) latency(t *testing.T) float64 {
	t.Helper()
	var m measured
	e.pubsub(nil, e.master, "bench", "latency", "--url", fmt.Sprintf("ws://localhost:%d/ws", e.HTTP), "--subscribers", "100",
		"--rate", "100", "--duration", atLength("1s", "10s"), "--json").decode(&m)
	return m.P99
}

func median(list []float64) float64 { return slices.Sorted(slices.Values(list))[len(list)/2] }

// fillTokens gives the edge's store so many access tokens more, as copies of one.
func (e *edge) fillTokens(n int) {
	e.t.Helper()
	e.issue(allowAll("room"))
	backup := e.admin("backup", "-").want(0, "", "").out
	lines := strings.Split(strings.TrimSpace(backup), "\n")
	var record map[string]any
	for _, line := range lines {
		if strings.Contains(line, `"kind":"access"`) {
			if err := json.Unmarshal([]byte(line), &record); err != nil {
				e.t.Fatal(err)
			}
		}
	}
	var text bytes.Buffer
	fmt.Fprintln(&text, lines[0])
	for range n {
		record["id"] = randomHex()
		line, err := json.Marshal(record)
		if err != nil {
			e.t.Fatal(err)
		}
		text.Write(append(line, '\n'))
	}
	sum := sha256.Sum256(text.Bytes())
	fmt.Fprintf(&text, `{"records":%d,"sha256":"%s"}`+"\n", n, hex.EncodeToString(sum[:]))
	file := filepath.Join(e.t.TempDir(), "tokens.backup")
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		e.t.Fatal(err)
	}
	e.admin("restore", file).want(0, fmt.Sprint(n), "")
}
