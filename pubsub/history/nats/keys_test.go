package nats_test

import (
	"fmt"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/history/nats"
)

// Keys outlive a restart of all servers: those of messages that are kept at each edge, and
// those of messages that were removed at the edges that ran meanwhile.
func TestKeysAfterRestart(t *testing.T) {
	dir, port := t.TempDir(), 0
	start := func() *server.Server {
		return natstest.Server(t, func(o *server.Options) {
			o.StoreDir = dir
			if port != 0 {
				o.Port = port
			}
		})
	}
	s := start()
	if _, err := fmt.Sscanf(s.ClientURL(), "nats://127.0.0.1:%d", &port); err != nil {
		t.Fatal(err)
	}
	d := definition("h", func(d *history.Definition) { d.Limits.Messages = 10 })
	a := open(t, s, "p")
	define(t, a, d)
	removed := try(a, "h", "t", "c", "removed", "removed")
	for i := range 100 {
		put(t, a, "h", "t", "c", fmt.Sprint(i))
	}
	kept := try(a, "h", "t", "c", "kept", "kept")
	s.Shutdown()
	s.WaitForShutdown()
	start()
	b := openAt(t, fmt.Sprintf("nats://127.0.0.1:%d", port), "p")
	define(t, b, d)
	awaitPut(t, a, "after")
	awaitPut(t, b, "after")
	for what, repeat := range map[string]struct {
		edge  *nats.Store
		key   string
		first history.Result
	}{
		"kept":                    {a, "kept", kept},
		"kept, at a new edge":     {b, "kept", kept},
		"removed, at an old edge": {a, "removed", removed},
	} {
		if r := try(repeat.edge, "h", "t", "c", "again", repeat.key); r.Err != nil || repeat.first.Err != nil || !r.Repeated || r.Position != repeat.first.Position {
			t.Errorf("%s: %+v, at first %+v", what, r, repeat.first)
		}
	}
}
