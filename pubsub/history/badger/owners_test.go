package badger

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/millrace/millrace/pubsub/history"
)

// A store knows after a restart whose a tenant is, and forgets it with the tenant; one that an earlier version
// has left counts for nobody.
func TestOwnersOutliveARestart(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Config{Dir: dir})
	define(t, s, func(l *history.Limits) { l.Messages = 1 })
	for i, owner := range []string{"", "a.", "b.", "a."} {
		put(t, s, history.Message{Tenant: "t", Channel: fmt.Append(nil, i), Owner: owner})
	}
	put(t, s, history.Message{Tenant: "nobody's", Channel: []byte("c")})
	for range 3 {
		must(t, s.Close())
		s = open(t, Config{Dir: dir})
		for tenant, want := range map[string]string{"t": "a.", "nobody's": "", "unknown": ""} {
			k, err := s.set.Lock("h")
			must(t, err)
			got := k.Index.Owner(tenant)
			k.Unlock()
			if got != want {
				t.Errorf("%s is %q's, want %q", tenant, got, want)
			}
		}
	}
	records := func() (n int) {
		must(t, s.each(kindOwner, func(_, _ []byte) error { n++; return nil }))
		return n
	}
	must(t, s.db.Update(func(txn *badger.Txn) error { // as an earlier version leaves it
		return txn.Set(key(kindOwner, "h", "forgotten"), []byte("a."))
	}))
	must(t, s.Close())
	s = open(t, Config{Dir: dir})
	if n := records(); n != 1 {
		t.Errorf("%d records of owners, want 1", n)
	}
	if _, err := s.Purge("h", "t", ""); err != nil {
		t.Fatal(err)
	}
	putAll(t, s, "a.", "many", 1)
	if _, err := s.Purge("h", "", ""); err != nil {
		t.Fatal(err)
	}
	putAll(t, s, "", "more", 1) // so that idle ones are forgotten
	k := mustFind(t, s)
	must(t, s.flushAll(k))
	owned := 0
	for _, tenant := range k.Index.Tenants() {
		if k.Index.Owner(tenant) != "" {
			owned++
		}
	}
	if n := records(); n != owned || n >= manyTenants {
		t.Errorf("%d records are left of %d tenants", n, owned)
	}
}

// A tenant that is forgotten and comes back has the owner that it has then, or none, also after a restart.
func TestOwnersOfTenantsThatComeBack(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Config{Dir: dir})
	define(t, s, nil)
	k := mustFind(t, s)
	for tenant, owner := range map[string]string{"operated": "", "t": "b."} {
		put(t, s, history.Message{Tenant: tenant, Channel: []byte("c"), Owner: owner})
		must(t, s.db.Update(func(txn *badger.Txn) error { return txn.Set(key(kindOwner, "h", tenant), []byte("a.")) }))
		k.Lock() // as if it was another one's before
		k.forgotten = append(k.forgotten, tenant)
		k.Unlock()
	}
	must(t, s.flushAll(k))
	must(t, s.Close())
	s = open(t, Config{Dir: dir})
	k = mustFind(t, s)
	for tenant, want := range map[string]string{"operated": "", "t": "b."} {
		if got := k.Index.Owner(tenant); got != want {
			t.Errorf("%s is %q's, want %q", tenant, got, want)
		}
	}
	// One that comes back is written and in the index before anybody removes what was forgotten.
	putAll(t, s, "a.", "many", 1)
	must(t, errorOf(s.Purge("h", "", "")))
	asked := 0
	k.Lock()
	k.Index.OnForget(func(string) {
		if asked++; s.commit.TryLock() {
			t.Error("others may remove records while messages are added")
			s.commit.Unlock()
		}
	})
	k.Unlock()
	if put(t, s, history.Message{Tenant: "new", Channel: []byte("c")}); asked == 0 {
		t.Error("nothing was forgotten")
	}
}

// What the process before has removed and not written down is removed again from the same owner, and from
// nobody else.
func TestOwnersAfterAKill(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Config{Dir: dir})
	define(t, s, func(l *history.Limits) { l.Size, l.Messages = history.MinSize, history.MaxMessages })
	payload := make([]byte, 1000)
	for range 100 {
		put(t, s, history.Message{Tenant: "victim", Channel: []byte("c"), Payload: payload, Owner: "b."})
	}
	for i := range 2000 {
		put(t, s, history.Message{Tenant: fmt.Sprint("loud", i%16), Channel: []byte("c"), Payload: payload, Owner: "a."})
	}
	s = open(t, Config{Dir: copyStore(t, dir)}) // as the files are now
	if n := len(readPage(t, s, "victim", "#", 0).Messages); n != 100 {
		t.Errorf("%d of 100 messages are left", n)
	}
	list, err := s.Usage()
	must(t, err)
	bytes := int64(0)
	for _, u := range list {
		bytes += u.Bytes
	}
	if bytes > history.MinSize || bytes < history.MinSize/2 {
		t.Errorf("%d bytes are left", bytes)
	}
}

// A tenant that is emptied while a message of another owner is committed has the same owner in the database and
// in the index.
func TestOwnersOfATenantThatIsEmptied(t *testing.T) {
	s := open(t, Config{Dir: t.TempDir()})
	define(t, s, nil)
	put(t, s, history.Message{Tenant: "t", Channel: []byte("c"), Owner: "a."})
	all := s.assign([]*history.Message{{History: "h", Tenant: "t", Channel: []byte("c"), Owner: "b."}}, time.Now())
	must(t, errorOf(s.Purge("h", "t", "")))
	must(t, errorOf(s.store(all, time.Now())))
	stored := ""
	must(t, s.each(kindOwner, func(_, v []byte) error { stored = string(v); return nil }))
	if is := mustFind(t, s).Index.Owner("t"); is != stored {
		t.Errorf("it is %q's, and %q's in the database", is, stored)
	}
}

// Within one commit, too, a tenant has one owner, and the keys of an owner take half.
func TestOwnersOfACommit(t *testing.T) {
	s := open(t, Config{Dir: t.TempDir()})
	define(t, s, func(l *history.Limits) { l.Size = history.MinSize })
	put(t, s, history.Message{Tenant: "idle", Channel: []byte("c"), Owner: "a."})
	must(t, errorOf(s.Purge("h", "idle", "")))
	for tenant, want := range map[string]string{
		"new": "[false true false false]", "idle": "[false false false false]", "c.its": "[false true false true]",
	} {
		var batch []*history.Message
		for _, owner := range []string{"", "b.", "a.", "c."} {
			batch = append(batch, &history.Message{History: "h", Tenant: tenant, Channel: []byte("c"), Owner: owner})
		}
		var owns []bool
		for _, p := range s.assign(batch, time.Now()) {
			owns = append(owns, p.owns)
		}
		if got := fmt.Sprint(owns); got != want {
			t.Errorf("who owns %s from then on: %s, want %s", tenant, got, want)
		}
	}
	var batch []*history.Message
	for i := range maxBatch {
		batch = append(batch, &history.Message{
			History: "h", Tenant: fmt.Sprint("t", i%16), Channel: []byte("c"), Owner: "a.", Key: fmt.Append(nil, i),
			Stored: func(_ *history.Message, _ history.Result) {},
		})
	}
	count := func(all []pending) (full int) {
		for _, p := range all {
			if errors.Is(p.result.Err, history.ErrKeysFull) {
				full++
			}
		}
		return full
	}
	all := s.assign(batch, time.Now())
	if full := count(all); full != maxBatch/2 {
		t.Errorf("%d of %d keys are refused", full, maxBatch)
	}
	for i := range all {
		all[i].of.release(&all[i])
	}
	s.commitBatch(batch)
	if full := count(s.assign(batch, time.Now())); full != maxBatch/2 {
		t.Errorf("%d of %d keys are refused when half of them are remembered", full, maxBatch)
	}
}

// Who has a lot in the queue is not waited for.
func TestTurnsOfOwners(t *testing.T) {
	q := newCommitQueue()
	for i := range 2 * maxBatch {
		must(t, q.push(&history.Message{Tenant: fmt.Sprint("a", i%64), Owner: "a."}))
	}
	must(t, q.push(&history.Message{Tenant: "b", Owner: "b."}))
	if batch, _ := q.take(); len(batch) < 2 || batch[1].Tenant != "b" {
		t.Errorf("of %d messages, the second is not the other one's", len(batch))
	}
}
