package load

import (
	"net/http"
	"sync"
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
	issue := harness.Call{Method: "POST", URL: "/v1/get-token", Token: e.Master, Body: e.Encode(harness.TokenRequest(harness.AllowAll("room")))}
	var issuing sync.WaitGroup
	for range 20 {
		issuing.Go(func() {
			for range harness.AtLength(10, 5_000) {
				if a, err := e.Try(issue); err != nil || a.Status != http.StatusOK {
					t.Errorf("a token: %v %d %s", err, a.Status, a.Body)
					return
				}
			}
		})
	}
	issuing.Wait()
	c := &crowd{N: harness.AtLength(20, 10_000)}
	c.start(t, e)
	ada := e.Console().Login("ada", harness.AdaPassword)
	for _, path := range []string{
		"tokens?limit=50", "tokens?limit=50&tenant=paint.none", "tokens?limit=50&created_by=nobody", "tokens?limit=50&status=revoked",
		"tokens?limit=50&id=ffff", "connections?limit=50", "connections?limit=50&tenant=paint.none", "connections?limit=50&ip=192.0.2.0/24", "overview", "edges",
	} {
		var took latencies
		for range harness.AtLength(1, 20) {
			begin := time.Now()
			ada.Get(path).Decode(t, http.StatusOK, new(harness.Object))
			took.add(time.Since(begin))
		}
		t.Logf("%s: %v", path, &took)
	}
	if harness.Soaking {
		chrome := &browser.Browser{T: t, Name: "chromium", Driver: browser.StartChromium(t), Context: t.Name()}
		page := chrome.Open("console", e.HttpURL("/console"), "")
		page.SignIn("ada", harness.AdaPassword)
		l := startTraffic(e, 1, 100, 100)
		for i := range 24 {
			at := (i + i/2) % 2                                     // in pairs, with the page open first in every other one: the machine changes
			page.GoTo([]string{"Master tokens", "Connections"}[at]) // the former asks once
			l.apart.Store(at == 1)
			l.awaitMore(100_000)
		}
		l.end()
		t.Logf("messages: page closed %v; open %v", &l.usual, &l.meanwhile)
	}
	c.end("crowd:")
}
