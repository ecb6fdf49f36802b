package nats_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/tokenstore/nats"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	access = tokenstore.KindAccess
	master = tokenstore.KindMaster

	// eventTimeout is how long an event may take before a test fails.
	eventTimeout = 30 * time.Second
)

// testStore is a store with what it logs.
type testStore struct {
	*nats.Store
	logs *observer.ObservedLogs
}

// openStore opens a store on the bucket "tokens" of one server.
func openStore(t *testing.T, connect natstest.Connector, change ...func(*nats.Config)) testStore {
	t.Helper()
	core, logs := observer.New(zap.InfoLevel)
	c := nats.Config{
		Connect: connect, Bucket: "tokens", Create: true, Replicas: 1,
		Storage: jetstream.FileStorage, MaxStale: time.Minute, Log: zap.New(core),
	}
	for _, f := range change {
		f(&c)
	}
	store, err := nats.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		store.Close()
		if t.Failed() {
			t.Log(logText(logs))
		}
	})
	return testStore{store, logs}
}

func withMaxStale(d time.Duration) func(*nats.Config) {
	return func(c *nats.Config) { c.MaxStale = d }
}

// logText is what was logged.
func logText(logs *observer.ObservedLogs) string {
	var b strings.Builder
	for _, e := range logs.All() {
		fmt.Fprintln(&b, e.Time.Format(time.StampMilli), e.Level, e.Message, e.ContextMap())
	}
	return b.String()
}

// eventually waits until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(eventTimeout); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("in %v it has not come to: %s", eventTimeout, what)
		}
	}
}

// awaitLog waits for a log line that has all of these words.
func awaitLog(t *testing.T, s testStore, words ...string) {
	t.Helper()
	eventually(t, fmt.Sprintf("a log line with %q", words), func() bool {
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

func wantRecord(t *testing.T, s tokenstore.Store, want tokenstore.Record) {
	t.Helper()
	got, err := s.Get(t.Context(), want.Kind, want.ID)
	if err != nil || !equal(got, want) {
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
	late := time.After(eventTimeout)
	for {
		select {
		case c := <-changes:
			if c.Record.ID == id {
				return c
			}
		case <-late:
			t.Fatalf("no change of %s was reported", id)
		}
	}
}

// awaitReady waits until a store has its copy.
func awaitReady(t *testing.T, s tokenstore.Store) {
	t.Helper()
	eventually(t, "the store can be read", func() bool {
		_, err := all(t, s)
		return err == nil
	})
}
