package nats

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/tokenstore"
)

// admin returns a JetStream connection of an operator, beside the stores.
func admin(t *testing.T, s *server.Server) jetstream.JetStream {
	t.Helper()
	conn, err := natstest.Connect(s)()
	must(t, err)
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	must(t, err)
	return js
}

// recreateBucket deletes the bucket, and makes it again at once.
func recreateBucket(t *testing.T, js jetstream.JetStream) {
	t.Helper()
	must(t, js.DeleteKeyValue(t.Context(), "tokens"))
	createBucket(t, js)
}

func createBucket(t *testing.T, js jetstream.JetStream) {
	t.Helper()
	// The server may still be removing the files of the old one.
	await(t, "the bucket is made", func() bool {
		_, err := js.CreateOrUpdateKeyValue(t.Context(), jetstream.KeyValueConfig{
			Bucket: "tokens", Description: "tokens of Millrace edges", History: 1, Replicas: 1, Storage: jetstream.FileStorage,
		})
		return err == nil
	})
}

// equalButVersion is equal without the versions: when a bucket is replaced, each store
// continues with versions of its own.
func equalButVersion(a, b tokenstore.Record) bool {
	a.Version = b.Version
	return equal(a, b)
}

// awaitSame waits until a store has exactly these records.
func awaitSame(t *testing.T, s testStore, want []tokenstore.Record) {
	t.Helper()
	await(t, fmt.Sprintf("the store has %d records of the new bucket", len(want)), func() bool {
		got, err := all(t, s)
		return err == nil && slices.EqualFunc(got, want, equalButVersion)
	})
}

// The bucket is replaced by another one, whose revisions start over.
func TestBucketReplaced(t *testing.T) {
	t.Parallel()
	for name, fill := range map[string]func(*testing.T, tokenstore.Store){
		"empty": func(*testing.T, tokenstore.Store) {},
		"fewer revisions": func(t *testing.T, s tokenstore.Store) {
			create(t, s, record("b", "new"))
			create(t, s, record("new", "new"))
		},
		"as many revisions": func(t *testing.T, s tokenstore.Store) {
			for i := range 9 {
				create(t, s, record(fmt.Sprint("new", i), "new"))
			}
			create(t, s, record("b", "new"))
		},
		"more revisions": func(t *testing.T, s tokenstore.Store) {
			rec := create(t, s, record("b", "new"))
			for i := range 30 {
				create(t, s, record(fmt.Sprint("new", i), "new"))
			}
			update(t, s, rec, "newer")
		},
	} {
		for _, away := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, away %v", name, away), func(t *testing.T) {
				t.Parallel()
				testBucketReplaced(t, away, fill)
			})
		}
	}
}

func testBucketReplaced(t *testing.T, away bool, fill func(*testing.T, tokenstore.Store)) {
	server := natstest.Server(t)
	link := natstest.StartProxy(t, server)
	a, b := openReady(t, link.Connect()), openReady(t, link.Connect())
	writer := openReady(t, natstest.Connect(server), patient)
	for _, id := range []string{"a", "b", "c", "d"} {
		update(t, writer, create(t, writer, record(id, "old")), "old too")
	}
	remove(t, writer, create(t, writer, record("new", "deleted")))
	awaitSame(t, a, mustAll(t, writer))
	awaitSame(t, b, mustAll(t, writer))
	must(t, writer.Close())
	before, err := b.Get(t.Context(), access, "b")
	must(t, err)
	changes := watch(t, b)
	if away {
		link.Cut()
	}
	recreateBucket(t, admin(t, server))
	c := openReady(t, natstest.Connect(server), patient)
	fill(t, c)
	want := mustAll(t, c)
	link.Resume()
	awaitSame(t, a, want)
	awaitSame(t, b, want)
	// A session accepts a record as new only if its version is higher.
	if after, err := b.Get(t.Context(), access, "b"); err == nil && after.Version <= before.Version {
		t.Errorf("the version went from %d to %d", before.Version, after.Version)
	}
	// The owner of an open connection with a token that is gone must be told.
	if ch := nextOf(t, changes, "a"); !ch.Deleted {
		t.Errorf("change %+v, want a deletion", ch)
	}

	// And both go on with the new one, if need be at the second attempt.
	var next tokenstore.Record
	await(t, "a store to create", func() bool {
		next = record("next"+rand.Text(), "x")
		next.Version, err = a.Create(t.Context(), next)
		return err == nil
	})
	if ch := nextOf(t, changes, next.ID); !equalButVersion(ch.Record, next) {
		t.Errorf("change %+v, want %+v", ch, next)
	}
	await(t, "the other one to update", func() bool {
		if next, err = b.Get(t.Context(), next.Kind, next.ID); err == nil {
			next.Value = []byte("y")
			next.Version, err = b.Update(t.Context(), next)
		}
		return err == nil
	})
	awaitSame(t, a, mustAll(t, b))
	await(t, "and to delete", func() bool {
		err = b.Delete(t.Context(), next.Kind, next.ID, next.Version)
		return err == nil || errors.Is(err, tokenstore.ErrNotFound)
	})
	awaitSame(t, a, mustAll(t, b))
}

// Only the stores make a deleted bucket again.
func TestBucketDeleted(t *testing.T) {
	t.Parallel()
	server := natstest.Server(t)
	a, b := openReady(t, natstest.Connect(server), withMaxStale(natstest.Limit)), openReady(t, natstest.Connect(server))
	a.WatchStale(func() { t.Error("the store has not noticed for as long as a copy may be used") })
	wantRecord(t, b, create(t, a, record("a", "x"))) // so that both go on with the same version
	must(t, admin(t, server).DeleteKeyValue(t.Context(), "tokens"))
	awaitSame(t, a, nil)
	awaitSame(t, b, nil)
	wantRecord(t, b, create(t, a, record("a", "y")))
}

// A store that must not make the bucket waits until it is made.
func TestNoBucket(t *testing.T) {
	t.Parallel()
	server := natstest.Server(t)
	s := openStore(t, natstest.Connect(server), withoutCreate)
	awaitLog(t, s, `the bucket "tokens"`, "not found")
	js := admin(t, server)
	if _, err := js.KeyValue(t.Context(), "tokens"); err == nil {
		t.Error("the bucket was made")
	}
	createBucket(t, js)
	awaitReady(t, s)
	wantRecord(t, s, create(t, s, record("a", "x")))
}

// A bucket in memory is empty after a restart of its server.
func TestBucketInMemory(t *testing.T) {
	t.Parallel()
	first, again := natstest.Restartable(t)
	s := openReady(t, natstest.Connect(first), func(c *Config) { c.Storage = jetstream.MemoryStorage })
	create(t, s, record("a", "x"))
	changes := watch(t, s)
	again()
	awaitSame(t, s, nil)
	if c := nextOf(t, changes, "a"); !c.Deleted {
		t.Errorf("change %+v, want a deletion", c)
	}
	wantRecord(t, s, create(t, s, record("a", "y")))
}

func withMaxBytes(n int64) func(*Config) { return func(c *Config) { c.MaxBytes = n } }

// limitAccount sets the limits of the account that all clients of a server use.
func limitAccount(t *testing.T, s *server.Server, l server.JetStreamAccountLimits) {
	t.Helper()
	l.MaxMemory, l.MaxStreams, l.MaxConsumers, l.MaxAckPending = -1, -1, -1, -1
	err := s.GlobalAccount().UpdateJetStreamLimits(map[string]server.JetStreamAccountLimits{"": l})
	must(t, err)
}

// An account that requires a size refuses a bucket without one: calls fail at once, and
// the store works as soon as the account is changed.
func TestMaxBytesRequired(t *testing.T) {
	t.Parallel()
	began := time.Now()
	srv := natstest.Server(t)
	limitAccount(t, srv, server.JetStreamAccountLimits{MaxStore: 64 << 20, MaxBytesRequired: true})
	s := openStore(t, natstest.Connect(srv), func(c *Config) { c.callTimeout = 2 * natstest.Limit })
	words := []string{"max_bytes of token_store nats", "account requires"}
	awaitLog(t, s, words...)
	reads, writes := calls(t, s, record("a", "x"))
	wantErrs(t, reads, tokenstore.ErrUnavailable, words...)
	wantErrs(t, writes, tokenstore.ErrUnavailable, words...)
	if time.Since(began) > natstest.Limit {
		t.Error("the calls wait")
	}
	limitAccount(t, srv, server.JetStreamAccountLimits{MaxStore: 64 << 20})
	awaitReady(t, s)
	wantRecord(t, s, create(t, s, record("a", "x")))
}

// A size that the account allows is that of the bucket; one that it does not is named.
func TestMaxBytes(t *testing.T) {
	t.Parallel()
	srv := natstest.Server(t)
	limitAccount(t, srv, server.JetStreamAccountLimits{MaxStore: 64 << 20, MaxBytesRequired: true})
	large := openStore(t, natstest.Connect(srv), withMaxBytes(65<<20))
	awaitLog(t, large, "max_bytes of token_store nats", "insufficient storage resources")
	must(t, large.Close())
	awaitReady(t, openStore(t, natstest.Connect(srv), withMaxBytes(1<<20)))
	awaitReady(t, openStore(t, natstest.Connect(srv), withMaxBytes(2<<20)))
	stream, err := admin(t, srv).Stream(t.Context(), "KV_tokens")
	if err != nil || stream.CachedInfo().Config.MaxBytes != 1<<20 {
		t.Errorf("the stream is %+v, %v", stream.CachedInfo().Config, err)
	}
}

// A full bucket refuses changes, can be read, and takes changes when it has room.
func TestBucketFull(t *testing.T) {
	t.Parallel()
	s := openReady(t, natstest.Connect(natstest.Server(t)), withMaxBytes(1<<20))
	big := record("", strings.Repeat("x", 60<<10))
	var kept []tokenstore.Record
	var err error
	for err == nil && len(kept) < 100 {
		big.ID = fmt.Sprint(len(kept))
		if big.Version, err = s.Create(t.Context(), big); err == nil {
			kept = append(kept, big)
		}
	}
	wantErr(t, "Create", err, tokenstore.ErrInsufficientStorage, "maximum bytes exceeded")
	if len(kept) < 10 {
		t.Fatalf("only %d records fit", len(kept))
	}
	longer := kept[0]
	longer.Value = bytes.Repeat([]byte("y"), 120<<10)
	_, err = s.Update(t.Context(), longer)
	wantErr(t, "Update", err, tokenstore.ErrInsufficientStorage)
	wantRecord(t, s, kept[0])
	awaitLog(t, s, "no room for changes of tokens", "maximum bytes exceeded")
	remove(t, s, kept[1])
	awaitLog(t, s, "has taken a change of tokens again")
	create(t, s, record("small", "x"))
	if n := strings.Count(logText(s.logs), "no room for changes of tokens"); n != 1 {
		t.Errorf("the log says %d times that it is full", n)
	}
}
