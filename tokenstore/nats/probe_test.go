package nats

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/zap"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/tokenstore"
)

// What the watch does not deliver is asked for, before the watch is started again.
func TestCatchUp(t *testing.T) {
	t.Parallel()
	s, logs := openReady(t, natstest.Connect(natstest.Server(t)))
	stream, err := s.js.Stream(t.Context(), s.streamName())
	if err != nil {
		t.Fatal(err)
	}
	list := stream.ListConsumers(t.Context())
	for c := range list.Info() { // without its consumer the watch hears nothing for 10 s
		if err := stream.DeleteConsumer(t.Context(), c.Name); err != nil {
			t.Fatal(err)
		}
	}
	if list.Err() != nil {
		t.Fatal(list.Err())
	}
	for i := range 3 { // beside the store, which would bring its own into the copy
		value := encode(tokenstore.Record{Value: fmt.Append(nil, i)})
		if _, err := s.js.Publish(t.Context(), s.subject(access, fmt.Sprint(i)), value); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 3 {
		await(t, "the write in the copy", func() bool {
			_, ok := s.mirror.get(access, fmt.Sprint(i))
			return ok
		})
	}
	if all := logs.FilterMessage("reading the tokens again").All(); len(all) > 0 {
		t.Errorf("the watch was started again: %v", all)
	}
}

// Writes reach the copy, even when the server from which the watch reads has died: here
// that is neither the server that the store is connected to, nor the leader. That takes
// less than a second on a machine with nothing else to do.
func TestWatchThatDies(t *testing.T) {
	t.Parallel()
	servers := natstest.Cluster(t, 3)
	config := Config{
		Connect: natstest.Connect(servers[0]), Bucket: "tokens", Create: true, Replicas: 3,
		Storage: jetstream.FileStorage, MaxStale: time.Minute, Log: zap.NewNop(),
	}
	kv := bucketOn(t, config)
	var s *Store
	await(t, "a watch on a third server", func() bool {
		if s != nil {
			s.Close()
		}
		var err error
		if s, err = Open(config); err != nil {
			t.Fatal(err)
		}
		<-s.freshness.ready
		stream, err := s.js.Stream(t.Context(), s.streamName())
		if err != nil {
			return false
		}
		name := consumerOf(t, s)
		if name == servers[0].Name() || name == stream.CachedInfo().Cluster.Leader {
			return false
		}
		for _, server := range servers {
			if server.Name() == name {
				server.Shutdown()
			}
		}
		return true
	})
	t.Cleanup(func() { s.Close() })
	for i := range 10 { // those that come later, too
		value := fmt.Sprint("revoked ", i)
		await(t, "a write", func() bool {
			_, err := kv.Put(t.Context(), keyOf(access, "a"), encode(tokenstore.Record{Value: []byte(value)}))
			return err == nil
		})
		acknowledged := time.Now()
		await(t, "the write in the copy", func() bool {
			got, ok := s.mirror.get(access, "a")
			return ok && string(got.Value) == value
		})
		t.Logf("write %d took %v", i, time.Since(acknowledged))
	}
}

// bucketOn makes the bucket, from a connection beside the stores.
func bucketOn(t *testing.T, c Config) (kv jetstream.KeyValue) {
	t.Helper()
	conn, err := c.Connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	await(t, "a bucket", func() bool {
		kv, err = js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: c.Bucket, History: 1, Replicas: c.Replicas, Storage: c.Storage})
		return err == nil || errors.Is(err, jetstream.ErrBucketExists)
	})
	return kv
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
	s, _ := openReady(t, natstest.Connect(natstest.Server(t)))
	put(t, s, "live", time.Time{})
	await(t, "a full reading", func() bool { // an answer that was under way may confirm the copy
		s.mirror.put(tokenstore.Record{Kind: access, ID: "ghost", Version: 1, Value: []byte("x")}, 0)
		s.freshness.mu.Lock()
		s.freshness.confirmedAt = time.Now().Add(-deleteMarkerTTL)
		s.freshness.mu.Unlock()
		signal(s.lookups.confirmWanted)
		signal(s.reconnected) // as after a reconnect
		for range 100 {
			if _, ok := s.mirror.get(access, "ghost"); !ok {
				return true
			}
			time.Sleep(5 * time.Millisecond)
		}
		return false
	})
	if _, ok := s.mirror.get(access, "live"); !ok {
		t.Error("the reading has taken away what the bucket has")
	}
}
