package badger

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/wire"
)

// marked is a payload that begins with a mark, and otherwise has nothing that could be
// compressed. It has the mark again in each 4 KiB.
func marked(mark string, size int) []byte {
	p := make([]byte, max(size, len(mark)))
	_, _ = rand.Read(p) // never fails
	for at := 0; at+len(mark) <= len(p); at += 4096 {
		copy(p[at:], mark)
	}
	return p
}

func newMark() string {
	var random [16]byte
	_, _ = rand.Read(random[:])
	return hex.EncodeToString(random[:])
}

// filesWith returns which files of a store have a text, whatever they are for. A search in
// which a file was removed does not count: a compaction has moved what it had into files that
// were not there when the search began.
func filesWith(t *testing.T, dir, text string) (found []string) {
	t.Helper()
	for moved := true; moved; {
		moved, found = false, nil
		must(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			if os.IsNotExist(err) || err == nil && len(data) == 0 { // it is emptied before it is removed
				moved = true
				return nil
			}
			if bytes.Contains(data, []byte(text)) {
				found = append(found, filepath.Base(path))
			}
			return err
		}))
	}
	return found
}

// store stores messages of a tenant, many at a time.
func store(t *testing.T, s *Store, tenant, channel, mark string, n, size int) {
	t.Helper()
	window := make(chan struct{}, 256)
	var stored sync.WaitGroup
	for range n {
		window <- struct{}{}
		stored.Add(1)
		s.Append(&history.Message{
			History: "h", Tenant: tenant, Channel: []byte(channel), Payload: marked(mark, size),
			Stored: func(_ *history.Message, r history.Result) {
				if r.Err != nil {
					t.Error(r.Err)
				}
				<-window
				stored.Done()
			},
		})
	}
	stored.Wait()
}

// After a purge no file of the store has what was purged, and all else is there. Each way
// to purge meets each state of the files in a soak, here one.
func TestPurgeErases(t *testing.T) {
	channels := []string{"secret", "", "all"}
	for i, c := range []struct {
		name     string
		n, size  int // of the messages that are purged
		limit    int
		before   int // messages of 4 KiB of others, before and after
		reopened bool
		busy     bool // others store messages meanwhile
		levels   bool // what is removed is on another level of the database than its removal
	}{
		{name: "just stored", n: 10, size: 100, limit: 1000},
		{name: "in tables", n: 2000, size: 4096, limit: 100_000, before: 5000},
		{name: "after a new start", n: 100, size: 1000, limit: 1000, before: 100, reopened: true},
		{name: "removed by a limit before", n: 5000, size: 4096, limit: 2, before: 100},
		{name: "large", n: 3, size: 3 << 20, limit: 100, before: 10, reopened: true},
		{name: "while others store", n: 2000, size: 1000, limit: 100_000, before: 2000, busy: true},
		{name: "in many levels", n: 2000, size: 4096, limit: 100_000, before: 4000, levels: true},
	} {
		for j, channel := range channels {
			if os.Getenv("MILLRACE_SOAK") == "" && i%len(channels) != j {
				continue
			}
			t.Run(c.name+"/"+channel, func(t *testing.T) {
				if c.levels {
					defaults := tune
					tune = func(o badger.Options) badger.Options {
						return o.WithBaseLevelSize(128 << 10).WithBaseTableSize(128 << 10).WithNumLevelZeroTables(1)
					}
					t.Cleanup(func() { tune = defaults })
				}
				dir := t.TempDir()
				s := open(t, Config{Dir: dir})
				define(t, s, func(l *history.Limits) { l.Messages, l.Size = c.limit, 1<<30 })
				mark, same, other := newMark(), newMark(), newMark()
				store(t, s, "other", "secret", other, c.before/2, 4096)
				store(t, s, "t", "secret", mark, c.n, c.size)
				store(t, s, "t", "open", same, 10, 100)
				store(t, s, "other", "secret", other, c.before-c.before/2, 4096)
				if c.reopened {
					must(t, s.Close())
					s = open(t, Config{Dir: dir})
				}
				if len(filesWith(t, dir, mark)) == 0 {
					t.Fatal("the search finds nothing that there is")
				}
				stop := make(chan struct{})
				var busy sync.WaitGroup
				if c.busy {
					busy.Go(func() {
						for {
							select {
							case <-stop:
								return
							default:
								store(t, s, "busy", "c", other, 100, 1000)
								readPage(t, s, "t", "#", 0)
							}
						}
					})
				}
				tenant, of := "t", channel
				if channel == "all" {
					tenant, of = "", ""
				}
				_, err := s.Purge("h", tenant, of)
				found := filesWith(t, dir, mark)
				close(stop)
				busy.Wait()
				must(t, err)
				if len(found) > 0 {
					t.Errorf("purged messages are in %v", found)
				}
				if kept := len(filesWith(t, dir, same)) > 0; kept != (channel == "secret") {
					t.Errorf("another channel of the tenant is there: %v", kept)
				}
				for range 2 { // and after a new start
					if page := page(t, s, "open", 0); (len(page.Messages) > 0) != (channel == "secret") {
						t.Errorf("%d messages of another channel", len(page.Messages))
					}
					if page := page(t, s, "secret", 0); len(page.Messages) > 0 {
						t.Errorf("%d messages of the purged channel", len(page.Messages))
					}
					if channel != "all" {
						expectOther(t, s, other, min(c.before, c.limit))
					}
					must(t, s.Close())
					s = open(t, Config{Dir: dir})
				}
			})
		}
	}
}

func expectOther(t *testing.T, s *Store, mark string, want int) {
	t.Helper()
	got := 0
	for after := uint64(0); ; {
		p := readPage(t, s, "other", "#", after)
		for _, m := range p.Messages {
			if !bytes.HasPrefix(m.Payload, []byte(mark)) || len(m.Payload) != 4096 {
				t.Fatalf("a message of another tenant is %.40q", m.Payload)
			}
			got++
		}
		if len(p.Messages) == 0 {
			break
		}
		after = p.Through.N
	}
	equal(t, "messages of another tenant", got, want)
}

// Payloads of all sizes, and their senders, come back as they were, and nothing is left of them when they are
// removed.
func TestLargePayloads(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Config{Dir: dir})
	define(t, s, func(l *history.Limits) { l.Messages, l.Size = 1000, 1<<30 })
	sizes := []int{0, 1, chunkBytes - 1, chunkBytes, chunkBytes + 1, 2 * chunkBytes, 2*chunkBytes + 1, 16 << 20}
	senders := [2][]byte{[]byte("ann"), nil}
	payloads, at := make([][]byte, len(sizes)), make([]wire.Position, len(sizes))
	for i, size := range sizes {
		payloads[i] = make([]byte, size)
		_, _ = rand.Read(payloads[i])
		at[i] = put(t, s, history.Message{Channel: fmt.Appendf(nil, "c.%d", i), Payload: payloads[i], Sender: senders[i%2]}).Position
	}
	before, err := s.Usage()
	must(t, err)
	for range 2 {
		got := page(t, s, "#", 0).Messages
		equal(t, "messages", len(got), len(sizes))
		for i, m := range got {
			if m.Position != at[i] || !bytes.Equal(m.Payload, payloads[i]) || !bytes.Equal(m.Sender, senders[i%2]) {
				t.Errorf("%v with %d bytes of %q, want %v with %d", m.Position, len(m.Payload), m.Sender, at[i], sizes[i])
			}
		}
		if after, err := s.Usage(); err != nil || after[0].Bytes != before[0].Bytes {
			t.Errorf("usage %+v before, and %+v after, %v", before, after, err)
		}
		must(t, s.Close())
		s = open(t, Config{Dir: dir})
	}
	// One whose chunks were written, and that was not, is of a process that was killed.
	must(t, s.writeChunks([]pending{{store: true, of: mustFind(t, s), at: wire.Position{N: 99}, message: &history.Message{History: "h", Tenant: "t", Payload: make([]byte, 3*chunkBytes)}}}))
	for i := range sizes[1:] {
		must(t, errorOf(s.Purge("h", "t", fmt.Sprint("c.", i+1))))
	}
	must(t, s.Close())
	s = open(t, Config{Dir: dir})
	must(t, s.each(kindChunk, func(k, _ []byte) error { return fmt.Errorf("a chunk is left: %q", k) }))
}

func mustFind(t *testing.T, s *Store) *kept {
	t.Helper()
	k, err := s.set.Find("h")
	must(t, err)
	return k
}

// A purge erases also what a compaction has met with its removal already, and kept since
// somebody read: that no later compaction meets by itself.
func TestPurgeErasesWhatReadersKept(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Config{Dir: dir})
	define(t, s, func(l *history.Limits) { l.Messages, l.Size = 1000, 1<<30 })
	mark := newMark()
	store(t, s, "t", "secret", mark, 100, 1000)
	reader := s.db.NewTransaction(false)
	defer reader.Discard()
	// A purge that does not come to its end, such as that of a process that is killed.
	removed, err := s.set.Purge("h", "t", "secret", func() error { return s.flushAll(mustFind(t, s)) })
	if err != nil || removed != 100 {
		t.Fatalf("%d messages removed, %v", removed, err)
	}
	must(t, errors.Join(s.flushMemory(), s.db.Flatten(1)))
	reader.Discard()
	if len(filesWith(t, dir, mark)) == 0 {
		t.Fatal("the compaction has kept nothing")
	}
	must(t, errorOf(s.Purge("h", "t", "secret")))
	if found := filesWith(t, dir, mark); len(found) > 0 {
		t.Errorf("purged messages are in %v", found)
	}
}

// Removals are written in parts, between which messages are stored.
func TestRemovalsInParts(t *testing.T) {
	s := open(t, Config{Dir: t.TempDir()})
	define(t, s, func(l *history.Limits) { l.Messages = 100_000 })
	putAll(t, s, "", "t", 2) // of manyTenants each
	k := mustFind(t, s)
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
	equal(t, "messages are not removed", left, 0)
}
