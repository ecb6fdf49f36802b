package sdks

import (
	"encoding/hex"
	"testing"

	"github.com/millrace/millrace/integration/browser"
	"github.com/millrace/millrace/integration/harness"
)

// Clients that share no code with the edge, over other implementations of WebSocket: both ways
// to send a token, messages and their patterns, answers of every kind, and the end.
func TestForeignClients(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	const tenant = "paint.room"
	for _, kind := range browser.ForeignKinds {
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			token := e.With(t).Issue(harness.Grant("room", []string{"out.#"}, []string{"out.#"})).Token
			pub, sub := kind.Start(t), kind.Start(t)
			pub.Connect(e, token, "header")
			pub.Expect(harness.Object{"event": "open", "protocol": ""})
			sub.Connect(e, token, "subprotocol")
			sub.Expect(harness.Object{"event": "open", "protocol": "llps.v1"})
			sub.Subscribe(tenant, "out.*", "out.>")
			for delivery, payload := range []string{"\x00\xff message", "", "to one"} {
				pub.Do(harness.Object{"cmd": "publish", "tenant": tenant, "channel": "out.a", "payload": hex.EncodeToString([]byte(payload)), "delivery": delivery})
				sub.ExpectDeliver(tenant, "out.a", payload, "out.*", "out.>")
			}
			for send, want := range map[string]string{
				"PING":                       "PONG",
				"UNSUB:" + tenant + ":out.*": "OK:UNSUB:" + tenant + ":out.*",
				"SUB:" + tenant + ":secret":  "ERR:permission_denied:SUB:" + tenant + ":secret",
				`{"action":"subscribe"}`:     "ERR:bad_request",
			} {
				sub.Text(send)
				sub.ExpectText(want)
			}
			sub.Do(harness.Object{"cmd": "binary", "bytes": hex.EncodeToString(harness.RawPublish(tenant, "secret", "x"))})
			sub.ExpectText("ERR:permission_denied:PUB:" + tenant + ":secret")
			sub.Do(harness.Object{"cmd": "binary", "bytes": "000561"})
			sub.ExpectText("ERR:bad_frame")
			pub.Do(harness.Object{"cmd": "close"})
			pub.Expect(harness.Object{"event": "close", "code": 1000.0})
			e.With(t).Revoke(e.Master, token)
			sub.ExpectText("ERR:token_revoked")
			sub.Expect(harness.Object{"event": "close", "code": 4403.0})
			late := kind.Start(t)
			late.Connect(e, token, "header")
			late.Expect(harness.Object{"event": "refused", "status": 401.0})
		})
	}
}
