package browsers

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/browser"
	"github.com/millrace/millrace/integration/harness"
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

// page is one from which WebTransport can be used: localhost is a secure context.
func (b browserEdge) page(c *browser.Browser, name string) wtTab {
	c.T.Helper()
	return wtTab{c.Open(name, b.HttpURL("/ping"), script(c.T, "webtransport_page.js"))}
}

// Connect opens a session, with these options beside the hash, and returns the
// protocol that the edge has chosen.
func (b browserEdge) Connect(p wtTab, options harness.Object) (protocol string) {
	p.T.Helper()
	all := harness.Object{"url": b.HttpsURL("/wt"), "hash": b.hash}
	for name, value := range options {
		all[name] = value
	}
	p.Evaluate(&protocol, `wt.open(%s)`, all)
	return protocol
}

// authenticated opens a session as a browser does best.
func (b browserEdge) authenticated(c *browser.Browser, name, token string) wtTab {
	c.T.Helper()
	p := b.page(c, name)
	b.Connect(p, harness.Object{})
	p.line("AUTH:" + token)
	p.wantLine("OK:AUTH")
	return p
}

func (p wtTab) line(text string) {
	p.T.Helper()
	p.Evaluate(nil, `wt.line(%s)`, text)
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

func (p wtTab) wantLine(line string) {
	p.T.Helper()
	p.Want(wtMessage{Line: line}, "next")
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

// authentication goes through the ways in which a token can come. A browser
// that does not know an option passes over it: then the edge sees no token.
func (b browserEdge) authentication(c *browser.Browser) {
	token := b.Issue(harness.AllowAll("room")).Token
	for _, way := range []struct {
		option   string
		value    any
		protocol string
	}{
		{"headers", harness.Object{"Authorization": "Bearer " + token}, ""},
		{"protocols", []string{"llps.v1", "at." + token}, "llps.v1"},
		{"", nil, ""},
	} {
		var known []string
		p := b.page(c, "way "+way.option)
		p.Evaluate(&known, `wt.known(["headers", "protocols", "serverCertificateHashes"])`)
		if !slices.Contains(known, "serverCertificateHashes") {
			c.T.Fatalf("this browser knows the options %q: it cannot accept a certificate by its hash", known)
		}
		options := harness.Object{}
		if way.option != "" {
			options[way.option] = way.value
		}
		got := b.Connect(p, options)
		if slices.Contains(known, way.option) {
			c.T.Logf("this browser knows the option %s: the token comes with the handshake", way.option)
			if got != way.protocol {
				c.T.Errorf("%s: the edge chose the protocol %q, want %q", way.option, got, way.protocol)
			}
		} else {
			if way.option != "" {
				c.T.Logf("this browser does not know the option %s: the edge sees no token", way.option)
			}
			p.line("SUB:paint.room:news.*")
			p.wantLine("ERR:unauthorized")
			p.wantClosed(4401)
			p = b.authenticated(c, "again "+way.option, token)
		}
		p.line("SUB:paint.room:news.*")
		p.wantLine("OK:SUB:paint.room:news.*")
		p.Evaluate(nil, `wt.publish("paint.room", "news.today", "Grüße")`)
		p.Want(wtMessage{Tenant: "paint.room", Channel: "news.today", Payload: "Grüße", Patterns: []string{"news.*"}}, "next")
		p.line("PING")
		p.wantLine("PONG")
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
	token, id := issued.Token, issued.TokenID
	p := b.authenticated(c, "tab", token)
	p.line("SUB:paint.room:big")
	p.wantLine("OK:SUB:paint.room:big")
	p.Evaluate(nil, `wt.alone("SUB:U:paint.room:small.*\n")`)
	p.Evaluate(nil, `wt.accept()`)
	p.Want(wtMessage{Line: "OK:SUB:paint.room:small.*"}, "nextOf")

	publisher := b.With(c.T).Dial(token)
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
	queued := 0
	for _, bytes := range b.Sessions(c.T, id) {
		queued += bytes
	}
	if queued < 1<<20 {
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
	p.wantLine("OK:UNSUB:paint.room:small.*")
	p.Want(wtMessage{End: "FIN"}, "nextOf")
	publisher.Must(publisher.Leave())

	// The page's own end is the edge's, too, without a wait for the idle timeout.
	// (A tab that is closed may leave its session to that.)
	p.Evaluate(nil, `wt.close(1000)`)
	p.wantClosed(1000)
	b.With(c.T).Poll("the end of the session", func() bool { return len(b.Sessions(c.T, id)) == 0 })
}

// Sessions returns how many bytes wait for each of a token's sessions over
// WebTransport.
func (b browserEdge) Sessions(t *testing.T, tokenID string) (queued []int) {
	t.Helper()
	var got struct {
		Connections []struct {
			Transport   string
			TokenID     string `json:"token_id"`
			QueuedBytes int    `json:"queued_bytes"`
		}
	}
	b.AdminCall(http.MethodGet, "/pubsub/connections", nil).Decode(t, http.StatusOK, &got)
	for _, connection := range got.Connections {
		if connection.Transport == "webtransport" && connection.TokenID == tokenID {
			queued = append(queued, connection.QueuedBytes)
		}
	}
	return queued
}
