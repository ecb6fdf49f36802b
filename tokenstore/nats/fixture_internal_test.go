package nats

import (
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/tokenstore"
)

const access = tokenstore.KindAccess

func openOn(t *testing.T, connect natstest.Connector) (*Store, *observer.ObservedLogs) {
	t.Helper()
	core, logs := observer.New(zap.InfoLevel)
	s, err := Open(Config{
		Connect: connect, Bucket: "tokens", Create: true, Replicas: 1,
		Storage: jetstream.FileStorage, MaxStale: time.Minute, Log: zap.New(core),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, logs
}

// openReady returns a store that has its copy.
func openReady(t *testing.T, connect natstest.Connector) (*Store, *observer.ObservedLogs) {
	t.Helper()
	s, logs := openOn(t, connect)
	select {
	case <-s.freshness.ready:
	case <-time.After(30 * time.Second):
		t.Fatal("the bucket is not read")
	}
	return s, logs
}

func put(t *testing.T, s *Store, id string, after time.Time) tokenstore.Record {
	t.Helper()
	rec := tokenstore.Record{Kind: access, ID: id, Value: []byte("x"), DeleteAfter: after}
	var err error
	if rec.Version, err = s.Create(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	return rec
}

// await waits until something holds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it has not come to: %s", what)
		}
	}
}

// messageOf returns the last message of a record that the bucket has.
func messageOf(t *testing.T, s *Store, id string) *message {
	t.Helper()
	m, err := s.lastMessage(t.Context(), s.subject(access, id))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// fill puts many records into the bucket, more than a watch has room for.
func fill(t testing.TB, s *Store, n int, value []byte) {
	t.Helper()

	for i := range n {
		if _, err := s.js.PublishAsync(s.subject(access, fmt.Sprint(i)), value); err != nil {
			t.Fatal(err)
		}
	}
	<-s.js.PublishAsyncComplete()
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
