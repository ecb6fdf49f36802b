package integration

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// A backlog in the edge costs its queue.
const wideQueue = `
		limits {
			send_queue 32MiB
		}
`

// webTransportTests are about the protocol, as a browser speaks it. Its
// certificate is accepted by the hash alone: no authority is trusted.
func webTransportTests(t *testing.T, c *browser) {
	e := startEdge(t, "{"+globalOptions+"\tpubsub {"+pubsubStore+defaultMaster+fastBandwidth+wideQueue+"\t}\n}\n"+sites, forBrowsers)
	hash := leafHash(t, e.HTTPS)
	b := browserEdge{e, hex.EncodeToString(hash[:])}
	c.run(t, "authentication", b.authentication)
	c.run(t, "streams of their own", b.ownStreams)
	c.run(t, "revocation", b.revocation)
}

// browserEdge is an edge with what a browser needs to connect.
type browserEdge struct {
	*edge
	hash string
}

// A wtTab is a page that has or gets a session; see clients/webtransport_page.js.
type wtTab struct{ tab }

// A wtMessage is a line, a message of a deliver frame, or the end.
type wtMessage struct {
	Line, Tenant, Channel, Payload, End string
	Patterns                            []string
}

// page is one from which WebTransport can be used: localhost is a secure context.
func (b browserEdge) page(c *browser, name string) wtTab {
	c.t.Helper()
	return wtTab{c.open(name, b.httpURL("/ping"), script(c.t, "webtransport_page.js"))}
}

// connect opens a session, with these options beside the hash, and returns the
// protocol that the edge has chosen.
func (b browserEdge) connect(p wtTab, options object) (protocol string) {
	p.t.Helper()
	all := object{"url": b.httpsURL("/wt"), "hash": b.hash}
	for name, value := range options {
		all[name] = value
	}
	p.evaluate(&protocol, `wt.open(%s)`, all)
	return protocol
}

// authenticated opens a session as a browser does best.
func (b browserEdge) authenticated(c *browser, name, token string) wtTab {
	c.t.Helper()
	p := b.page(c, name)
	b.connect(p, object{})
	p.line("AUTH:" + token)
	p.wantLine("OK:AUTH")
	return p
}

func (p wtTab) line(text string) {
	p.t.Helper()
	p.evaluate(nil, `wt.line(%s)`, text)
}

func (p wtTab) want(want wtMessage, from string) {
	p.t.Helper()
	var got wtMessage
	if p.evaluate(&got, `wt.`+from+`()`); fmt.Sprint(got) != fmt.Sprint(want) && !p.stalled(got, want) {
		p.t.Fatalf("got %+v, want %+v", got, want)
	}
}

// stalled is [socket.stalled] for a browser; the code is looked at by wantClosed.
func (p wtTab) stalled(got, want wtMessage) bool {
	p.t.Helper()
	if soaking || got.End == "" || !strings.HasPrefix(want.Line, "ERR:") {
		return false
	}
	p.t.Logf("the session has ended before the browser read %s: %s", want.Line, got.End)
	return stalls.Add(1) <= 3
}

func (p wtTab) wantLine(line string) {
	p.t.Helper()
	p.want(wtMessage{Line: line}, "next")
}

// wantClosed requires that the session has ended with this code.
func (p wtTab) wantClosed(code int) {
	p.t.Helper()
	var got struct {
		CloseCode int
		Error     string
	}
	if p.evaluate(&got, `wt.closed()`); got.CloseCode != code || got.Error != "" {
		p.t.Errorf("the session ended with %+v, want the code %d", got, code)
	}
}

// authentication goes through the ways in which a token can come. A browser
// that does not know an option passes over it: then the edge sees no token.
func (b browserEdge) authentication(c *browser) {
	token := b.issue(allowAll("room")).Token
	for _, way := range []struct {
		option   string
		value    any
		protocol string
	}{
		{"headers", object{"Authorization": "Bearer " + token}, ""},
		{"protocols", []string{"llps.v1", "at." + token}, "llps.v1"},
		{"", nil, ""},
	} {
		var known []string
		p := b.page(c, "way "+way.option)
		p.evaluate(&known, `wt.known(["headers", "protocols", "serverCertificateHashes"])`)
		if !slices.Contains(known, "serverCertificateHashes") {
			c.t.Fatalf("this browser knows the options %q: it cannot accept a certificate by its hash", known)
		}
		options := object{}
		if way.option != "" {
			options[way.option] = way.value
		}
		got := b.connect(p, options)
		if slices.Contains(known, way.option) {
			c.t.Logf("this browser knows the option %s: the token comes with the handshake", way.option)
			if got != way.protocol {
				c.t.Errorf("%s: the edge chose the protocol %q, want %q", way.option, got, way.protocol)
			}
		} else {
			if way.option != "" {
				c.t.Logf("this browser does not know the option %s: the edge sees no token", way.option)
			}
			p.line("SUB:paint.room:news.*")
			p.wantLine("ERR:unauthorized")
			p.wantClosed(4401)
			p = b.authenticated(c, "again "+way.option, token)
		}
		p.line("SUB:paint.room:news.*")
		p.wantLine("OK:SUB:paint.room:news.*")
		p.evaluate(nil, `wt.publish("paint.room", "news.today", "Grüße")`)
		p.want(wtMessage{Tenant: "paint.room", Channel: "news.today", Payload: "Grüße", Patterns: []string{"news.*"}}, "next")
		p.line("PING")
		p.wantLine("PONG")
	}
}

// ownStreams checks that a subscription with a stream of its own goes on while
// nobody reads the bidirectional stream.
func (b browserEdge) ownStreams(c *browser) {
	const size = 64 << 10 // bytes
	messages := 160       // together 10 MiB: more than Chromium buffers
	if c.name == "firefox" {
		messages = 320 // 20 MiB: it buffers up to 12 MiB of a stream
	}
	issued := b.issue(allowAll("room"))
	token, id := issued.Token, issued.TokenID
	p := b.authenticated(c, "tab", token)
	p.line("SUB:paint.room:big")
	p.wantLine("OK:SUB:paint.room:big")
	p.evaluate(nil, `wt.alone("SUB:U:paint.room:small.*\n")`)
	p.evaluate(nil, `wt.accept()`)
	p.want(wtMessage{Line: "OK:SUB:paint.room:small.*"}, "nextOf")

	publisher := b.with(c.t).dial(token)
	for n := range messages {
		number := fmt.Sprintf("%d ", n)
		publisher.publish("paint.room", "big", number+strings.Repeat("x", size-len(number)))
	}
	publisher.fence()
	for n := range 20 {
		text := fmt.Sprintf("small %d", n)
		publisher.publish("paint.room", "small.a", text)
		p.want(wtMessage{Tenant: "paint.room", Channel: "small.a", Payload: text, Patterns: []string{"small.*"}}, "nextOf")
	}
	queued := 0
	for _, bytes := range b.sessions(c.t, id) {
		queued += bytes
	}
	if queued < 1<<20 {
		c.t.Errorf("%d bytes wait in the edge: the browser has taken the rest of the backlog, which blocks nothing", queued)
	}

	var got struct {
		Count, Bytes int
		Others       []string
		InOrder      bool
		End          string
	}
	p.evaluate(&got, `wt.many(%s)`, messages)
	if got.Count != messages || got.Bytes != messages*size || !got.InOrder || len(got.Others) > 0 {
		c.t.Errorf("of the backlog came %+v, want %d messages of %d bytes in order, and nothing else", got, messages, size)
	}
	p.evaluate(nil, `wt.alone("UNSUB:U:paint.room:small.*\n")`)
	p.wantLine("OK:UNSUB:paint.room:small.*")
	p.want(wtMessage{End: "FIN"}, "nextOf")
	publisher.must(publisher.leave())

	// The page's own end is the edge's, too, without a wait for the idle timeout.
	// (A tab that is closed may leave its session to that.)
	p.evaluate(nil, `wt.close(1000)`)
	p.wantClosed(1000)
	b.with(c.t).poll("the end of the session", func() bool { return len(b.sessions(c.t, id)) == 0 })
}

// sessions returns how many bytes wait for each of a token's sessions over
// WebTransport.
func (b browserEdge) sessions(t *testing.T, tokenID string) (queued []int) {
	t.Helper()
	var got struct {
		Connections []struct {
			Transport   string
			TokenID     string `json:"token_id"`
			QueuedBytes int    `json:"queued_bytes"`
		}
	}
	b.adminCall(http.MethodGet, "/pubsub/connections", nil).decode(t, http.StatusOK, &got)
	for _, connection := range got.Connections {
		if connection.Transport == "webtransport" && connection.TokenID == tokenID {
			queued = append(queued, connection.QueuedBytes)
		}
	}
	return queued
}

// revocation checks that the browser gets the reason, before the end and in it.
func (b browserEdge) revocation(c *browser) {
	token := b.issue(allowAll("room"))
	p := b.authenticated(c, "tab", token.Token)
	p.line("SUB:paint.room:#")
	p.wantLine("OK:SUB:paint.room:#")
	b.revoke(b.master, token.Token)
	p.wantLine("ERR:token_revoked")
	p.wantClosed(4403)
}
