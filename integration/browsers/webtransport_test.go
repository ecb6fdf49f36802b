package browsers

import (
	"encoding/hex"
	"fmt"

	"github.com/millrace/millrace/integration/browser"
	"github.com/millrace/millrace/integration/harness"
)

// A page without SDK has a session, whose token comes among the protocols or in a line. The
// certificate is accepted by its hash alone, no authority is trusted.
func webTransportTest(c *browser.Browser) {
	e := harness.StartEdge(c.T, harness.DefaultCaddyfile, harness.ForBrowsers)
	token, hash := e.Issue(harness.AllowAll("room")).Token, harness.LeafHash(c.T, e.HTTPS)
	for protocol, options := range map[string]harness.Object{
		"llps.v1": {"protocols": []string{"llps.v1", "at." + token}},
		"":        {},
	} {
		// localhost is a secure context; others have no WebTransport.
		p := c.Open("protocol "+protocol, e.HttpURL("/ping"), script(c.T, "webtransport_page.js"))
		want := func(want, expression string, args ...any) {
			c.T.Helper()
			var got any
			if p.Evaluate(&got, expression, args...); fmt.Sprint(got) != want {
				c.T.Fatalf("protocol %q: %s: got %v, want %s", protocol, expression, got, want)
			}
		}
		options["url"], options["hash"] = e.HttpsURL("/wt"), hex.EncodeToString(hash[:])
		want(protocol, `wt.open(%s)`, options)
		if protocol == "" {
			want("map[line:OK:AUTH]", `wt.line(%s).then(wt.next)`, "AUTH:"+token)
		}
		want("map[line:OK:SUB:paint.room:news.*]", `wt.line("SUB:paint.room:news.*").then(wt.next)`)
		want("map[channel:news.today patterns:[news.*] payload:Grüße tenant:paint.room]",
			`wt.publish("paint.room", "news.today", "Grüße").then(wt.next)`)
		want("map[line:PONG]", `wt.line("PING").then(wt.next)`)
		// The page's own end is the edge's, too, without a wait for the idle timeout.
		// (A tab that is closed may leave its session to that.)
		want("map[closeCode:1000 reason:]", `(wt.close(1000), wt.closed())`)
		harness.AwaitConnections(e, 0)
	}
}
