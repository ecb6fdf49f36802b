package integration

import (
	"encoding/hex"
	"fmt"
	"testing"
)

// A client that shares no code with the edge gets each message once, with the
// patterns that match it.
func TestForeignClientMatches(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	token := e.issue(allowAll("room")).Token
	const tenant = "paint.room"
	patterns := []string{"#", "*", "a*", "a.*", "a.>", "a.#", "a.b", "*.b", "b>", "b#"}

	messages := []struct {
		channel string
		matches []string
	}{
		{"a", []string{"#", "*", "a*", "a.#"}},
		{"abc", []string{"#", "*", "a*"}},
		{"b", []string{"#", "*", "b#"}},
		{"x", []string{"#", "*"}},
		{"a.b", []string{"#", "a.*", "a.>", "a.#", "a.b", "*.b"}},
		{"a.c", []string{"#", "a.*", "a.>", "a.#"}},
		{"a.b.c", []string{"#", "a.>", "a.#"}},
		{"bc.b", []string{"#", "*.b", "b>", "b#"}},
		{"X-_~@9", []string{"#", "*"}},
	}

	for _, kind := range foreignKinds {
		for _, auth := range []string{"header", "subprotocol"} {
			t.Run(kind.name+" "+auth, func(t *testing.T) {
				protocol := map[string]string{"header": "", "subprotocol": "llps.v1"}[auth]
				pub, sub := kind.start(t), kind.start(t)
				for _, c := range []*foreign{pub, sub} {
					c.connect(e, token, auth)
					c.expect(object{"event": "open", "protocol": protocol})
				}
				sub.subscribe(tenant, patterns...)
				for i, m := range messages {
					pub.publish(tenant, m.channel, fmt.Sprintf("\x00\xff message %d", i))
				}
				pub.publish(tenant, "x", "")
				for i, m := range messages {
					sub.expectDeliver(tenant, m.channel, fmt.Sprintf("\x00\xff message %d", i), m.matches...)
				}
				sub.expectDeliver(tenant, "x", "", "#", "*")

				for _, p := range patterns {
					sub.text("UNSUB:" + tenant + ":" + p)
					sub.expectText("OK:UNSUB:" + tenant + ":" + p)
				}
				pub.publish(tenant, "a.b", "to nobody")
				pub.fence()
				sub.fence()
				sub.do(object{"cmd": "close"})
				sub.expect(object{"event": "close", "code": 1000.0})
			})
		}
	}
}

// A publish with a delivery tag, a publisher that subscribes, and lines of every
// kind that the edge answers.
func TestForeignClientAnswers(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	token := e.issue(grant("room", []string{"out.#"}, []string{"out.#"})).Token
	const tenant = "paint.room"

	lines := []struct{ send, want string }{
		{"PING", "PONG"},
		{"SUB:" + tenant + ":out.>", "OK:SUB:" + tenant + ":out.>"},
		{"SUB:" + tenant + ":out.>", "OK:SUB:" + tenant + ":out.>"},
		{"UNSUB:" + tenant + ":never", "OK:UNSUB:" + tenant + ":never"},
		{"SUB:" + tenant + ":#", "ERR:permission_denied:SUB:" + tenant + ":#"},
		{"SUB:" + tenant + ":secret", "ERR:permission_denied:SUB:" + tenant + ":secret"},
		{"SUB:paint.other:out.a", "ERR:permission_denied:SUB:paint.other:out.a"},
		{"SUB::out.a", "ERR:permission_denied:SUB:~:out.a"},
		{`{"action":"subscribe"}`, "ERR:bad_request"},
		{"", "ERR:bad_request"},
		{"HELLO", "ERR:bad_request"},
	}
	frames := []struct {
		send []byte
		want string
	}{
		{rawPublish(tenant, "secret", "x"), "ERR:permission_denied:PUB:" + tenant + ":secret"},
		{rawPublish("paint.other", "out.a", "x"), "ERR:permission_denied:PUB:paint.other:out.a"},
		{[]byte("SUB:" + tenant + ":out.a"), "ERR:bad_frame"},
		{[]byte{0x02, 0x03, 0x00, 0x00, 0x00, 0x00}, "ERR:bad_frame"},
		{[]byte{0x00, 0x05, 'a'}, "ERR:bad_frame"},
	}

	for _, kind := range foreignKinds {
		t.Run(kind.name, func(t *testing.T) {
			c := kind.start(t)
			c.connect(e, token, "subprotocol")
			c.expect(object{"event": "open", "protocol": "llps.v1"})
			for _, l := range lines {
				c.text(l.send)
				c.expectText(l.want)
			}
			for _, f := range frames {
				c.do(object{"cmd": "binary", "bytes": hex.EncodeToString(f.send)})
				c.expectText(f.want)
			}
			for delivery := range 3 {
				c.do(object{"cmd": "publish", "tenant": tenant, "channel": "out.a", "payload": "6869", "delivery": delivery})
				c.expectDeliver(tenant, "out.a", "hi", "out.>")
			}
			e.revoke(e.master, token)
			c.expectText("ERR:token_revoked")
			c.expect(object{"event": "close", "code": 4403.0})

			late := kind.start(t)
			late.connect(e, token, "header")
			late.expect(object{"event": "refused", "status": 401.0})
		})
		token = e.issue(grant("room", []string{"out.#"}, []string{"out.#"})).Token
	}
}

// Two tenants that use the same channels never see each other's messages, and
// cannot ask for them.
func TestForeignTenantsAreApart(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	tenants := []string{"paint.red", "paint.blue"}
	const rounds = 50

	var clients []*foreign
	for i, kind := range foreignKinds {
		c := kind.start(t)
		c.connect(e, e.issue(allowAll(tenants[i])).Token, "header")
		c.expect(object{"event": "open", "protocol": ""})
		other := tenants[1-i]
		c.text("SUB:" + other + ":#")
		c.expectText("ERR:permission_denied:SUB:" + other + ":#")
		c.subscribe(tenants[i], "#", "*", "a*", ">")
		clients = append(clients, c)
	}
	for n := range rounds {
		for i, c := range clients {
			c.publish(tenants[i], "abc", fmt.Sprintf("%s %d", tenants[i], n))
		}
	}
	for i, c := range clients {
		for n := range rounds {
			c.expectDeliver(tenants[i], "abc", fmt.Sprintf("%s %d", tenants[i], n), "#", "*", "a*", ">")
		}
	}
	for _, c := range clients {
		c.fence()
	}
	for _, c := range clients { // again, now that both have published all
		c.fence()
	}
}
