package browsers

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/millrace/millrace/integration/browser"
	"github.com/millrace/millrace/integration/harness"
)

// browserEdge is an edge with what a browser needs to connect: its certificate is accepted by
// the hash alone, no authority is trusted.
type browserEdge struct {
	*harness.Edge
	hash string
}

// A wtTab is a page that has or gets a session; see clients/webtransport_page.js.
type wtTab struct{ browser.Tab }

// A wtMessage is a line, a message of a deliver frame, or the end.
type wtMessage struct {
	Line, Tenant, Channel, Payload, End string
	Patterns                            []string
}

// open opens a session, with these options beside the hash, from a page that may: localhost is
// a secure context. It returns the protocol that the edge has chosen.
func (b browserEdge) open(c *browser.Browser, name string, options harness.Object) (p wtTab, protocol string) {
	c.T.Helper()
	p = wtTab{c.Open(name, b.HttpURL("/ping"), script(c.T, "webtransport_page.js"))}
	options["url"], options["hash"] = b.HttpsURL("/wt"), b.hash
	p.Evaluate(&protocol, `wt.open(%s)`, options)
	return p, protocol
}

// ask sends a line and requires the answer.
func (p wtTab) ask(line, answer string) {
	p.T.Helper()
	p.Evaluate(nil, `wt.line(%s)`, line)
	p.want(wtMessage{Line: answer})
}

// want requires that this is what comes next. A refusal may get lost with the end of the
// session, as [socket.stalled] allows; its code is looked at by wantClosed.
func (p wtTab) want(want wtMessage) {
	p.T.Helper()
	var got wtMessage
	if p.Evaluate(&got, `wt.next()`); fmt.Sprint(got) == fmt.Sprint(want) {
		return
	}
	if harness.Soaking || got.End == "" || !strings.HasPrefix(want.Line, "ERR:") || harness.Stalls.Add(1) > 3 {
		p.T.Fatalf("got %+v, want %+v", got, want)
	}
}

// wantClosed requires that the session has ended with this code.
func (p wtTab) wantClosed(code int) {
	p.T.Helper()
	var got struct {
		CloseCode int
		Error     string
	}
	if p.Evaluate(&got, `wt.closed()`); got.CloseCode != code || got.Error != "" {
		p.T.Errorf("the session ended with %+v, want the code %d", got, code)
	}
}

// webTransportTest goes through the ways in which a token can come. A browser that does not
// know an option passes over it: then the edge sees no token.
func webTransportTest(c *browser.Browser) {
	e := harness.StartEdge(c.T, harness.DefaultCaddyfile, harness.ForBrowsers)
	hash := harness.LeafHash(c.T, e.HTTPS)
	b, issued := browserEdge{e, hex.EncodeToString(hash[:])}, e.Issue(harness.AllowAll("room"))
	for _, way := range []struct {
		option   string
		value    any
		protocol string
	}{
		{"headers", harness.Object{"Authorization": "Bearer " + issued.Token}, ""},
		{"protocols", []string{"llps.v1", "at." + issued.Token}, "llps.v1"},
		{"none", nil, ""},
	} {
		p, protocol := b.open(c, "way "+way.option, harness.Object{way.option: way.value})
		var known bool
		if p.Evaluate(&known, `wt.knows(%s)`, way.option); !known {
			p.ask("SUB:paint.room:news.*", "ERR:unauthorized")
			p.wantClosed(4401)
			p, protocol = b.open(c, "again "+way.option, harness.Object{})
			way.protocol = ""
			p.ask("AUTH:"+issued.Token, "OK:AUTH")
		}
		if protocol != way.protocol {
			c.T.Errorf("%s: the edge chose the protocol %q, want %q", way.option, protocol, way.protocol)
		}
		p.ask("SUB:paint.room:news.*", "OK:SUB:paint.room:news.*")
		p.Evaluate(nil, `wt.publish("paint.room", "news.today", "Grüße")`)
		p.want(wtMessage{Tenant: "paint.room", Channel: "news.today", Payload: "Grüße", Patterns: []string{"news.*"}})
		p.ask("PING", "PONG")
		// The page's own end is the edge's, too, without a wait for the idle timeout.
		// (A tab that is closed may leave its session to that.)
		p.Evaluate(nil, `wt.close(1000)`)
		p.wantClosed(1000)
		harness.AwaitConnections(e, 0)
	}
}
