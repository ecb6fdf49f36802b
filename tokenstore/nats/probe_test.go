package nats

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	client "github.com/nats-io/nats.go"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/tokenstore"
)

// What the watch does not deliver is asked for, and then the copy is confirmed. Nothing more
// is asked for when the bucket was replaced, or is doubted.
func TestCatchUp(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*copyState){
		"": func(*copyState) {}, "replaced": func(c *copyState) { c.created = time.Time{} }, "doubted": func(c *copyState) { c.doubted = true },
	} {
		s := openOne(t)
		s.stop()
		s.running.Wait() // nothing else keeps the copy up to date
		var state bucketState
		before := s.freshness.lastConfirmed()
		for i := range 3 {
			m := encode(tokenstore.Record{Value: fmt.Append(nil, i)})
			must(t, errorOf(s.js.Publish(t.Context(), s.subject(access, fmt.Sprint(i)), m)))
		}
		state, err := s.bucketState(t.Context())
		must(t, err)
		p := &progress{copyState: copyState{created: state.created, complete: true}}
		change(&p.copyState)
		asked := time.Now()
		caught, ok := name == "", false
		catchUp := func() bool {
			_ = s.catchUp(t.Context(), p, probe{bucketState: state, sentAt: asked})
			_, ok = s.mirror.get(access, "2")
			return ok
		}
		if caught { // an answer that is late is asked for again, as by the next probe
			await(t, "what was missing", catchUp)
		} else {
			catchUp()
		}
		if ok != caught || s.freshness.lastConfirmed().Equal(asked) != caught || s.freshness.lastConfirmed().Equal(before) == caught {
			t.Errorf("%s: the copy has what was missing: %v, and was confirmed for %v", name, ok, s.freshness.lastConfirmed())
		}
	}
}

// A server that has not applied everything, and says that there is nothing, is not believed: neither
// when the copy catches up, nor when the whole bucket has been read.
func TestServerThatIsBehind(t *testing.T) {
	t.Parallel()
	s, other, connect := openTwo(t)
	s.stop()
	s.running.Wait()
	rec := create(t, other, record("a", "x"))
	state, err := s.bucketState(t.Context())
	must(t, err)
	conn, err := connect()
	must(t, err)
	t.Cleanup(conn.Close)
	s.config.Domain = "behind"
	var nothing atomic.Int64 // how often it says so
	must(t, errorOf(conn.Subscribe(s.apiSubject(">"), func(m *client.Msg) {
		call := strings.TrimPrefix(m.Subject, s.apiSubject(""))
		if strings.HasPrefix(call, "STREAM.MSG.GET.") && nothing.Add(-1) >= 0 {
			must(t, m.Respond([]byte("{}")))
			return
		}
		go func() {
			answer, err := conn.Request("$JS.API."+call, m.Data, natstest.Limit)
			must(t, err)
			must(t, m.Respond(answer.Data))
		}()
	})))
	must(t, conn.Flush())

	w := bucketWatch{store: s.Store, progress: &progress{}, bucket: state, full: true}
	await(t, "the end of a full reading", func() bool {
		nothing.Store(1)
		err := w.handle(t.Context(), nil)
		if err == nil {
			t.Fatal("the reading has ended, and lacks something")
		}
		return errors.Is(err, errBehind) // else an answer was late
	})
	p := &progress{copyState: copyState{created: state.created, complete: true}}
	await(t, "the copy to catch up", func() bool {
		nothing.Store(2)
		_ = s.catchUp(t.Context(), p, probe{bucketState: state, sentAt: time.Now()})
		return p.applied > 0
	})
	if !has(t, s, rec) {
		t.Error("the copy lacks what the server did not have yet")
	}
}

// Writes reach the copy without the consumer that the watch reads from, which the server
// tells nobody.
func TestWatchThatDies(t *testing.T) {
	t.Parallel()
	server := natstest.Server(t)
	a, b := openReady(t, natstest.Connect(server)), openReady(t, natstest.Connect(server))
	rec := create(t, b, record("a", "one"))
	await(t, "the record to be here", func() bool { return has(t, a, rec) })
	deleteConsumers(t, server)
	changes := watch(t, a)
	rec = update(t, b, rec, "two")
	remove(t, b, create(t, b, record("gone", "x")))
	if c := nextOf(t, changes, "a"); !equalButVersion(c.Record, rec) {
		t.Errorf("change %+v, want %+v", c, rec)
	}
	awaitSame(t, a, []tokenstore.Record{rec})
	awaitSame(t, b, []tokenstore.Record{rec})
	// The client would notice, too, but later. And the store may have started again just
	// then, because its connection was established.
	if len(a.logs.FilterMessage("reading the tokens again").All()) == 0 {
		awaitLog(t, a, "the watch of the bucket does not keep up")
	}
}

// consumerOf returns the name of the server that a store's watch reads from.
func consumerOf(t *testing.T, s *Store) (name string) {
	t.Helper()
	await(t, "one consumer", func() bool {
		stream, err := s.js.Stream(t.Context(), s.streamName())
		if err != nil {
			return false
		}
		var names []string
		list := stream.ListConsumers(t.Context())
		for c := range list.Info() {
			names = append(names, c.Cluster.Leader)
		}
		if list.Err() == nil && len(names) == 1 {
			name = names[0]
		}
		return name != ""
	})
	return name
}

// The watch reads from one of three replicas, while the others die. It has no leader then:
// writes before that reach the copy, and afterwards it is not kept fresh. NATS takes 10 s to
// notice: so TestNoLeader has this in short, and it runs in full with MILLRACE_CHECK.
func TestReplicaAlone(t *testing.T) {
	t.Parallel()
	if os.Getenv("MILLRACE_CHECK") == "" {
		t.Log("runs with MILLRACE_CHECK")
		return
	}
	servers := natstest.Cluster(t, 5)
	connectTo := func(s *server.Server) func(*Config) {
		return func(c *Config) { c.Connect, c.Replicas, c.MaxStale = natstest.Connect(s), 3, 2*time.Second }
	}
	first := openStore(t, nil, connectTo(servers[0]))
	await(t, "a first record", func() bool {
		_, err := first.Create(t.Context(), record("a", "x"))
		return err == nil || errors.Is(err, tokenstore.ErrExists)
	})
	stream, err := first.js.Stream(t.Context(), first.streamName())
	must(t, err)
	holders := []string{stream.CachedInfo().Cluster.Leader}
	for _, r := range stream.CachedInfo().Cluster.Replicas {
		holders = append(holders, r.Name)
	}
	must(t, first.Close())
	var s testStore
	for _, server := range servers {
		if !slices.Contains(holders, server.Name()) {
			s = openReady(t, nil, connectTo(server)) // which stays
			break
		}
	}
	reader := consumerOf(t, s.Store) // the replica that the watch reads from
	down := 0
	for _, server := range servers {
		if name := server.Name(); slices.Contains(holders, name) && name != reader {
			server.Shutdown()
			if down++; down == 1 { // two are a majority
				await(t, "a write", func() bool {
					_, err := s.js.Publish(t.Context(), s.subject(access, "b"), encode(record("b", "x")))
					return err == nil
				})
				await(t, "the write in the copy", func() bool { _, ok := s.mirror.get(access, "b"); return ok })
			}
		}
	}
	await(t, "a replica to answer for itself", func() bool {
		stream, err := s.js.Stream(t.Context(), s.streamName())
		return err == nil && stream.CachedInfo().Cluster.Leader == ""
	})
	await(t, "the copy to be too old", func() bool { return s.freshness.awaitUsable(t.Context()) != nil })
	confirmed := s.freshness.lastConfirmed()
	for range 5 {
		if _, err := s.bucketState(t.Context()); !errors.Is(err, errNoLeader) && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the state of a bucket without a leader: %v", err)
		}
	}
	same(t, "the last confirmation, by a replica alone", s.freshness.lastConfirmed(), confirmed)
}

// A watch that is a moment behind while others write keeps up; one that does not
// bring what was there 2 s ago does not.
func TestWatchLag(t *testing.T) {
	start := time.Now()
	var l lag
	take := func(n int, watched uint64) bool { // the n-th answer, four in a second
		at := start.Add(time.Duration(n) * probeInterval)
		return l.tooLong(probe{bucketState: bucketState{lastRevision: uint64(10 * (n + 1))}, sentAt: at}, watched, at)
	}
	for n := range 100 {
		if take(n, uint64(10*n)) { // always what the answer before has shown
			t.Fatalf("answer %d: a watch that brings everything lags", n)
		}
	}
	for n := 100; n < 200; n++ {
		if !take(n, 1000) {
			continue
		}
		if behind := time.Duration(n-100) * probeInterval; behind <= maxWatchLag || behind > maxWatchLag+2*probeInterval {
			t.Errorf("a watch that brings nothing lags after %v, want %v", behind, maxWatchLag)
		}
		return
	}
	t.Error("a watch that brings nothing never lags")
}

// A copy that was not confirmed for so long that the bucket may have dropped delete
// markers is not confirmed again before the whole bucket was read.
func TestOldCopyIsReadAgain(t *testing.T) {
	t.Parallel()
	s := openOne(t)
	put(t, s, "live", time.Time{})
	await(t, "a full reading", func() bool { // an answer that was under way may confirm the copy
		s.mirror.put(tokenstore.Record{Kind: access, ID: "ghost", Version: 1, Value: []byte("x")}, 0)
		old := time.Now().Add(-deleteMarkerTTL)
		s.freshness.mu.Lock()
		s.freshness.confirmedAt = old
		s.freshness.mu.Unlock()
		signal(s.lookups.confirmWanted)
		signal(s.reconnected) // as after a reconnect
		await(t, "a confirmation", func() bool { return s.freshness.lastConfirmed() != old })
		_, ghost := s.mirror.get(access, "ghost")
		return !ghost
	})
	if _, ok := s.mirror.get(access, "live"); !ok {
		t.Error("the reading has taken away what the bucket has")
	}
}

// The age of a copy counts from the time for which it was confirmed, not from when the
// confirmation arrived, and watchers are told once each time that it becomes too old.
func TestFreshness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s freshness
		s.start(10*time.Second, 5*time.Second)
		var told atomic.Int32
		s.watch(func() { told.Add(1) })
		check := func(usable bool, want int32) {
			t.Helper()
			synctest.Wait()
			err := s.awaitUsable(t.Context())
			if (err == nil) != usable || err != nil && !errors.Is(err, tokenstore.ErrUnavailable) {
				t.Errorf("error %v; usable: want %v", err, usable)
			}
			same(t, "how often it was told", told.Load(), want)
		}
		check(false, 0) // waits, and has no copy
		s.confirm(time.Now())
		check(true, 0)
		time.Sleep(8 * time.Second)
		check(true, 0)
		s.confirm(time.Now().Add(-5 * time.Second))
		time.Sleep(4 * time.Second)
		check(true, 0)
		s.confirm(time.Now().Add(-10 * time.Second)) // an answer that was on its way for longer
		time.Sleep(time.Second)
		check(false, 1)
		s.confirm(time.Now().Add(-11 * time.Second))
		time.Sleep(time.Minute)
		check(false, 1)
		s.confirm(time.Now())
		check(true, 1)
		time.Sleep(10 * time.Second)
		check(false, 2)
		s.stop()
	})
}

// After a write lost against one that was not in the copy yet, the copy has the winner:
// otherwise a caller that tries again in a loop might never end.
func TestConflictUpdatesCopy(t *testing.T) {
	t.Parallel()
	s, other, _ := openTwo(t)
	one := put(t, s, "a", time.Time{})
	two, err := other.Update(t.Context(), one)
	must(t, err)
	await(t, "the watch has brought it", func() bool {
		rec, _ := s.mirror.get(access, "a")
		return rec.Version == two
	})
	s.mirror.mu.Lock()
	s.mirror.entries[entryKey{access, "a"}] = entry{record: one}
	s.mirror.mu.Unlock()
	wantErr(t, "the call", errorOf(s.Update(t.Context(), one)), tokenstore.ErrConflict)
	if rec, ok := s.mirror.get(access, "a"); !ok || rec.Version != two {
		t.Errorf("the copy has %+v, want version %d", rec, two)
	}
}
