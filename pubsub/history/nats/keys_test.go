package nats

import (
	"fmt"
	"testing"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub/history"
)

// Keys outlive a restart of all servers: those of messages that are kept at each edge, and
// those of messages that were removed at the edges that ran meanwhile.
func TestKeysAfterRestart(t *testing.T) {
	t.Parallel()
	s, again := natstest.Restartable(t)
	d := definition("h", func(d *history.Definition) { d.Limits.Messages = 10 })
	a := open(t, natstest.Connect(s))
	define(t, a, d)
	removed := try(a, "h", "t", "c", "removed", "removed")
	for i := range 100 {
		put(t, a, "h", "t", "c", fmt.Sprint(i))
	}
	kept := try(a, "h", "t", "c", "kept", "kept")
	again()
	b := open(t, natstest.Connect(s))
	define(t, b, d)
	awaitPut(t, a, "after")
	awaitPut(t, b, "after")
	for what, repeat := range map[string]struct {
		edge  *Store
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
