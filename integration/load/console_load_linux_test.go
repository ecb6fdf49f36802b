package load

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

	"github.com/millrace/millrace/integration/browser"
	"github.com/millrace/millrace/integration/harness"
)

// What a console costs an edge with many tokens and connections, and how long its lists
// take. A soak compares the latency of deliveries with the page open and closed, in turns.
func TestConsoleLoad(t *testing.T) {
	t.Parallel()
	tokens, connections := harness.AtLength(2_000, 100_000), harness.AtLength(200, 10_000)
	e := harness.StartEdge(t, harness.ConsoleCaddyfile)
	fillTokens(e, tokens)
	ada := e.Console().Login("ada", harness.AdaPassword)

	idle := harness.StartBackground(t, e.Command("pubsub", "bench", "idle", "--url", fmt.Sprintf("ws://localhost:%d/ws", e.HTTP),
		"--connections", fmt.Sprint(connections), "--settle", "1h"))
	e.Poll("the connections", func() bool {
		select {
		case <-idle.Exited:
			t.Fatalf("the load ended: %s%s", idle.Out, idle.Err)
		default:
		}
		var list struct{ Edges []struct{ Total int } }
		ada.Get("connections?limit=1").Decode(t, http.StatusOK, &list)
		return len(list.Edges) == 1 && list.Edges[0].Total >= connections
	})
	for _, path := range []string{
		"tokens?limit=50", "tokens?limit=50&tenant=paint.none", "tokens?limit=50&created_by=nobody", "tokens?limit=50&status=revoked",
		"tokens?limit=50&id=ffff", "connections?limit=50", "connections?limit=50&tenant=paint.none", "connections?limit=50&ip=192.0.2.0/24", "overview", "edges",
	} {
		var took []time.Duration
		for range harness.AtLength(1, 20) {
			begin := time.Now()
			for next := path; next != ""; {
				var page struct {
					NextCursor string `json:"next_cursor"`
					Tokens     []struct{}
				}
				ada.Get(next).Decode(t, http.StatusOK, &page)
				if next = ""; page.NextCursor != "" && len(page.Tokens) < 50 && strings.HasPrefix(path, "tokens") {
					next = path + "&cursor=" + page.NextCursor
				}
			}
			took = append(took, time.Since(begin))
		}
		slices.Sort(took)
		t.Logf("%s: median %v, longest %v", path, took[len(took)/2], took[len(took)-1])
	}

	chrome := &browser.Browser{T: t, Name: "chromium", Driver: browser.StartChromium(t), Context: t.Name()}
	page := chrome.Open("console", e.HttpURL("/console"), "")
	page.SignIn("ada", harness.AdaPassword)
	page.GoTo("Connections")
	page.Until("document.querySelectorAll('tbody tr').length > 1")
	var rows, before int
	page.Evaluate(&rows, "document.querySelectorAll('tr').length")
	if rows > 300 {
		t.Errorf("the page holds %d rows", rows)
	}
	page.Evaluate(&before, "performance.memory.usedJSHeapSize")
	// In pairs, with the page open first in every other one: what else the machine does
	// changes from minute to minute.
	var open, closed, ratios []float64
	for i := range harness.AtLength(1, 12) {
		var p99 [2]float64
		for j := range p99 {
			at := (i + j) % 2
			page.GoTo([]string{"Master tokens", "Connections"}[at]) // the former asks once
			p99[at] = latency(e, t)
		}
		closed, open, ratios = append(closed, p99[0]), append(open, p99[1]), append(ratios, p99[1]/p99[0])
	}
	var after int
	page.Evaluate(&after, "performance.memory.usedJSHeapSize")
	t.Logf("p99 of deliveries in µs: closed %.0f, open %.0f; medians %.0f and %.0f; ratios %.2f, median %.2f; the page's heap %d KiB, then %d KiB",
		closed, open, median(closed), median(open), ratios, median(ratios), before>>10, after>>10)
	idle.Signal(syscall.SIGINT)
	idle.ExitCode()
}

// latency measures the p99 of deliveries, in µs.
func latency(e *harness.Edge, t *testing.T) float64 {
	t.Helper()
	var m harness.Measured
	e.Pubsub(nil, e.Master, "bench", "latency", "--url", fmt.Sprintf("ws://localhost:%d/ws", e.HTTP), "--subscribers", "100",
		"--rate", "100", "--duration", harness.AtLength("1s", "10s"), "--json").Decode(&m)
	return m.P99
}

func median(list []float64) float64 { return slices.Sorted(slices.Values(list))[len(list)/2] }

// fillTokens gives the edge's store so many access tokens more, as copies of one.
func fillTokens(e *harness.Edge, n int) {
	e.T.Helper()
	e.Issue(harness.AllowAll("room"))
	backup := e.AdminCLI("backup", "-").Want(0, "", "").Out
	lines := strings.Split(strings.TrimSpace(backup), "\n")
	var record map[string]any
	for _, line := range lines {
		if strings.Contains(line, `"kind":"access"`) {
			if err := json.Unmarshal([]byte(line), &record); err != nil {
				e.T.Fatal(err)
			}
		}
	}
	var text bytes.Buffer
	fmt.Fprintln(&text, lines[0])
	for range n {
		record["id"] = harness.RandomHex()
		line, err := json.Marshal(record)
		if err != nil {
			e.T.Fatal(err)
		}
		text.Write(append(line, '\n'))
	}
	sum := sha256.Sum256(text.Bytes())
	fmt.Fprintf(&text, `{"records":%d,"sha256":"%s"}`+"\n", n, hex.EncodeToString(sum[:]))
	file := filepath.Join(e.T.TempDir(), "tokens.backup")
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		e.T.Fatal(err)
	}
	e.AdminCLI("restore", file).Want(0, fmt.Sprint(n), "")
}
