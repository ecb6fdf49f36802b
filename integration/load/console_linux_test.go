package load

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
)

// How long the console's lists take with many tokens and connections.
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
		"tokens?limit=50&id=ffff", "connections?limit=50", "connections?limit=50&ip=192.0.2.0/24", "overview", "edges",
	} {
		begin, n := time.Now(), harness.AtLength(1, 20)
		for range n {
			ada.Get(path).Decode(t, http.StatusOK, new(harness.Object))
		}
		t.Logf("%s: %v", path, time.Since(begin)/time.Duration(n))
	}
	c.end("crowd:")
}
