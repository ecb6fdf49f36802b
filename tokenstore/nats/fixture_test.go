package nats

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/internal/testcheck"
	"github.com/millrace/millrace/tokenstore"
)

func TestMain(m *testing.M) { natstest.Main(m) }

const (
	access = tokenstore.KindAccess
	master = tokenstore.KindMaster
)

// testStore is a store with what it logs.
type testStore struct {
	*Store
	logs *observer.ObservedLogs
}

// openStore opens a store on the bucket "tokens" of one server.
func openStore(t *testing.T, connect natstest.Connector, change ...func(*Config)) testStore {
	t.Helper()
	core, logs := observer.New(zap.InfoLevel)
	c := Config{
		Connect: connect, Bucket: "tokens", Create: true, Replicas: 1,
		Storage: jetstream.FileStorage, MaxStale: time.Minute, Log: zap.New(core),
	}
	for _, f := range change {
		f(&c)
	}
	store, err := Open(c)
	must(t, err)
	t.Cleanup(func() {
		store.Close()
		if t.Failed() {
			t.Log(logText(logs))
		}
	})
	return testStore{store, logs}
}

// openReady returns a store that has its copy.
func openReady(t *testing.T, connect natstest.Connector, change ...func(*Config)) testStore {
	t.Helper()
	s := openStore(t, connect, change...)
	natstest.Receive(t, "the bucket to be read", s.freshness.ready)
	return s
}

// openTwo opens two stores on one bucket, whose server stays.
func openTwo(t *testing.T) (a, b testStore, connect natstest.Connector) {
	t.Helper()
	connect = natstest.Connect(natstest.Server(t))
	return openReady(t, connect, patient), openReady(t, connect, patient), connect
}

// openOne opens a store on a server of its own, which stays.
func openOne(t *testing.T) testStore {
	t.Helper()
	return openReady(t, natstest.Connect(natstest.Server(t)), patient)
}

func withMaxStale(d time.Duration) func(*Config) { return func(c *Config) { c.MaxStale = d } }
func withoutCreate(c *Config)                    { c.Create = false }

// patient stores wait for answers as long as a busy machine takes, and in vain where a
// server goes away.
func patient(c *Config) { c.callTimeout = natstest.Limit }

// impatient stores wait for answers for a short time.
func impatient(c *Config) { c.callTimeout = time.Second }

// logText is what was logged.
func logText(logs *observer.ObservedLogs) string {
	var b strings.Builder
	for _, e := range logs.All() {
		fmt.Fprintln(&b, e.Time.Format(time.StampMilli), e.Level, e.Message, e.ContextMap())
	}
	return b.String()
}

// await waits until something is so.
var await = natstest.Await

// awaitLog waits for a log line that has all of these words.
func awaitLog(t *testing.T, s testStore, words ...string) {
	t.Helper()
	await(t, fmt.Sprintf("a log line with %q", words), func() bool {
		for line := range strings.Lines(logText(s.logs)) {
			if containsAll(line, words) {
				return true
			}
		}
		return false
	})
}

func containsAll(line string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(line, w) {
			return false
		}
	}
	return true
}

func record(id, value string) tokenstore.Record {
	return tokenstore.Record{Kind: access, ID: id, Value: []byte(value)}
}

func create(t *testing.T, s tokenstore.Store, rec tokenstore.Record) tokenstore.Record {
	t.Helper()
	var err error
	if rec.Version, err = s.Create(t.Context(), rec); err != nil {
		t.Fatalf("Create(%s): %v", rec.ID, err)
	}
	return rec
}

// put creates a record that may be forgotten after a time.
func put(t *testing.T, s tokenstore.Store, id string, after time.Time) tokenstore.Record {
	t.Helper()
	rec := record(id, "x")
	rec.DeleteAfter = after
	return create(t, s, rec)
}

func update(t *testing.T, s tokenstore.Store, rec tokenstore.Record, value string) tokenstore.Record {
	t.Helper()
	rec.Value = []byte(value)
	var err error
	if rec.Version, err = s.Update(t.Context(), rec); err != nil {
		t.Fatalf("Update(%s): %v", rec.ID, err)
	}
	return rec
}

func remove(t *testing.T, s tokenstore.Store, rec tokenstore.Record) {
	t.Helper()
	if err := s.Delete(t.Context(), rec.Kind, rec.ID, rec.Version); err != nil {
		t.Fatalf("Delete(%s): %v", rec.ID, err)
	}
}

func equal(a, b tokenstore.Record) bool {
	return a.Kind == b.Kind && a.ID == b.ID && bytes.Equal(a.Value, b.Value) &&
		a.Version == b.Version && a.DeleteAfter.Equal(b.DeleteAfter)
}

func has(t *testing.T, s tokenstore.Store, want tokenstore.Record) bool {
	t.Helper()
	got, err := s.Get(t.Context(), want.Kind, want.ID)
	return err == nil && equal(got, want)
}

func wantRecord(t *testing.T, s tokenstore.Store, want tokenstore.Record) {
	t.Helper()
	if got, err := s.Get(t.Context(), want.Kind, want.ID); err != nil || !equal(got, want) {
		t.Errorf("Get(%s) = %+v, %v; want %+v", want.ID, got, err, want)
	}
}

// wantErr checks an error, and that its text has all of these words.
func wantErr(t *testing.T, what string, got, want error, words ...string) {
	t.Helper()
	if !errors.Is(got, want) || !containsAll(fmt.Sprint(got), words) {
		t.Errorf("%s: error %q, want %q with %q", what, fmt.Sprint(got), want, words)
	}
}

func wantMissing(t *testing.T, s tokenstore.Store, id string) {
	t.Helper()
	_, err := s.Get(t.Context(), access, id)
	wantErr(t, "Get of "+id, err, tokenstore.ErrNotFound)
}

// calls makes each call that can fail.
func calls(t *testing.T, s tokenstore.Store, rec tokenstore.Record) (reads, writes map[string]error) {
	t.Helper()
	_, get := s.Get(t.Context(), rec.Kind, rec.ID)
	reads = map[string]error{
		"Get":  get,
		"Scan": s.Scan(t.Context(), rec.Kind, "", func(tokenstore.Record) bool { return true }),
	}
	_, create := s.Create(t.Context(), record("other", "x"))
	_, update := s.Update(t.Context(), rec)
	writes = map[string]error{
		"Create": create, "Update": update,
		"Delete": s.Delete(t.Context(), rec.Kind, rec.ID, rec.Version),
	}
	return reads, writes
}

// wantErrs is wantErr for the results of calls.
func wantErrs(t *testing.T, results map[string]error, want error, words ...string) {
	t.Helper()
	for what, err := range results {
		wantErr(t, what, err, want, words...)
	}
}

// all is what Scan gives.
func all(t *testing.T, s tokenstore.Store) (list []tokenstore.Record, err error) {
	t.Helper()
	for _, kind := range []tokenstore.Kind{access, master} {
		err := s.Scan(t.Context(), kind, "", func(rec tokenstore.Record) bool {
			list = append(list, rec)
			return true
		})
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// mustAll is all of a store that can be read.
func mustAll(t *testing.T, s tokenstore.Store) []tokenstore.Record {
	t.Helper()
	list, err := all(t, s)
	must(t, err)
	return list
}

// watch collects changes.
func watch(t *testing.T, s tokenstore.Store) <-chan tokenstore.Change {
	t.Helper()
	changes := make(chan tokenstore.Change, 1000)
	t.Cleanup(s.Watch(func(c tokenstore.Change) { changes <- c }))
	return changes
}

// nextOf waits for the next change of a record.
func nextOf(t *testing.T, changes <-chan tokenstore.Change, id string) tokenstore.Change {
	t.Helper()
	for {
		if c := natstest.Receive(t, "a change of "+id, changes); c.Record.ID == id {
			return c
		}
	}
}

// wantChange waits for the next change of a record, which is to have this state.
func wantChange(t *testing.T, changes <-chan tokenstore.Change, want tokenstore.Record) {
	t.Helper()
	if c := nextOf(t, changes, want.ID); c.Deleted || !equal(c.Record, want) {
		t.Errorf("change %+v, want %+v", c, want)
	}
}

// awaitReady waits until a store can be read.
func awaitReady(t *testing.T, s tokenstore.Store) {
	t.Helper()
	await(t, "the store to be readable", func() bool {
		_, err := all(t, s)
		return err == nil
	})
}

// messageOf returns the last message of a record that the bucket has.
func messageOf(t *testing.T, s testStore, id string) *message {
	t.Helper()
	m, err := s.lastMessage(t.Context(), s.subject(access, id))
	must(t, err)
	return m
}

// bucketOf returns the bucket of a store.
func bucketOf(t *testing.T, s testStore) jetstream.KeyValue {
	t.Helper()
	kv, err := s.bucket(t.Context())
	must(t, err)
	return kv
}

// fill puts many records into the bucket, more than a watch has room for.
func fill(t testing.TB, s *Store, n int, value []byte) {
	t.Helper()
	for i := range n {
		must(t, errorOf(s.js.PublishAsync(s.subject(access, fmt.Sprint(i)), value)))
	}
	<-s.js.PublishAsyncComplete()
}

var must, noError = testcheck.Must, testcheck.NoError

// errorOf is the error of a call that returns something else, too.
func errorOf[T any](_ T, err error) error { return err }

// same compares what a test has got with what it wants.
func same[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
