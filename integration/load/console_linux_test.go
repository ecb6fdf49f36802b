package load

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/browser"
	"github.com/millrace/millrace/integration/harness"
)

// How long the console's lists take with many tokens and connections, and what its page costs
// others: a soak compares the latency of messages with the page open and closed, in turns.
func TestConsoleLoad(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.ConsoleCaddyfile)
	fillTokens(e, harness.AtLength(200, 100_000))
	ada := e.Console().Login("ada", harness.AdaPassword)
	c := &crowd{N: harness.AtLength(20, 10_000)}
	clients := c.Start(t, e)
	for _, path := range []string{
		"tokens?limit=50", "tokens?limit=50&tenant=paint.none", "tokens?limit=50&created_by=nobody", "tokens?limit=50&status=revoked",
		"tokens?limit=50&id=ffff", "connections?limit=50", "connections?limit=50&tenant=paint.none", "connections?limit=50&ip=192.0.2.0/24", "overview", "edges",
	} {
		var took latencies
		for range harness.AtLength(1, 20) {
			begin := time.Now()
			ada.Get(path).Decode(t, http.StatusOK, new(harness.Object))
			took.Add(time.Since(begin))
		}
		t.Logf("%s: %v", path, &took)
	}
	if harness.Soaking {
		chrome := &browser.Browser{T: t, Name: "chromium", Driver: browser.StartChromium(t), Context: t.Name()}
		page := chrome.Open("console", e.HttpURL("/console"), "")
		page.SignIn("ada", harness.AdaPassword)
		l := startTraffic(t, e, e, 1, 100, 10*time.Millisecond)
		for i := range 24 {
			at := (i + i/2) % 2                                     // in pairs, with the page open first in every other one: the machine changes
			page.GoTo([]string{"Master tokens", "Connections"}[at]) // the former asks once
			l.apart.Store(at == 1)
			l.AwaitMore(100_000)
		}
		l.End()
		t.Logf("messages: page closed %v; open %v", &l.usual, &l.meanwhile)
	}
	clients.End("crowd:")
}

// fillTokens gives the edge's store n access tokens more, as copies of one.
func fillTokens(e *harness.Edge, n int) {
	e.T.Helper()
	e.Issue(harness.AllowAll("room"))
	lines := strings.Split(strings.TrimSpace(e.AdminCLI("backup", "-").Want(0, "", "").Out), "\n")
	record := map[string]any{}
	for _, line := range lines {
		if strings.Contains(line, `"kind":"access"`) {
			e.Must(json.Unmarshal([]byte(line), &record))
		}
	}
	var text bytes.Buffer
	fmt.Fprintln(&text, lines[0])
	for range n {
		record["id"] = harness.RandomHex()
		text.Write(append(e.Encode(record), '\n'))
	}
	fmt.Fprintf(&text, `{"records":%d,"sha256":"%x"}`+"\n", n, sha256.Sum256(text.Bytes()))
	file := filepath.Join(e.T.TempDir(), "tokens.backup")
	e.Must(os.WriteFile(file, text.Bytes(), 0o600))
	e.AdminCLI("restore", file).Want(0, fmt.Sprint(n), "")
}
