package conformance

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/wire"
)

// The two configurations that the reload tests switch between.
var (
	American = strings.Replace(harness.DefaultCaddyfile, "drain 7s", "drain 7s\n\t\tregion US", 1)
	European = strings.Replace(harness.DefaultCaddyfile, "drain 7s", `drain 7s
		region EU
		limits {
			max_payload 1KiB
			max_subscriptions 2
		}`, 1)
)

// A new configuration holds at once, on open sockets, for new ones, and for master tokens.
// What a removed one has issued lives on, and a successor manages it.
func reloadTakesEffect(c *harness.Stage) {
	second := harness.NewMasterToken()
	c.Must(os.WriteFile(filepath.Join(c.Dir, "second"), []byte(second), 0o600))
	withSecond := strings.Replace(harness.DefaultMaster, "env.MILLRACE_MASTER_TOKEN", "file.{{.Dir}}/second", 1)
	token := c.Issue(harness.AllowAll("room"))
	s := c.Dial(token.Token)
	regional := harness.Handshake{Token: c.Limited(harness.Object{"allow_regions": []string{"EU"}})}
	_, refused := c.Open(regional)
	refused.Problem(c.T, 403, "region_not_allowed")
	c.Rest("GET", "/v1/tokens", second, nil).Problem(c.T, 401, "bad_master_token")
	s.Subscribe("paint.room", "a", "b", "c")

	c.Reload(strings.Replace(European, harness.DefaultMaster, withSecond, 1))
	c.MustOpen(regional)
	c.Rest("GET", "/v1/tokens", c.Master, nil).Problem(c.T, 401, "bad_master_token")
	s.SendLine("SUB:paint.room:d") // it keeps what it had, and gets no more
	s.ExpectText("ERR:too_many_subscriptions:SUB:paint.room:d")
	s.Publish("paint.room", "c", strings.Repeat("x", 1025))
	s.ExpectText("ERR:payload_too_large:PUB:paint.room:c")
	s.Publish("paint.room", "c", strings.Repeat("x", 1024))
	s.ExpectDeliver("paint.room", "c", strings.Repeat("x", 1024), "c")

	c.Reload(strings.Replace(American, harness.DefaultMaster, harness.DefaultMaster+withSecond, 1))
	_, refused = c.Open(regional)
	refused.Problem(c.T, 403, "region_not_allowed")
	c.List(c.Master, "")
	s.Subscribe("paint.room", "d")
	c.Revoke(second, token.Token).Decode(c.T, 200, new(harness.Object))
	s.ExpectText("ERR:token_revoked")
	s.ExpectClose(wire.CloseForbidden)
}

// A configuration that is refused changes nothing, wherever the refusal comes
// from. Caddy starts its apps in random order, so what fails in the start of
// one is tried several times in a soak.
func refusedReloadChangesNothing(c *harness.Stage) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	c.Must(err)
	defer taken.Close()
	s := c.Dial(c.Room())
	s.Subscribe("paint.room", "x")
	big := strings.Repeat("x", 2048) // too large for the other configuration
	for says, caddyfile := range map[string]string{
		"Caddyfile":              European + "}",
		"region":                 strings.Replace(European, "region EU", "region MOON", 1),
		"token store":            strings.Replace(European, "{{.Store}}", "badger {{.Dir}}/Caddyfile", 1),
		"address already in use": European + fmt.Sprintf("http://%s {\n\trespond hello\n}\n", taken.Addr()),
	} {
		for range harness.AtLength(1, 4) {
			if out, err := c.TryReload(caddyfile); err == nil || !strings.Contains(out, says) {
				c.T.Fatalf("got %v, want a refusal that says %q: %s", err, says, out)
			}
			s.Publish("paint.room", "x", big)
			s.ExpectDeliver("paint.room", "x", big, "x")
			c.Dial(c.Room()).Close()
			harness.AwaitConnections(c.Edge, 1)
		}
	}
	c.Reload(European)
	s.Publish("paint.room", "x", big)
	s.ExpectText("ERR:payload_too_large:PUB:paint.room:x")
}
