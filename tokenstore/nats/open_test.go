package nats

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	client "github.com/nats-io/nats.go"
	"go.uber.org/zap"

	"github.com/millrace/millrace/internal/loopback"
	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/tokenstore"
)

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

// A bucket with more records than a watch has room for is read as a whole.
func TestOpenFull(t *testing.T) {
	t.Parallel()
	connect := natstest.Connect(natstest.Server(t))
	a := openReady(t, connect)
	for i := range 1000 {
		rec := create(t, a, record(fmt.Sprint(i), "x"))
		if i%3 == 0 {
			remove(t, a, rec)
		}
	}
	want, got := mustAll(t, a), mustAll(t, openReady(t, connect))
	if len(want) != 666 || len(got) != len(want) {
		t.Fatalf("%d and %d records, want 666", len(want), len(got))
	}
	for i, rec := range got {
		if !equal(rec, want[i]) {
			t.Errorf("record %+v, want %+v", rec, want[i])
		}
	}
}
