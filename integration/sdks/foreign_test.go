package sdks

import (
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/millrace/millrace/integration/browser"
	"github.com/millrace/millrace/integration/harness"
)

// A client that shares no code with the edge gets each message once, with the
// patterns that match it.
func TestForeignClientMatches(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	token := e.Issue(harness.AllowAll("room")).Token
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

	for _, kind := range browser.ForeignKinds {
		for _, auth := range []string{"header", "subprotocol"} {
			t.Run(kind.Name+" "+auth, func(t *testing.T) {
				protocol := map[string]string{"header": "", "subprotocol": "llps.v1"}[auth]
				pub, sub := kind.Start(t), kind.Start(t)
				for _, c := range []*browser.Foreign{pub, sub} {
					c.Connect(e, token, auth)
					c.Expect(harness.Object{"event": "open", "protocol": protocol})
				}
				sub.Subscribe(tenant, patterns...)
				for i, m := range messages {
					pub.Publish(tenant, m.channel, fmt.Sprintf("\x00\xff message %d", i))
				}
				pub.Publish(tenant, "x", "")
				for i, m := range messages {
					sub.ExpectDeliver(tenant, m.channel, fmt.Sprintf("\x00\xff message %d", i), m.matches...)
				}
				sub.ExpectDeliver(tenant, "x", "", "#", "*")

				for _, p := range patterns {
					sub.Text("UNSUB:" + tenant + ":" + p)
					sub.ExpectText("OK:UNSUB:" + tenant + ":" + p)
				}
				pub.Publish(tenant, "a.b", "to nobody")
				pub.Fence()
				sub.Fence()
				sub.Do(harness.Object{"cmd": "close"})
				sub.Expect(harness.Object{"event": "close", "code": 1000.0})
			})
		}
	}
}

// A publish with a delivery tag, a publisher that subscribes, and lines of every
// kind that the edge answers.
func TestForeignClientAnswers(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	token := e.Issue(harness.Grant("room", []string{"out.#"}, []string{"out.#"})).Token
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
		{harness.RawPublish(tenant, "secret", "x"), "ERR:permission_denied:PUB:" + tenant + ":secret"},
		{harness.RawPublish("paint.other", "out.a", "x"), "ERR:permission_denied:PUB:paint.other:out.a"},
		{[]byte("SUB:" + tenant + ":out.a"), "ERR:bad_frame"},
		{[]byte{0x02, 0x03, 0x00, 0x00, 0x00, 0x00}, "ERR:bad_frame"},
		{[]byte{0x00, 0x05, 'a'}, "ERR:bad_frame"},
	}

	for _, kind := range browser.ForeignKinds {
		t.Run(kind.Name, func(t *testing.T) {
			c := kind.Start(t)
			c.Connect(e, token, "subprotocol")
			c.Expect(harness.Object{"event": "open", "protocol": "llps.v1"})
			for _, l := range lines {
				c.Text(l.send)
				c.ExpectText(l.want)
			}
			for _, f := range frames {
				c.Do(harness.Object{"cmd": "binary", "bytes": hex.EncodeToString(f.send)})
				c.ExpectText(f.want)
			}
			for delivery := range 3 {
				c.Do(harness.Object{"cmd": "publish", "tenant": tenant, "channel": "out.a", "payload": "6869", "delivery": delivery})
				c.ExpectDeliver(tenant, "out.a", "hi", "out.>")
			}
			e.Revoke(e.Master, token)
			c.ExpectText("ERR:token_revoked")
			c.Expect(harness.Object{"event": "close", "code": 4403.0})

			late := kind.Start(t)
			late.Connect(e, token, "header")
			late.Expect(harness.Object{"event": "refused", "status": 401.0})
		})
		token = e.Issue(harness.Grant("room", []string{"out.#"}, []string{"out.#"})).Token
	}
}

// Two tenants that use the same channels never see each other's messages, and
// cannot ask for them.
func TestForeignTenantsAreApart(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	tenants := []string{"paint.red", "paint.blue"}
	const rounds = 50

	var clients []*browser.Foreign
	for i, kind := range browser.ForeignKinds {
		c := kind.Start(t)
		c.Connect(e, e.Issue(harness.AllowAll(tenants[i])).Token, "header")
		c.Expect(harness.Object{"event": "open", "protocol": ""})
		other := tenants[1-i]
		c.Text("SUB:" + other + ":#")
		c.ExpectText("ERR:permission_denied:SUB:" + other + ":#")
		c.Subscribe(tenants[i], "#", "*", "a*", ">")
		clients = append(clients, c)
	}
	for n := range rounds {
		for i, c := range clients {
			c.Publish(tenants[i], "abc", fmt.Sprintf("%s %d", tenants[i], n))
		}
	}
	for i, c := range clients {
		for n := range rounds {
			c.ExpectDeliver(tenants[i], "abc", fmt.Sprintf("%s %d", tenants[i], n), "#", "*", "a*", ">")
		}
	}
	for _, c := range clients {
		c.Fence()
	}
	for _, c := range clients { // again, now that both have published all
		c.Fence()
	}
}
