package nats

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/tokenstore"
)

// A full reading that was interrupted is repeated as a whole: only its end removes
// records that the bucket no longer has.
func TestReadingInterrupted(t *testing.T) {
	t.Parallel()
	const n = 3000
	s := openOne(t)
	fill(t, s.Store, n, encode(tokenstore.Record{}))
	await(t, "the copy has all", func() bool { return len(s.mirror.ids(access, "", math.MaxInt)) == n })
	now, err := s.bucketState(t.Context())
	must(t, err)
	ghost := entryKey{access, "ghost"} // which the bucket has not

	// A second follower, which reads everything.
	r := progress{round: 100, copyState: copyState{created: now.created}}
	for r.watched == 0 || r.watched == now.lastRevision { // else it was too early, or too late
		r.watched, r.complete = 0, false
		s.mirror.mu.Lock()
		s.mirror.entries[ghost] = entry{record: tokenstore.Record{Kind: access, ID: ghost.id, Version: 1}}
		s.mirror.mu.Unlock()
		round := r.round + 1
		interrupt(t, s.Store, &r, func() bool {
			s.mirror.mu.Lock()
			defer s.mirror.mu.Unlock()
			return s.mirror.entries[entryKey{access, "0"}].round >= round
		})
		if t.Failed() {
			return
		}
	}
	gone := func() bool {
		_, ok := s.mirror.get(ghost.kind, ghost.id)
		return !ok
	}
	if gone() {
		t.Fatal("half a reading has taken a record away")
	}
	interrupt(t, s.Store, &r, gone)
}

// interrupt follows the bucket until something holds; what a busy server ends too early goes on.
func interrupt(t *testing.T, s *Store, r *progress, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), natstest.Limit)
	defer cancel()
	held := make(chan bool, 1)
	go func() { // ends with the context
		defer cancel()
		for ctx.Err() == nil {
			if holds() {
				held <- true
				return
			}
		}
		held <- false
	}()
	var err error
	for ctx.Err() == nil {
		err = s.followOnce(ctx, r)
	}
	if !<-held {
		t.Errorf("it has not come to what was awaited: %v", err)
	}
}

// silentWatcher delivers nothing, not even the end of what there is.
type silentWatcher struct{ jetstream.KeyWatcher }

func (silentWatcher) Updates() <-chan jetstream.KeyValueEntry { return nil }

// A full reading begins again if nothing comes.
func TestReadingIsSilent(t *testing.T) {
	t.Parallel()
	s := openStore(t, natstest.Connect(natstest.Server(t)), func(c *Config) { c.callTimeout = time.Millisecond })
	s.stop()
	s.running.Wait()
	w := bucketWatch{store: s.Store, progress: new(progress), full: true}
	if err := w.run(t.Context(), silentWatcher{}); err == nil || !strings.Contains(err.Error(), "not delivered") {
		t.Errorf("got %v", err)
	}
}

// At the end of a full reading the bucket is asked about records that were not seen:
// they may only have been written too often meanwhile.
func TestUnseenIsAskedFor(t *testing.T) {
	t.Parallel()
	s := openOne(t)
	live := put(t, s, "live", time.Time{})
	phantom := tokenstore.Record{Kind: access, ID: "phantom", Version: live.Version, Value: []byte("x")}
	s.mirror.put(phantom, 0)
	must(t, s.dropUnseen(t.Context(), 99, live.Version, false))
	if got := s.mirror.ids(access, "", math.MaxInt); len(got) != 1 || got[0] != "live" {
		t.Errorf("the copy has %q", got)
	}
	must(t, s.dropUnseen(t.Context(), 99, live.Version, true)) // of another bucket nothing old is left
	same(t, "records of the copy", len(s.mirror.ids(access, "", math.MaxInt)), 0)
}

// Between the notice that the bucket was replaced and the end of its reading, the copy
// has old records, whose versions no write can replace.
func TestWriteOverReplaced(t *testing.T) {
	t.Parallel()
	s := openOne(t)
	live := put(t, s, "live", time.Time{})
	phantom := tokenstore.Record{Kind: access, ID: "phantom", Version: live.Version + 1, Value: []byte("x")}
	phantom.Version = s.mirror.put(phantom, 0)
	s.mirror.rebase()
	wantErr(t, "what the bucket has not", errorOf(s.Update(t.Context(), phantom)), tokenstore.ErrNotFound)
	wantErr(t, "over an old version", errorOf(s.Update(t.Context(), live)), tokenstore.ErrConflict)
	again, err := s.Get(t.Context(), access, "live")
	must(t, err)
	if _, err := s.Update(t.Context(), again); err != nil || again.Version <= phantom.Version {
		t.Errorf("over version %d, which is new: %v", again.Version, err)
	}
}
