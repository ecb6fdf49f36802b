package browsers

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/browser"
	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/pubsub"
)

// A backlog in the edge costs its queue.
const wideQueue = `
		limits {
			send_queue 32MiB
		}
`

// webTransportTests are about the protocol, as a browser speaks it. Its
// certificate is accepted by the hash alone: no authority is trusted.
func webTransportTests(t *testing.T, c *browser.Browser) {
	e := harness.StartEdge(t, "{"+harness.GlobalOptions+"\tpubsub {"+harness.PubsubStore+harness.DefaultMaster+harness.FastBandwidth+wideQueue+"\t}\n}\n"+harness.Sites, harness.ForBrowsers)
	hash := harness.LeafHash(t, e.HTTPS)
	b := browserEdge{e, hex.EncodeToString(hash[:])}
	c.Run(t, "authentication", b.authentication)
	c.Run(t, "streams of their own", b.ownStreams)
}

// browserEdge is an edge with what a browser needs to connect.
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
	var known []string // a browser passes over the others
	p.Evaluate(&known, `wt.known(["serverCertificateHashes"])`)
	if len(known) == 0 {
		c.T.Fatal("this browser cannot accept a certificate by its hash")
	}
	options["url"], options["hash"] = b.HttpsURL("/wt"), b.hash
	p.Evaluate(&protocol, `wt.open(%s)`, options)
	return p, protocol
}

// ask sends a line and requires the answer.
func (p wtTab) ask(line, answer string) {
	p.T.Helper()
	p.Evaluate(nil, `wt.line(%s)`, line)
	p.Want(wtMessage{Line: answer}, "next")
}

func (p wtTab) Want(want wtMessage, from string) {
	p.T.Helper()
	var got wtMessage
	if p.Evaluate(&got, `wt.`+from+`()`); fmt.Sprint(got) != fmt.Sprint(want) && !p.stalled(got, want) {
		p.T.Fatalf("got %+v, want %+v", got, want)
	}
}

// stalled is [socket.stalled] for a browser; the code is looked at by wantClosed.
func (p wtTab) stalled(got, want wtMessage) bool {
	p.T.Helper()
	if harness.Soaking || got.End == "" || !strings.HasPrefix(want.Line, "ERR:") {
		return false
	}
	p.T.Logf("the session has ended before the browser read %s: %s", want.Line, got.End)
	return harness.Stalls.Add(1) <= 3
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

// authentication goes through the ways in which a token can come. A browser that does not know
// an option passes over it: then the edge sees no token.
func (b browserEdge) authentication(c *browser.Browser) {
	token := b.Issue(harness.AllowAll("room")).Token
	for _, way := range []struct {
		option   string
		value    any
		protocol string
	}{
		{"headers", harness.Object{"Authorization": "Bearer " + token}, ""},
		{"protocols", []string{"llps.v1", "at." + token}, "llps.v1"},
		{"none", nil, ""},
	} {
		p, protocol := b.open(c, "way "+way.option, harness.Object{way.option: way.value})
		var known []string
		if p.Evaluate(&known, `wt.known([%s])`, way.option); len(known) == 0 {
			p.ask("SUB:paint.room:news.*", "ERR:unauthorized")
			p.wantClosed(4401)
			p, protocol = b.open(c, "again "+way.option, harness.Object{})
			way.protocol = ""
			p.ask("AUTH:"+token, "OK:AUTH")
		}
		if protocol != way.protocol {
			c.T.Errorf("%s: the edge chose the protocol %q, want %q", way.option, protocol, way.protocol)
		}
		p.ask("SUB:paint.room:news.*", "OK:SUB:paint.room:news.*")
		p.Evaluate(nil, `wt.publish("paint.room", "news.today", "Grüße")`)
		p.Want(wtMessage{Tenant: "paint.room", Channel: "news.today", Payload: "Grüße", Patterns: []string{"news.*"}}, "next")
		p.ask("PING", "PONG")
	}
}

// ownStreams checks that a subscription with a stream of its own goes on while
// nobody reads the bidirectional stream.
func (b browserEdge) ownStreams(c *browser.Browser) {
	const size = 64 << 10 // bytes
	messages := 160       // together 10 MiB: more than Chromium buffers
	if c.Name == "firefox" {
		messages = 320 // 20 MiB: it buffers up to 12 MiB of a stream
	}
	issued := b.Issue(harness.AllowAll("room"))
	p, _ := b.open(c, "tab", harness.Object{})
	p.ask("AUTH:"+issued.Token, "OK:AUTH")
	p.ask("SUB:paint.room:big", "OK:SUB:paint.room:big")
	p.Evaluate(nil, `wt.alone("SUB:U:paint.room:small.*\n")`)
	p.Evaluate(nil, `wt.accept()`)
	p.Want(wtMessage{Line: "OK:SUB:paint.room:small.*"}, "nextOf")

	publisher := b.With(c.T).Dial(issued.Token)
	for n := range messages {
		number := fmt.Sprintf("%d ", n)
		publisher.Publish("paint.room", "big", number+strings.Repeat("x", size-len(number)))
	}
	publisher.Fence()
	for n := range 20 {
		text := fmt.Sprintf("small %d", n)
		publisher.Publish("paint.room", "small.a", text)
		p.Want(wtMessage{Tenant: "paint.room", Channel: "small.a", Payload: text, Patterns: []string{"small.*"}}, "nextOf")
	}
	if sessions, queued := b.sessions(c.T, issued.TokenID); sessions != 1 || queued < 1<<20 {
		c.T.Errorf("%d bytes wait in the edge: the browser has taken the rest of the backlog, which blocks nothing", queued)
	}

	var got struct {
		Count, Bytes int
		Others       []string
		InOrder      bool
		End          string
	}
	p.Evaluate(&got, `wt.many(%s)`, messages)
	if got.Count != messages || got.Bytes != messages*size || !got.InOrder || len(got.Others) > 0 {
		c.T.Errorf("of the backlog came %+v, want %d messages of %d bytes in order, and nothing else", got, messages, size)
	}
	p.Evaluate(nil, `wt.alone("UNSUB:U:paint.room:small.*\n")`)
	p.Want(wtMessage{Line: "OK:UNSUB:paint.room:small.*"}, "next")
	p.Want(wtMessage{End: "FIN"}, "nextOf")

	// The page's own end is the edge's, too, without a wait for the idle timeout.
	// (A tab that is closed may leave its session to that.)
	p.Evaluate(nil, `wt.close(1000)`)
	p.wantClosed(1000)
	b.With(c.T).Poll("the end of the session", func() bool { n, _ := b.sessions(c.T, issued.TokenID); return n == 0 })
}

// sessions counts a token's sessions over WebTransport, and the bytes that wait for them.
func (b browserEdge) sessions(t *testing.T, tokenID string) (n, queued int) {
	t.Helper()
	var got struct{ Connections []pubsub.Stat }
	b.AdminCall(http.MethodGet, "/pubsub/connections", nil).Decode(t, http.StatusOK, &got)
	for _, connection := range got.Connections {
		if connection.Transport == "webtransport" && connection.TokenID == tokenID {
			n++
			queued += connection.QueuedBytes
		}
	}
	return n, queued
}
