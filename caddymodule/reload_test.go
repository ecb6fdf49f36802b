package caddymodule

import (
	"fmt"
	"runtime"
	"testing"
	"time"
	"weak"

	"github.com/caddyserver/caddy/v2"
	_ "github.com/caddyserver/caddy/v2/modules/standard"

	"github.com/millrace/millrace/caddymodule/app"
	"github.com/millrace/millrace/internal/loopback"
)

// Nothing of a configuration stays after the reload that replaces it.
func TestReloadsLeaveNothing(t *testing.T) {
	dir, port := t.TempDir(), loopback.FreePort(t)
	t.Cleanup(func() {
		if err := caddy.Stop(); err != nil {
			t.Error(err)
		}
	})
	var apps []weak.Pointer[app.App]
	for i := range 5 {
		config := fmt.Sprintf(`{
			"admin": {"disabled": true},
			"apps": {
				"pubsub": {"region": %q, "token_store": {"driver": "badger", "path": %q}},
				"http": {"servers": {"a": {"listen": ["127.0.0.1:%d"], "routes": [{"handle": [
					{"handler": "pubsub_ping"}, {"handler": "pubsub_tokens"}, {"handler": "pubsub_websocket"}
				]}]}}}
			}
		}`, []string{"US", "EU"}[i%2], dir, port)
		if err := caddy.Load([]byte(config), true); err != nil {
			t.Fatal(err)
		}
		module, err := caddy.ActiveContext().App("pubsub")
		if err != nil {
			t.Fatal(err)
		}
		apps = append(apps, weak.Make(module.(*app.App)))
	}
	alive := func() (n int) {
		runtime.GC()
		for _, app := range apps {
			if app.Value() != nil {
				n++
			}
		}
		return n
	}
	for end := time.Now().Add(30 * time.Second); alive() > 1; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d of %d configurations are still there", alive(), len(apps))
		}
	}
}
