package nats

import (
	"math"
	"runtime"
	"testing"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/tokenstore"
)

// A store that is closed does not tell of an old copy some time later.
func TestCloseStopsClock(t *testing.T) {
	s, _ := openReady(t, natstest.Connect(natstest.Server(t)))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
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
	connect := natstest.Connect(natstest.Server(t))
	full, _ := openReady(t, connect)
	fill(t, full, 3000, encode(tokenstore.Record{}))
	for range 20 {
		s, _ := openOn(t, connect)
		for len(s.mirror.ids(access, "", math.MaxInt)) == 0 { // the reading takes some milliseconds
			runtime.Gosched()
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
