package conformance

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/wire"
)

// What a client sends and the answers to it, on a connection that stays open.
func linesAndFrames(c *harness.Stage) {
	// Publishes anywhere, subscribes below news only; both in ~, too.
	token := c.IssueAnywhere(
		harness.Grant("paint.room", []string{"#"}, []string{"news.#"}),
		harness.Grant("~", []string{"#"}, []string{"#"}),
		harness.Grant("paint.read", nil, []string{"#"}),
	).Token
	long := strings.Repeat("a", 129)
	pattern256 := "news." + strings.Repeat("b", 251)
	line1024 := "SUB:paint.room:" + strings.Repeat("a", 1024-len("SUB:paint.room:"))
	payload := strings.Repeat("p", 64<<10)

	for _, row := range []struct {
		name    string
		kind    int
		message string
		want    string // a line; empty: nothing
	}{
		{"ping", harness.AsText, "PING", "PONG"},
		{"ping with newline", harness.AsText, "PING\n", "PONG"},
		{"ping with carriage return", harness.AsText, "PING\r\n", "PONG"},
		{"pong", harness.AsText, "PONG", ""},
		{"subscribe", harness.AsText, "SUB:paint.room:news.*", "OK:SUB:paint.room:news.*"},
		{"subscribe with newline", harness.AsText, "SUB:paint.room:news.>\r\n", "OK:SUB:paint.room:news.>"},
		{"subscribe without tenant", harness.AsText, "SUB::x", "OK:SUB:~:x"},
		{"longest pattern", harness.AsText, "SUB:paint.room:" + pattern256, "OK:SUB:paint.room:" + pattern256},
		{"unsubscribe what never was", harness.AsText, "UNSUB:paint.room:x", "OK:UNSUB:paint.room:x"},
		{"unsubscribe without any right", harness.AsText, "UNSUB:paint.other:x", "OK:UNSUB:paint.other:x"},
		{"unsubscribe without tenant", harness.AsText, "UNSUB::x", "OK:UNSUB:~:x"},

		{"no grant for the tenant", harness.AsText, "SUB:paint.other:x", "ERR:permission_denied:SUB:paint.other:x"},
		{"no rule for the pattern", harness.AsText, "SUB:paint.room:#", "ERR:permission_denied:SUB:paint.room:#"},
		{"namespace is not the tenant", harness.AsText, "SUB:room:news", "ERR:permission_denied:SUB:room:news"},
		{"tenant with a space", harness.AsText, "SUB:paint room:x", "ERR:bad_tenant"},
		{"tenant of 129 bytes", harness.AsText, "SUB:" + long + ":x", "ERR:bad_tenant"},
		{"tenant before pattern", harness.AsText, "UNSUB:a b:*a", "ERR:bad_tenant"},
		{"empty pattern", harness.AsText, "SUB:paint.room:", "ERR:bad_pattern"},
		{"wildcard in front", harness.AsText, "SUB:paint.room:*a", "ERR:bad_pattern"},
		{"# within a token", harness.AsText, "SUB:paint.room:a#b", "ERR:bad_pattern"},
		{"# in the middle", harness.AsText, "SUB:paint.room:#.a", "ERR:bad_pattern"},
		{"> in the middle", harness.AsText, "SUB:paint.room:>.a", "ERR:bad_pattern"},
		{"empty token", harness.AsText, "SUB:paint.room:a..b", "ERR:bad_pattern"},
		{"group, for rules only", harness.AsText, "SUB:paint.room:(a|b)", "ERR:bad_pattern"},
		{"?, for rules only", harness.AsText, "SUB:paint.room:?", "ERR:bad_pattern"},
		{"third colon", harness.AsText, "SUB:paint.room:news:x", "ERR:bad_pattern"},
		{"pattern of 257 bytes", harness.AsText, "SUB:paint.room:" + pattern256 + "b", "ERR:bad_pattern"},
		{"pattern of 33 tokens", harness.AsText, "SUB:paint.room:news" + strings.Repeat(".a", 32), "ERR:bad_pattern"},
		{"bad pattern of UNSUB", harness.AsText, "UNSUB:paint.room:*a", "ERR:bad_pattern"},
		{"space behind", harness.AsText, "SUB:paint.room:news ", "ERR:bad_pattern"},

		{"line of 1,024 bytes", harness.AsText, line1024, "ERR:bad_pattern"}, // it is understood
		{"line of 1,024 bytes and newline", harness.AsText, line1024 + "\r\n", "ERR:bad_pattern"},
		{"line of 1,025 bytes", harness.AsText, line1024 + "a", "ERR:bad_request"},
		{"two newlines", harness.AsText, "PING\n\n", "ERR:bad_request"},
		{"JSON", harness.AsText, `{"action":"subscribe","tenant":"paint.room","channel":"news"}`, "ERR:bad_request"},
		{"publish as a line", harness.AsText, "PUB:paint.room:news:hello", "ERR:bad_request"},
		{"lower case", harness.AsText, "sub:paint.room:news", "ERR:bad_request"},
		{"space in front", harness.AsText, " PING", "ERR:bad_request"},
		{"no pattern", harness.AsText, "SUB:paint.room", "ERR:bad_request"},
		{"a server's line", harness.AsText, "OK:SUB:paint.room:news", "ERR:bad_request"},
		{"AUTH", harness.AsText, "AUTH:" + token, "ERR:bad_request"},

		{"deliver frame", harness.AsFrame, string(harness.RawDeliver("paint.room", "news", "x", "news")), "ERR:bad_frame"},
		{"unknown version", harness.AsFrame, "\x03" + string(harness.RawPublish("paint.room", "news", "x")), "ERR:bad_frame"},
		{"unknown delivery", harness.AsFrame, "\x02\x03" + string(harness.RawPublish("paint.room", "news", "x")), "ERR:bad_frame"},
		{"cut in the tenant", harness.AsFrame, string(harness.RawPublish("paint.room", "", "")[:8]), "ERR:bad_frame"},
		{"cut in the channel", harness.AsFrame, string(harness.RawPublish("paint.room", "news", "")[:15]), "ERR:bad_frame"},
		{"publish to a bad tenant", harness.AsFrame, string(harness.RawPublish("paint room", "news", "x")), "ERR:bad_tenant"},
		{"publish to a tenant of 129 bytes", harness.AsFrame, string(harness.RawPublish(long, "news", "x")), "ERR:bad_tenant"},
		{"publish to a pattern", harness.AsFrame, string(harness.RawPublish("paint.room", "news.*", "x")), "ERR:bad_channel"},
		{"publish to no channel", harness.AsFrame, string(harness.RawPublish("paint.room", "", "x")), "ERR:bad_channel"},
		{"publish to a channel of 257 bytes", harness.AsFrame, string(harness.RawPublish("paint.room", pattern256+"b", "x")), "ERR:bad_channel"},
		{"publish without grant", harness.AsFrame, string(harness.RawPublish("paint.other", "news", "x")), "ERR:permission_denied:PUB:paint.other:news"},
		{"publish without rule", harness.AsFrame, string(harness.RawPublish("paint.read", "news", "x")), "ERR:permission_denied:PUB:paint.read:news"},
		{"publish, tagged, without rule", harness.AsFrame, "\x02\x01" + string(harness.RawPublish("paint.read", "a.b", "x")), "ERR:permission_denied:PUB:paint.read:a.b"},
		{"publish nobody hears", harness.AsFrame, string(harness.RawPublish("paint.room", "news", "x")), ""},
		{"payload at the limit", harness.AsFrame, string(harness.RawPublish("paint.room", "news", payload)), ""},
		{"payload a byte over", harness.AsFrame, string(harness.RawPublish("paint.room", "news", payload+"p")), "ERR:payload_too_large:PUB:paint.room:news"},
		{"payload over in ~", harness.AsFrame, string(harness.RawPublish("", "x", payload+"p")), "ERR:payload_too_large:PUB:~:x"},
		{"message at the read limit", harness.AsFrame, string(harness.RawPublish("paint.room", "news", payload+strings.Repeat("p", 4096-18))), "ERR:payload_too_large:PUB:paint.room:news"},
	} {
		c.Run(row.name, func(c *harness.Stage) {
			s := c.Dial(token)
			s.Send(row.kind, []byte(row.message))
			if row.want != "" {
				s.ExpectText(row.want)
			}
			s.Ping() // which would overtake an OK, but no ERR
			s.Fence()
		})
	}
}

func messagesThatClose(c *harness.Stage) {
	token := c.Room()
	over := strings.Repeat("a", 64<<10+4096+1)
	for _, row := range []struct {
		name    string
		kind    int
		message string
		code    wire.CloseCode
	}{
		{"line that is not UTF-8", harness.AsText, "SUB:paint.room:\xff", wire.CloseInvalidUTF8},
		{"cut UTF-8", harness.AsText, "PING\xe2\x82", wire.CloseInvalidUTF8},
		{"line over the read limit", harness.AsText, over, wire.CloseTooBig},
		{"frame over the read limit", harness.AsFrame, string(harness.RawPublish("paint.room", "x", over)), wire.CloseTooBig},
	} {
		c.Run(row.name, func(c *harness.Stage) {
			s := c.Dial(token)
			_ = s.Write(row.kind, []byte(row.message)) // the edge may close before it has taken all
			s.ExpectClose(row.code)
		})
	}
	c.Run("client's close", func(c *harness.Stage) { c.Dial(token).Close() })
}

func brokenMessagesInARow(c *harness.Stage) {
	token := c.Room()
	breakOff := func(s *harness.Socket, times int) {
		for i := range times {
			if i%2 == 0 {
				s.SendFrame([]byte("\x07"))
				s.ExpectText("ERR:bad_frame")
			} else {
				s.SendLine(`{"action":"ping"}`)
				s.ExpectText("ERR:bad_request")
			}
		}
	}
	c.Run("16 close", func(c *harness.Stage) {
		s := c.Dial(token)
		breakOff(s, 16)
		s.ExpectClose(wire.ClosePolicy)
	})
	c.Run("16 frames close", func(c *harness.Stage) {
		s := c.Dial(token)
		for range 16 {
			s.SendFrame([]byte("\x00"))
			s.ExpectText("ERR:bad_frame")
		}
		s.ExpectClose(wire.ClosePolicy)
	})
	c.Run("PING does not count as well-formed", func(c *harness.Stage) {
		s := c.Dial(token)
		breakOff(s, 15)
		s.Ping()
		breakOff(s, 1)
		s.ExpectClose(wire.ClosePolicy)
	})
	for _, row := range []struct {
		name    string
		kind    int
		message string
		want    string
	}{
		{"SUB", harness.AsText, "SUB:paint.room:x", "OK:SUB:paint.room:x"},
		{"refused SUB", harness.AsText, "SUB:other:x", "ERR:permission_denied:SUB:other:x"},
		{"SUB of a bad pattern", harness.AsText, "SUB:paint.room:*a", "ERR:bad_pattern"},
		{"PONG", harness.AsText, "PONG", ""},
		{"publish", harness.AsFrame, string(harness.RawPublish("paint.room", "y", "")), ""},
		{"refused publish", harness.AsFrame, string(harness.RawPublish("other", "y", "")), "ERR:permission_denied:PUB:other:y"},
	} {
		c.Run(row.name+" starts the count again", func(c *harness.Stage) {
			s := c.Dial(token)
			breakOff(s, 15)
			s.Send(row.kind, []byte(row.message))
			if row.want != "" {
				s.ExpectText(row.want)
			}
			breakOff(s, 15)
			s.Ping()
		})
	}
}

func subscriptionLimits(c *harness.Stage) {
	token := c.Room()
	subscribe := func(s *harness.Socket, patterns ...string) { // all at once
		for _, p := range patterns {
			s.SendLine("SUB:paint.room:" + p)
		}
		for _, p := range patterns {
			s.ExpectText("OK:SUB:paint.room:" + p)
		}
	}
	numbered := func(prefix string, n int) (patterns []string) {
		for i := range n {
			patterns = append(patterns, fmt.Sprintf("%s%04d", prefix, i))
		}
		return patterns
	}
	for _, row := range []struct {
		name     string
		patterns []string
	}{
		{"1,024 subscriptions", numbered("c", 1024)},
		{"64 KiB of patterns", numbered(strings.Repeat("c", 252), 256)},
	} {
		c.Run(row.name, func(c *harness.Stage) {
			s, first := c.Dial(token), row.patterns[0]
			subscribe(s, row.patterns...)
			s.SendLine("SUB:paint.room:one.more")
			s.ExpectText("ERR:too_many_subscriptions:SUB:paint.room:one.more")
			s.Subscribe("paint.room", first) // again: no further one
			s.Publish("paint.room", row.patterns[len(row.patterns)-1], "last")
			s.ExpectDeliver("paint.room", row.patterns[len(row.patterns)-1], "last", row.patterns[len(row.patterns)-1])
			s.SendLine("UNSUB:paint.room:" + first)
			s.ExpectText("OK:UNSUB:paint.room:" + first)
			s.Subscribe("paint.room", "one.more")
			s.Publish("paint.room", first, "")
			s.Fence()
		})
	}
}

// An ingress cap slows a client down, and loses nothing.
func ingressCap(c *harness.Stage) {
	publisher := c.Publisher(c.Limited(harness.Object{"ingress_kb_per_sec": 8}))
	subscriber := c.Subscriber(c.Room())
	subscriber.Subscribe("paint.room", "#")

	const messages, size = 24, 1024 - 32 // which count as 1 KiB each
	payload := strings.Repeat("p", size-len(harness.RawPublish("paint.room", "c00", "")))
	begin := time.Now()
	for i := range messages {
		publisher.Publish("paint.room", fmt.Sprintf("c%02d", i), payload)
	}
	for i := range messages {
		subscriber.ExpectDeliver("paint.room", fmt.Sprintf("c%02d", i), payload, "#")
	}
	c.Settle(publisher, subscriber)
	// The first 8 KiB pass at once, and the last may be owed.
	if took := time.Since(begin); took < 1700*time.Millisecond || took > harness.WaitTimeout/2 {
		c.T.Errorf("24 KiB at 8 KiB/s took %v, want about 2 s", took)
	}
}

// A refresh moves the end of open sockets in both directions.
func refreshShortens(c *harness.Stage) {
	token, other := c.Issue(harness.AllowAll("room")), c.Issue(harness.AllowAll("room"))
	sockets := []*harness.Socket{c.Dial(token.Token), c.DialBrowser(token.Token), c.Dial(token.Token)}
	bystander := c.Dial(other.Token)
	bystander.Subscribe("paint.room", "#")

	expires := time.Now().Add(4 * time.Second)
	c.Refresh(c.Master, token.TokenID, expires.Format(time.RFC3339Nano)).Decode(c.T, http.StatusOK, new(harness.Object))
	for _, s := range sockets {
		s.ExpectText("ERR:token_expired")
		s.ExpectClose(wire.CloseUnauthorized)
	}
	if early, late := time.Until(expires) > time.Second, time.Since(expires) > harness.Promptly; early || late {
		c.T.Errorf("the sockets closed at %v, want within a second of %v", time.Now(), expires)
	}
	bystander.Publish("paint.room", "x", "still here")
	bystander.ExpectDeliver("paint.room", "x", "still here", "#")
	c.Refresh(c.Master, token.TokenID, harness.In(time.Hour)).Problem(c.T, http.StatusConflict, "token_expired")
}

// Deleting a master token with its tokens ends the sockets of all of these, and
// of no others.
func deletedMasterWithTokens(c *harness.Stage) {
	var created struct{ ID, Token string }
	c.AdminCall("POST", "/pubsub/master-tokens", harness.Object{"name": "app", "tenant_prefix": "paint"}).Decode(c.T, http.StatusOK, &created)
	one := c.IssueAs(created.Token, harness.TokenRequest(harness.AllowAll("room")))
	two := c.IssueAs(created.Token, harness.TokenRequest(harness.AllowAll("room")))
	bystander := c.Dial(c.Issue(harness.AllowAll("room")).Token) // of another master in the same namespace
	sockets := []*harness.Socket{c.Dial(one.Token), c.DialBrowser(one.Token), c.Dial(two.Token)}

	var deleted struct {
		Revoked int `json:"revoked_tokens"`
	}
	begin := time.Now()
	c.AdminCall("DELETE", "/pubsub/master-tokens/"+created.ID, harness.Object{"revoke_tokens": true}).Decode(c.T, http.StatusOK, &deleted)
	for _, s := range sockets {
		s.ExpectText("ERR:token_revoked")
		s.ExpectClose(wire.CloseForbidden)
	}
	if took := time.Since(begin); took > harness.Promptly {
		c.T.Errorf("the sockets were open for %v after the revocation, want at most a second", took)
	}
	if deleted.Revoked != 2 {
		c.T.Errorf("got %d tokens revoked, want 2", deleted.Revoked)
	}
	bystander.Ping()
	for _, token := range []harness.Issued{one, two} {
		_, refused := c.Open(harness.Handshake{Token: token.Token})
		refused.Problem(c.T, http.StatusUnauthorized, "unauthorized")
	}
}
