package nats

import (
	"fmt"
	"math"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/tokenstore/storetest"
)

// The conformance suite by one server, by a cluster, and with no more than the permissions of
// a manager. Each case has a bucket of its own.
func TestConformance(t *testing.T) {
	var buckets atomic.Int64
	one, cluster := natstest.Server(t), natstest.Cluster(t, 3)
	for name, config := range map[string]func(t *testing.T, c *Config){
		"one server": func(_ *testing.T, c *Config) { c.Connect = natstest.Connect(one) },
		"a cluster":  func(_ *testing.T, c *Config) { c.Connect, c.Replicas = natstest.Connect(cluster[0]), 3 },
		"a manager":  func(t *testing.T, c *Config) { c.Connect = connectAs(roleServer(t, c.Bucket), "manager") },
	} {
		t.Run(name, func(t *testing.T) {
			storetest.Run(t, func(t *testing.T) tokenstore.Store {
				t.Parallel()
				return openStore(t, nil, func(c *Config) {
					patient(c)
					c.Bucket = fmt.Sprint("tokens", buckets.Add(1))
					config(t, c)
				})
			})
		})
	}
}

// A store that is closed does not tell of an old copy some time later.
func TestCloseStopsClock(t *testing.T) {
	t.Parallel()
	s := openOne(t)
	must(t, s.Close())
	if s.freshness.timer.Stop() {
		t.Error("the clock went on")
	}
	if s.conn.IsConnected() || !s.conn.IsClosed() {
		t.Error("the connection was left open")
	}
}

// Close in the middle of a reading leaves nothing behind: the check for goroutines
// at the end of the tests would see what waits to hand over the rest.
func TestCloseWhileReading(t *testing.T) {
	t.Parallel()
	connect := natstest.Connect(natstest.Server(t))
	full := openReady(t, connect)
	fill(t, full.Store, 3000, encode(tokenstore.Record{}))
	for range 20 {
		s := openStore(t, connect)
		for len(s.mirror.ids(access, "", math.MaxInt)) == 0 { // the reading takes some milliseconds
			runtime.Gosched()
		}
		must(t, s.Close())
	}
}

// Close does not wait for a server that is not there.
func TestCloseWithoutLink(t *testing.T) {
	t.Parallel()
	for name, interrupt := range map[string]func(*natstest.Proxy){"cut": (*natstest.Proxy).Cut, "silent": (*natstest.Proxy).Hold} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			link := natstest.StartProxy(t, natstest.Server(t))
			s := openReady(t, link.Connect())
			rec := create(t, s, record("a", "x"))
			interrupt(link)
			closed := make(chan error, 1)
			go func() { closed <- s.Close() }()
			noError(t, natstest.Receive(t, "Close", closed))
			_, err := s.Get(t.Context(), access, rec.ID)
			wantErr(t, "Get", err, tokenstore.ErrClosed)
		})
	}
}
