package nats

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/history/internal/index"
	"github.com/millrace/millrace/wire"
)

// operator is somebody who works on the streams beside the edges.
func operator(t testing.TB, url string) jetstream.JetStream {
	t.Helper()
	conn, err := client.Connect(url)
	must(t, err)
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	must(t, err)
	return js
}

// deleteMessage deletes a message of the history h, as an operator may.
func deleteMessage(t *testing.T, s *server.Server, at wire.Position) {
	t.Helper()
	stream, err := operator(t, s.ClientURL()).Stream(context.Background(), "p_history_h")
	must(t, err)
	must(t, stream.DeleteMsg(context.Background(), at.N))
}

// What somebody deletes is made again, by any edge that has defined something, with another
// epoch, and all edges say so.
func TestDeleted(t *testing.T) {
	t.Parallel()
	for name, remove := range map[string]func(ctx context.Context, js jetstream.JetStream, kv jetstream.KeyValue) error{
		"the stream": func(ctx context.Context, js jetstream.JetStream, _ jetstream.KeyValue) error {
			return js.DeleteStream(ctx, "p_history_h")
		},
		"the definitions": func(ctx context.Context, _ jetstream.JetStream, kv jetstream.KeyValue) error {
			return kv.Delete(ctx, "definitions")
		},
		"the definitions, without a trace": func(ctx context.Context, _ jetstream.JetStream, kv jetstream.KeyValue) error {
			return kv.Purge(ctx, "definitions")
		},
		"the bucket": func(ctx context.Context, js jetstream.JetStream, _ jetstream.KeyValue) error {
			return js.DeleteKeyValue(ctx, "p_histories")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := natstest.Server(t)
			a, b := open(t, natstest.Connect(s), impatient, withShortCalls), open(t, natstest.Connect(s), impatient, withShortCalls)
			f := join(b)
			define(t, a, definition("h"))
			define(t, b, definition("h"))
			follow(t, b, "h")
			at := awaitPut(t, a, "1")
			awaitHead(t, b, "h", at)
			js := operator(t, s.ClientURL())
			kv, err := js.KeyValue(t.Context(), "p_histories")
			must(t, err)
			must(t, remove(t.Context(), js, kv))
			if name == "the bucket" { // which edges look for when they connect
				for id := range uint64(64) {
					_ = s.DisconnectClientByID(id)
				}
			}
			restarted := awaitPut(t, a, "again", at.Epoch)
			awaitHead(t, b, "h", restarted)
			for _, edge := range []*Store{a, b} {
				await(t, "the new epoch to be read", func() bool {
					page, err := edge.Read(t.Context(), query("h", "t", "#", 0))
					return err == nil && len(page.Messages) > 0 && page.Messages[0].Position.Epoch == restarted.Epoch
				})
				if known, err := edge.Knows("h", "t", at); known || err != nil && !errors.Is(err, history.ErrUnavailable) {
					t.Errorf("the position from before: %v, %v", known, err)
				}
			}
			f.await(t, "word of the new epoch", func() bool {
				return len(f.skipped) > 0 && f.skipped[len(f.skipped)-1].Epoch == restarted.Epoch
			})
			again := open(t, natstest.Connect(s))
			define(t, again, definition("h"))
			if at := head(t, again, "h"); at.Epoch != restarted.Epoch {
				t.Errorf("another edge has the epoch of %v, want %v", at, restarted)
			}
		})
	}
}

// knows asks an edge for a position, until it has an answer.
func knows(t *testing.T, s *Store, at wire.Position) (known bool) {
	t.Helper()
	await(t, "word of a position", func() bool {
		var err error
		known, err = s.Knows("h", "t", at)
		return err == nil
	})
	return known
}

// putBack has the files of a copy in place of those of a server that does not run.
func putBack(t *testing.T, from, to string) {
	t.Helper()
	must(t, os.RemoveAll(to))
	must(t, os.CopyFS(to, os.DirFS(from)))
}

// Where the servers are put back to an older copy, numbers are given again: positions of what is
// lost are not known to an edge that was not there.
func TestRestored(t *testing.T) {
	t.Parallel()
	s, again := natstest.Restartable(t, func(o *server.Options) { o.SyncAlways = true })
	dir, saved := s.StoreDir(), filepath.Join(t.TempDir(), "copy")
	a := open(t, natstest.Connect(s), withShortCalls)
	define(t, a, definition("h"))
	first := put(t, a, "h", "t", "c", "1")
	awaitHead(t, a, "h", first)
	again(func() { must(t, os.CopyFS(saved, os.DirFS(dir))) })
	var lost wire.Position
	for range 20 {
		lost = awaitPut(t, a, "lost")
	}
	again(func() {
		putBack(t, saved, dir)
		must(t, a.Close())
	})
	a = open(t, natstest.Connect(s), withShortCalls)
	define(t, a, definition("h"))
	for last := first; last.Epoch == lost.Epoch && last.N <= lost.N+5; {
		last = awaitPut(t, a, "new")
	}
	for at, want := range map[wire.Position]bool{lost: false, first: true} {
		if known := knows(t, a, at); known != want {
			t.Errorf("%v is known: %v, want %v", at, known, want)
		}
	}
}

// Where the servers are put back to one copy again and again, its epoch was current before,
// and gets no messages any more. What was defined since the copy is not in effect either.
func TestRestoredAgain(t *testing.T) {
	t.Parallel()
	s, again := natstest.Restartable(t, func(o *server.Options) { o.SyncAlways = true })
	dir, saved := s.StoreDir(), filepath.Join(t.TempDir(), "copy")
	a, b := open(t, natstest.Connect(s), withShortCalls), open(t, natstest.Connect(s), withShortCalls)
	define(t, a, definition("h"))
	define(t, b, definition("h"))
	f := join(b)
	first := put(t, a, "h", "t", "c", "1")
	put(t, b, "h", "t", "c", "2")
	again(func() { must(t, os.CopyFS(saved, os.DirFS(dir))) })
	keepsOther := func() bool { return f.set.Find("h").Keeps([]byte("other")) }
	seen := map[uint64]bool{first.Epoch: true}
	for range 2 {
		awaitPut(t, b, "lost")
		lost := awaitPut(t, a, "lost")
		define(t, a, definition("h")) // as the copy has it: a change of that changes the current definition
		define(t, a, definition("h", func(d *history.Definition) { d.Channels = []string{"c"} }))
		f.await(t, "the definition", func() bool { return !keepsOther() })
		await(t, "its answer: without one it is made again, and replaces that of the copy", func() bool {
			a.mu.Lock()
			defer a.mu.Unlock()
			return a.wanted["h"].done
		})
		again(func() { putBack(t, saved, dir) })
		at := awaitPut(t, a, "new")
		if seen[at.Epoch] {
			t.Fatalf("%v has an epoch of before; the last position that was lost is %v", at, lost)
		}
		seen[at.Epoch] = true
		f.await(t, "the definition of the copy", keepsOther)
		for _, before := range []wire.Position{first, lost} {
			if knows(t, a, before) {
				t.Errorf("%v, of an epoch of before, is known", before)
			}
		}
	}
}

// Messages that were removed before an edge has received them are a gap, for all tenants.
func TestJump(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	proxy := natstest.StartProxy(t, s)
	a := open(t, natstest.Connect(s))
	b := open(t, proxy.Connect(), withLostAnswers)
	define(t, a, definition("h"))
	define(t, b, definition("h"))
	f := join(b)
	follow(t, b, "h")
	first := put(t, a, "h", "t", "c", "1")
	awaitHead(t, b, "h", first)
	proxy.Cut()
	gone := put(t, a, "h", "u", "c", "gone")
	deleteMessage(t, s, gone)
	proxy.Resume()
	last := put(t, a, "h", "t", "c", "2")
	awaitHead(t, b, "h", last)
	f.await(t, "word of the jump", func() bool { return len(f.skipped) > 0 && f.skipped[0].N == gone.N })
	for _, tenant := range []string{"t", "u", "nobody"} {
		if page := read(t, b, query("h", tenant, "#", first.N)); page.Removed.N < gone.N {
			t.Errorf("%s: removed to %v, want %d at least", tenant, page.Removed, gone.N)
		}
	}
	f.await(t, "both messages", func() bool { return len(f.received) == 2 })
	// One that the edge believes to be there, and has to fetch, is a gap when it is not.
	small := open(t, natstest.Connect(s), small)
	define(t, small, definition("h"))
	awaitHead(t, small, "h", last)
	deleteMessage(t, s, last)
	if page := read(t, small, query("h", "t", "#", first.N)); len(page.Messages) > 0 || page.Removed.N < last.N {
		t.Errorf("what is gone: %+v", page)
	}
}

// What is purged is not in the files of the servers any more.
func TestPurgedBytes(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t, func(o *server.Options) { o.SyncAlways = true })
	dir := s.StoreDir()
	a := open(t, natstest.Connect(s))
	define(t, a, definition("h"))
	for i := range 50 {
		put(t, a, "h", "t", "secret", fmt.Sprintf("unmistakable %d", i))
		put(t, a, "h", "t", "other", fmt.Sprintf("remaining %d", i))
	}
	if !contains(t, dir, "unmistakable") {
		t.Fatal("the search finds nothing in what is stored")
	}
	if n, err := a.Purge("h", "t", "secret"); n != 50 || err != nil {
		t.Fatalf("purged %d, %v", n, err)
	}
	if contains(t, dir, "unmistakable") {
		t.Error("what was purged is on the disk")
	}
	if page := read(t, a, query("h", "t", "#", 0)); len(page.Messages) != 50 || !contains(t, dir, "remaining") {
		t.Errorf("%d messages of another channel are left", len(page.Messages))
	}
	if n, err := a.Purge("h", "", ""); n != 50 || err != nil {
		t.Fatalf("purged %d, %v", n, err)
	}
	if contains(t, dir, "remaining") {
		t.Error("what was purged is on the disk")
	}
}

func contains(t *testing.T, dir, text string) (found bool) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // it went while we looked
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		found = found || bytes.Contains(data, []byte(text))
		return err
	})
	must(t, err)
	return found
}

// A message that is gone for a reason of its tenant is no loss of the others.
func TestGoneOfOneTenant(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	a := open(t, natstest.Connect(s), small)
	define(t, a, definition("h"))
	put(t, a, "h", "other", "c", "1")
	put(t, a, "h", "t", "c", "1")
	gone := put(t, a, "h", "t", "c", "2")
	put(t, a, "h", "t", "c", "3")
	deleteMessage(t, s, gone)
	if page := read(t, a, query("h", "t", "#", 0)); texts(page) != "c=3" || page.Removed.N != gone.N {
		t.Errorf("%q, and up to %v is removed", texts(page), page.Removed)
	}
	if page := read(t, a, query("h", "other", "#", 0)); texts(page) != "c=1" || page.Removed.N >= gone.N {
		t.Errorf("the other tenant has %q, and up to %v is removed", texts(page), page.Removed)
	}
}

// A purge is done, though messages that it erases go by their age at the same time.
func TestPurgeWhileMessagesAge(t *testing.T) {
	t.Parallel()
	s := open(t, natstest.Connect(natstest.Server(t)))
	define(t, s, definition("h", func(d *history.Definition) { d.Limits.Messages, d.Limits.Age = 10_000, time.Second }))
	f := join(s)
	follow(t, s, "h")
	stop := make(chan struct{})
	var publisher sync.WaitGroup
	publisher.Go(func() {
		ticker := time.NewTicker(time.Millisecond)
		defer ticker.Stop()
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-ticker.C:
			}
			for range 4 {
				s.Append(&history.Message{History: "h", Tenant: "t", Channel: []byte("a"), Payload: fmt.Append(nil, i), Stored: func(*history.Message, history.Result) {}})
			}
		}
	})
	f.await(t, "messages that are about to go", func() bool { return len(f.received) > 3000 })
	if removed, err := s.Purge("h", "t", "a"); err != nil || removed == 0 {
		t.Errorf("%d removed, %v", removed, err)
	}
	close(stop)
	publisher.Wait()
}

// Where the stream has another message at a number, as it was lost and this edge does not
// know yet, nobody gets that: it may be of another tenant.
func TestOtherMessageOfTheNumber(t *testing.T) {
	t.Parallel()
	ctx, done := context.WithTimeout(context.Background(), natstest.Limit)
	defer done()
	s := open(t, natstest.Connect(natstest.Server(t)))
	define(t, s, definition("h"))
	at := put(t, s, "h", "other", "c", "secret")
	earlier := at
	earlier.T -= 10_000
	st := s.find("h")
	for name, m := range map[string]struct {
		tenant, channel string
		at              wire.Position
		err             error
	}{
		"it": {"other", "c", at, nil}, "tenant": {"t", "c", at, errGone}, "channel": {"other", "d", at, errGone}, "time": {"other", "c", earlier, errGone},
	} {
		kept := history.Kept{Position: m.at, Channel: m.channel}
		if payload, err := st.fetchOne(ctx, m.tenant, &kept); !errors.Is(err, m.err) || m.err != nil && payload != nil {
			t.Errorf("%s: %q, %v", name, payload, err)
		}
		page := history.Page{Messages: []history.Kept{kept}}
		q := history.Query{Tenant: m.tenant, Pattern: parse(t, "#")}
		if err := st.fetch(ctx, &q, page, []*index.Entry{{}}); !errors.Is(err, m.err) || m.err == nil && string(page.Messages[0].Payload) != "secret" {
			t.Errorf("%s in a page: %q, %v", name, page.Messages[0].Payload, err)
		}
	}
}
