package badger

import (
	"testing"

	"github.com/millrace/millrace/pubsub/history"
)

// Removals are written in parts, between which messages are stored.
func TestRemovalsInParts(t *testing.T) {
	s := open(t, Config{Dir: t.TempDir()})
	define(t, s, func(l *history.Limits) { l.Messages = 100_000 })
	putAll(t, s, "t", 2) // of manyTenants each
	k, err := s.set.Find("h")
	must(t, err)
	s.commit.Lock() // the committer removes nothing meanwhile
	defer s.commit.Unlock()
	must(t, errorOf(s.set.Purge("h", "", "", nil)))
	left := 2 * manyTenants
	for more := true; more; {
		var part removals
		part, more = k.takeRemovals(fewRemoved)
		if len(part.dead) > fewRemoved || more && len(part.forgotten) > 0 {
			t.Fatalf("%d messages and %d tenants are removed at a time", len(part.dead), len(part.forgotten))
		}
		left -= len(part.dead)
	}
	if left != 0 {
		t.Errorf("%d messages are not removed", left)
	}
}
