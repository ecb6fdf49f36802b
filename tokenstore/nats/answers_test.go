package nats

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/millrace/millrace/internal/natstest"
)

// between lets a store make its calls through a server of the API that answers first what answer
// returns for them, and then, if through is set, passes them on to the real one.
func between(t *testing.T, s testStore, connect natstest.Connector, through *atomic.Bool, answer func(call string) []string) {
	t.Helper()
	conn, err := connect()
	must(t, err)
	t.Cleanup(conn.Close)
	s.config.Domain = "between"
	must(t, errorOf(conn.Subscribe(s.apiSubject(">"), func(m *client.Msg) {
		call := strings.TrimPrefix(m.Subject, s.apiSubject(""))
		for _, text := range answer(call) {
			must(t, m.Respond([]byte(text)))
		}
		if through.Load() {
			must(t, conn.PublishMsg(&client.Msg{Subject: "$JS.API." + call, Reply: m.Reply, Data: m.Data}))
		}
	})))
	must(t, conn.Flush())
}

// Servers that do not lead the bucket answer before the leader does, and hide it from nobody.
func TestAnswersOfOthers(t *testing.T) {
	t.Parallel()
	s, other, connect := openTwo(t)
	rec := create(t, other, record("a", "x"))
	s.stop()
	s.running.Wait()
	var through atomic.Bool
	through.Store(true)
	between(t, s, connect, &through, func(call string) []string {
		const notAvailable = `{"error":{"code":503,"err_code":10008,"description":"not available"}}`
		if strings.HasPrefix(call, "STREAM.INFO.") {
			return []string{notAvailable, `{"cluster":{"replicas":[{},{}]}}`, `{"cluster":{"leader":"a","replicas":[{"active":9000000000},{"active":9000000000}]}}`}
		}
		return []string{notAvailable}
	})
	b, err := s.bucketState(t.Context())
	must(t, err)
	same(t, "the last revision", b.lastRevision, rec.Version)
	m, err := s.lastMessageWithTimeout(t.Context(), s.subject(access, "a"))
	must(t, err)
	same(t, "the revision", m.revision, rec.Version)

	through.Store(false)
	s.config.callTimeout = 100 * time.Millisecond
	await(t, "word that there is no leader", func() bool { // a busy machine may not answer in time
		_, err := s.bucketState(t.Context())
		return errors.Is(err, errNoLeader)
	})
	await(t, "the same of a message", func() bool {
		_, err := s.lastMessageWithTimeout(t.Context(), s.subject(access, "a"))
		return errors.Is(err, errNoLeader)
	})
}

// A full reading that has not seen a record takes nobody's word for it that there is none, if a
// moment later there is, or if that server has less than was read.
func TestDropUnseen(t *testing.T) {
	t.Parallel()
	s, other, connect := openTwo(t)
	kept, gone := create(t, other, record("kept", "x")), create(t, other, record("gone", "x"))
	await(t, "the records to be here", func() bool { return has(t, s, kept) && has(t, s, gone) })
	s.stop()
	s.running.Wait()
	must(t, bucketOf(t, other).Purge(t.Context(), keyOf(access, "gone")))
	stream, err := other.js.Stream(t.Context(), other.streamName())
	must(t, err)
	must(t, stream.Purge(t.Context(), jetstream.WithPurgeSubject(other.subject(access, "gone"))))
	state, err := s.bucketState(t.Context())
	must(t, err)
	var through atomic.Bool
	var nothing atomic.Int64 // how often a server says so
	nothing.Store(2)
	between(t, s, connect, &through, func(call string) []string {
		if through.Store(nothing.Add(-1) < 0 || strings.HasPrefix(call, "STREAM.INFO.")); !through.Load() {
			return []string{"{}"}
		}
		return nil
	})
	err = s.dropUnseen(t.Context(), 1<<32, state.lastRevision+1, false)
	if !errors.Is(err, errBehind) {
		t.Errorf("a server that has less than was read: %v", err)
	}
	wantRecord(t, s, kept)
	nothing.Store(2)
	must(t, s.dropUnseen(t.Context(), 1<<32, state.lastRevision, false))
	wantRecord(t, s, kept)
	if _, ok := s.mirror.get(access, "gone"); ok {
		t.Error("what was purged is still there")
	}
}
