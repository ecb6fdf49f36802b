package websocket

import (
	"encoding/hex"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// A client that is refused is told so and closed, whatever it does then, in 2 s.
func TestRefuse(t *testing.T) {
	told := string(appendFrame(nil, opText, []byte("ERR:draining:no"))) + "\x88\x02" + "\x03\xf5"
	for name, c := range map[string]struct {
		client func(net.Conn) (got []byte)
		want   string
		took   time.Duration
	}{
		"it goes": {func(conn net.Conn) []byte {
			got := make([]byte, len(told))
			_, _ = io.ReadFull(conn, got)
			conn.Close()
			return got
		}, told, 0},
		"it stays":         {func(conn net.Conn) []byte { got, _ := io.ReadAll(conn); return got }, told, refuseTime},
		"it reads nothing": {func(net.Conn) []byte { return nil }, "", refuseTime},
		"it sends much": {func(conn net.Conn) []byte {
			got := make([]byte, len(told))
			_, _ = io.ReadFull(conn, got)
			_, _ = conn.Write(make([]byte, refuseBytes+1))
			return got
		}, told, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			near, far := net.Pipe()
			defer far.Close()
			begin, done := time.Now(), make(chan time.Duration)
			go func() {
				Refuse(near, []byte("ERR:draining:no"), 1013)
				done <- time.Since(begin)
			}()
			if got := string(c.client(far)); got != c.want {
				t.Errorf("%s: got %s, want %s", name, hex.EncodeToString([]byte(got)), hex.EncodeToString([]byte(c.want)))
			}
			if took := <-done; took != c.took {
				t.Errorf("%s: it took %v, want %v", name, took, c.took)
			}
		})
	}
}
