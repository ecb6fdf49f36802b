package nats

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	client "github.com/nats-io/nats.go"
	"go.uber.org/zap"

	"github.com/millrace/millrace/internal/loopback"
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
	if got := mustAll(t, openReady(t, connect)); len(got) != 3000 { // more than a watch has room for
		t.Errorf("a store that reads to the end has %d records", len(got))
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
			if s.freshness.timer.Stop() { // it would report an old copy some time later
				t.Error("the clock went on")
			}
			if s.conn.IsConnected() || !s.conn.IsClosed() {
				t.Error("the connection was left open")
			}
		})
	}
}

// An edge that starts before its server is there comes up all the same.
func TestOpenWithoutServer(t *testing.T) {
	t.Parallel()
	port := loopback.FreePort(t)
	s := openStore(t, natstest.ConnectTo(fmt.Sprintf("nats://127.0.0.1:%d", port)), impatient)

	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := s.Get(ctx, access, "a")
	wantErr(t, "Get with little time", err, context.DeadlineExceeded)
	begun, answer := make(chan struct{}), make(chan error, 1)
	go func() {
		close(begun)
		for {
			_, err := s.Get(t.Context(), access, "a")
			if !errors.Is(err, tokenstore.ErrUnavailable) {
				answer <- err
				return
			}
		}
	}()
	<-begun
	natstest.Server(t, func(o *server.Options) { o.Port = port })
	err = natstest.Receive(t, "the server to be seen", answer)
	wantErr(t, "Get when the server is there", err, tokenstore.ErrNotFound)
	wantRecord(t, s, create(t, s, record("a", "x")))
}

// Calls that wait in vain for the first copy say why there is none, and so does the log
// unless the reason is the connection.
func TestWhyNotReadable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		connect natstest.Connector
		words   string
		quiet   bool
	}{
		{natstest.ConnectTo(fmt.Sprintf("nats://127.0.0.1:%d", loopback.FreePort(t))), "not connected to NATS", true},
		{natstest.Connect(natstest.Server(t)), "not found", false},
		{natstest.Connect(natstest.Server(t, natstest.Core)), "JetStream is not enabled", false},
	} {
		s := openStore(t, c.connect, withoutCreate, func(c *Config) { c.callTimeout = 200 * time.Millisecond })
		await(t, c.words, func() bool { return strings.Contains(s.freshness.lastErrorText(), c.words) })
		_, get := s.Get(t.Context(), access, "a")
		_, create := s.Create(t.Context(), record("a", "x"))
		wantErr(t, "Get", get, tokenstore.ErrUnavailable, "could not be read yet", c.words)
		wantErr(t, "Create", create, tokenstore.ErrUnavailable, "could not be read yet", c.words)
		if !c.quiet {
			awaitLog(t, s, c.words)
		}
	}
}

func TestOpenFails(t *testing.T) {
	_, err := Open(Config{
		Connect: func(...client.Option) (*client.Conn, error) { return nil, errors.New("no such file") },
		Bucket:  "tokens", MaxStale: time.Minute, Log: zap.NewNop(),
	})
	if err == nil || !strings.Contains(err.Error(), "connect to NATS: no such file") {
		t.Errorf("error %v", err)
	}
}
