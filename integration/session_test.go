package integration

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/millrace/millrace/wire"
)

// What a client sends and the answers to it, on a connection that stays open.
func linesAndFrames(c *stage) {
	// Publishes anywhere, subscribes below news only; both in ~, too.
	token := c.issueAnywhere(
		grant("paint.room", []string{"#"}, []string{"news.#"}),
		grant("~", []string{"#"}, []string{"#"}),
		grant("paint.read", nil, []string{"#"}),
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
		{"ping", asText, "PING", "PONG"},
		{"ping with newline", asText, "PING\n", "PONG"},
		{"ping with carriage return", asText, "PING\r\n", "PONG"},
		{"pong", asText, "PONG", ""},
		{"subscribe", asText, "SUB:paint.room:news.*", "OK:SUB:paint.room:news.*"},
		{"subscribe with newline", asText, "SUB:paint.room:news.>\r\n", "OK:SUB:paint.room:news.>"},
		{"subscribe without tenant", asText, "SUB::x", "OK:SUB:~:x"},
		{"longest pattern", asText, "SUB:paint.room:" + pattern256, "OK:SUB:paint.room:" + pattern256},
		{"unsubscribe what never was", asText, "UNSUB:paint.room:x", "OK:UNSUB:paint.room:x"},
		{"unsubscribe without any right", asText, "UNSUB:paint.other:x", "OK:UNSUB:paint.other:x"},
		{"unsubscribe without tenant", asText, "UNSUB::x", "OK:UNSUB:~:x"},

		{"no grant for the tenant", asText, "SUB:paint.other:x", "ERR:permission_denied:SUB:paint.other:x"},
		{"no rule for the pattern", asText, "SUB:paint.room:#", "ERR:permission_denied:SUB:paint.room:#"},
		{"namespace is not the tenant", asText, "SUB:room:news", "ERR:permission_denied:SUB:room:news"},
		{"tenant with a space", asText, "SUB:paint room:x", "ERR:bad_tenant"},
		{"tenant of 129 bytes", asText, "SUB:" + long + ":x", "ERR:bad_tenant"},
		{"tenant before pattern", asText, "UNSUB:a b:*a", "ERR:bad_tenant"},
		{"empty pattern", asText, "SUB:paint.room:", "ERR:bad_pattern"},
		{"wildcard in front", asText, "SUB:paint.room:*a", "ERR:bad_pattern"},
		{"# within a token", asText, "SUB:paint.room:a#b", "ERR:bad_pattern"},
		{"# in the middle", asText, "SUB:paint.room:#.a", "ERR:bad_pattern"},
		{"> in the middle", asText, "SUB:paint.room:>.a", "ERR:bad_pattern"},
		{"empty token", asText, "SUB:paint.room:a..b", "ERR:bad_pattern"},
		{"group, for rules only", asText, "SUB:paint.room:(a|b)", "ERR:bad_pattern"},
		{"?, for rules only", asText, "SUB:paint.room:?", "ERR:bad_pattern"},
		{"third colon", asText, "SUB:paint.room:news:x", "ERR:bad_pattern"},
		{"pattern of 257 bytes", asText, "SUB:paint.room:" + pattern256 + "b", "ERR:bad_pattern"},
		{"pattern of 33 tokens", asText, "SUB:paint.room:news" + strings.Repeat(".a", 32), "ERR:bad_pattern"},
		{"bad pattern of UNSUB", asText, "UNSUB:paint.room:*a", "ERR:bad_pattern"},
		{"space behind", asText, "SUB:paint.room:news ", "ERR:bad_pattern"},

		{"line of 1,024 bytes", asText, line1024, "ERR:bad_pattern"}, // it is understood
		{"line of 1,024 bytes and newline", asText, line1024 + "\r\n", "ERR:bad_pattern"},
		{"line of 1,025 bytes", asText, line1024 + "a", "ERR:bad_request"},
		{"two newlines", asText, "PING\n\n", "ERR:bad_request"},
		{"JSON", asText, `{"action":"subscribe","tenant":"paint.room","channel":"news"}`, "ERR:bad_request"},
		{"publish as a line", asText, "PUB:paint.room:news:hello", "ERR:bad_request"},
		{"lower case", asText, "sub:paint.room:news", "ERR:bad_request"},
		{"space in front", asText, " PING", "ERR:bad_request"},
		{"no pattern", asText, "SUB:paint.room", "ERR:bad_request"},
		{"a server's line", asText, "OK:SUB:paint.room:news", "ERR:bad_request"},
		{"AUTH", asText, "AUTH:" + token, "ERR:bad_request"},

		{"deliver frame", asFrame, string(rawDeliver("paint.room", "news", "x", "news")), "ERR:bad_frame"},
		{"unknown version", asFrame, "\x03" + string(rawPublish("paint.room", "news", "x")), "ERR:bad_frame"},
		{"unknown delivery", asFrame, "\x02\x03" + string(rawPublish("paint.room", "news", "x")), "ERR:bad_frame"},
		{"cut in the tenant", asFrame, string(rawPublish("paint.room", "", "")[:8]), "ERR:bad_frame"},
		{"cut in the channel", asFrame, string(rawPublish("paint.room", "news", "")[:15]), "ERR:bad_frame"},
		{"publish to a bad tenant", asFrame, string(rawPublish("paint room", "news", "x")), "ERR:bad_tenant"},
		{"publish to a tenant of 129 bytes", asFrame, string(rawPublish(long, "news", "x")), "ERR:bad_tenant"},
		{"publish to a pattern", asFrame, string(rawPublish("paint.room", "news.*", "x")), "ERR:bad_channel"},
		{"publish to no channel", asFrame, string(rawPublish("paint.room", "", "x")), "ERR:bad_channel"},
		{"publish to a channel of 257 bytes", asFrame, string(rawPublish("paint.room", pattern256+"b", "x")), "ERR:bad_channel"},
		{"publish without grant", asFrame, string(rawPublish("paint.other", "news", "x")), "ERR:permission_denied:PUB:paint.other:news"},
		{"publish without rule", asFrame, string(rawPublish("paint.read", "news", "x")), "ERR:permission_denied:PUB:paint.read:news"},
		{"publish, tagged, without rule", asFrame, "\x02\x01" + string(rawPublish("paint.read", "a.b", "x")), "ERR:permission_denied:PUB:paint.read:a.b"},
		{"publish nobody hears", asFrame, string(rawPublish("paint.room", "news", "x")), ""},
		{"payload at the limit", asFrame, string(rawPublish("paint.room", "news", payload)), ""},
		{"payload a byte over", asFrame, string(rawPublish("paint.room", "news", payload+"p")), "ERR:payload_too_large:PUB:paint.room:news"},
		{"payload over in ~", asFrame, string(rawPublish("", "x", payload+"p")), "ERR:payload_too_large:PUB:~:x"},
		{"message at the read limit", asFrame, string(rawPublish("paint.room", "news", payload+strings.Repeat("p", 4096-18))), "ERR:payload_too_large:PUB:paint.room:news"},
	} {
		c.run(row.name, func(c *stage) {
			s := c.dial(token)
			s.send(row.kind, []byte(row.message))
			if row.want != "" {
				s.expectText(row.want)
			}
			s.ping() // which would overtake an OK, but no ERR
			s.fence()
		})
	}
}

func messagesThatClose(c *stage) {
	token := c.room()
	over := strings.Repeat("a", 64<<10+4096+1)
	for _, row := range []struct {
		name    string
		kind    int
		message string
		code    wire.CloseCode
	}{
		{"line that is not UTF-8", asText, "SUB:paint.room:\xff", wire.CloseInvalidUTF8},
		{"cut UTF-8", asText, "PING\xe2\x82", wire.CloseInvalidUTF8},
		{"line over the read limit", asText, over, wire.CloseTooBig},
		{"frame over the read limit", asFrame, string(rawPublish("paint.room", "x", over)), wire.CloseTooBig},
	} {
		c.run(row.name, func(c *stage) {
			s := c.dial(token)
			_ = s.write(row.kind, []byte(row.message)) // the edge may close before it has taken all
			s.expectClose(row.code)
		})
	}
	c.run("client's close", func(c *stage) { c.dial(token).close() })
}

func brokenMessagesInARow(c *stage) {
	token := c.room()
	breakOff := func(s *socket, times int) {
		for i := range times {
			if i%2 == 0 {
				s.sendFrame([]byte("\x07"))
				s.expectText("ERR:bad_frame")
			} else {
				s.sendLine(`{"action":"ping"}`)
				s.expectText("ERR:bad_request")
			}
		}
	}
	c.run("16 close", func(c *stage) {
		s := c.dial(token)
		breakOff(s, 16)
		s.expectClose(wire.ClosePolicy)
	})
	c.run("16 frames close", func(c *stage) {
		s := c.dial(token)
		for range 16 {
			s.sendFrame([]byte("\x00"))
			s.expectText("ERR:bad_frame")
		}
		s.expectClose(wire.ClosePolicy)
	})
	c.run("PING does not count as well-formed", func(c *stage) {
		s := c.dial(token)
		breakOff(s, 15)
		s.ping()
		breakOff(s, 1)
		s.expectClose(wire.ClosePolicy)
	})
	for _, row := range []struct {
		name    string
		kind    int
		message string
		want    string
	}{
		{"SUB", asText, "SUB:paint.room:x", "OK:SUB:paint.room:x"},
		{"refused SUB", asText, "SUB:other:x", "ERR:permission_denied:SUB:other:x"},
		{"SUB of a bad pattern", asText, "SUB:paint.room:*a", "ERR:bad_pattern"},
		{"PONG", asText, "PONG", ""},
		{"publish", asFrame, string(rawPublish("paint.room", "y", "")), ""},
		{"refused publish", asFrame, string(rawPublish("other", "y", "")), "ERR:permission_denied:PUB:other:y"},
	} {
		c.run(row.name+" starts the count again", func(c *stage) {
			s := c.dial(token)
			breakOff(s, 15)
			s.send(row.kind, []byte(row.message))
			if row.want != "" {
				s.expectText(row.want)
			}
			breakOff(s, 15)
			s.ping()
		})
	}
}

func subscriptionLimits(c *stage) {
	token := c.room()
	subscribe := func(s *socket, patterns ...string) { // all at once
		for _, p := range patterns {
			s.sendLine("SUB:paint.room:" + p)
		}
		for _, p := range patterns {
			s.expectText("OK:SUB:paint.room:" + p)
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
		c.run(row.name, func(c *stage) {
			s, first := c.dial(token), row.patterns[0]
			subscribe(s, row.patterns...)
			s.sendLine("SUB:paint.room:one.more")
			s.expectText("ERR:too_many_subscriptions:SUB:paint.room:one.more")
			s.subscribe("paint.room", first) // again: no further one
			s.publish("paint.room", row.patterns[len(row.patterns)-1], "last")
			s.expectDeliver("paint.room", row.patterns[len(row.patterns)-1], "last", row.patterns[len(row.patterns)-1])
			s.sendLine("UNSUB:paint.room:" + first)
			s.expectText("OK:UNSUB:paint.room:" + first)
			s.subscribe("paint.room", "one.more")
			s.publish("paint.room", first, "")
			s.fence()
		})
	}
}

// An ingress cap slows a client down, and loses nothing.
func ingressCap(c *stage) {
	publisher := c.publisher(c.limited(object{"ingress_kb_per_sec": 8}))
	subscriber := c.subscriber(c.room())
	subscriber.subscribe("paint.room", "#")

	const messages, size = 24, 1024 - 32 // which count as 1 KiB each
	payload := strings.Repeat("p", size-len(rawPublish("paint.room", "c00", "")))
	begin := time.Now()
	for i := range messages {
		publisher.publish("paint.room", fmt.Sprintf("c%02d", i), payload)
	}
	for i := range messages {
		subscriber.expectDeliver("paint.room", fmt.Sprintf("c%02d", i), payload, "#")
	}
	c.settle(publisher, subscriber)
	// The first 8 KiB pass at once, and the last may be owed.
	if took := time.Since(begin); took < 1700*time.Millisecond || took > waitTimeout/2 {
		c.t.Errorf("24 KiB at 8 KiB/s took %v, want about 2 s", took)
	}
}

// A refresh moves the end of open sockets in both directions.
func refreshShortens(c *stage) {
	token, other := c.issue(allowAll("room")), c.issue(allowAll("room"))
	sockets := []*socket{c.dial(token.Token), c.dialBrowser(token.Token), c.dial(token.Token)}
	bystander := c.dial(other.Token)
	bystander.subscribe("paint.room", "#")

	expires := time.Now().Add(4 * time.Second)
	c.refresh(c.master, token.TokenID, expires.Format(time.RFC3339Nano)).decode(c.t, http.StatusOK, new(object))
	for _, s := range sockets {
		s.expectText("ERR:token_expired")
		s.expectClose(wire.CloseUnauthorized)
	}
	if early, late := time.Until(expires) > time.Second, time.Since(expires) > promptly; early || late {
		c.t.Errorf("the sockets closed at %v, want within a second of %v", time.Now(), expires)
	}
	bystander.publish("paint.room", "x", "still here")
	bystander.expectDeliver("paint.room", "x", "still here", "#")
	c.refresh(c.master, token.TokenID, in(time.Hour)).problem(c.t, http.StatusConflict, "token_expired")
}

// Deleting a master token with its tokens ends the sockets of all of these, and
// of no others.
func deletedMasterWithTokens(c *stage) {
	var created struct{ ID, Token string }
	c.adminCall("POST", "/pubsub/master-tokens", object{"name": "app", "tenant_prefix": "paint"}).decode(c.t, http.StatusOK, &created)
	one := c.issueAs(created.Token, tokenRequest(allowAll("room")))
	two := c.issueAs(created.Token, tokenRequest(allowAll("room")))
	bystander := c.dial(c.issue(allowAll("room")).Token) // of another master in the same namespace
	sockets := []*socket{c.dial(one.Token), c.dialBrowser(one.Token), c.dial(two.Token)}

	var deleted struct {
		Revoked int `json:"revoked_tokens"`
	}
	begin := time.Now()
	c.adminCall("DELETE", "/pubsub/master-tokens/"+created.ID, object{"revoke_tokens": true}).decode(c.t, http.StatusOK, &deleted)
	for _, s := range sockets {
		s.expectText("ERR:token_revoked")
		s.expectClose(wire.CloseForbidden)
	}
	if took := time.Since(begin); took > promptly {
		c.t.Errorf("the sockets were open for %v after the revocation, want at most a second", took)
	}
	if deleted.Revoked != 2 {
		c.t.Errorf("got %d tokens revoked, want 2", deleted.Revoked)
	}
	bystander.ping()
	for _, token := range []issued{one, two} {
		_, refused := c.open(handshake{Token: token.Token})
		refused.problem(c.t, http.StatusUnauthorized, "unauthorized")
	}
}
