package nats

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/tokenstore"
)

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
	for name, storage := range map[string]jetstream.StorageType{"file": jetstream.FileStorage, "memory": jetstream.MemoryStorage} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openReady(t, natstest.Connect(natstest.Server(t)), withMaxBytes(1<<20), func(c *Config) { c.Storage = storage })
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
		})
	}
}
