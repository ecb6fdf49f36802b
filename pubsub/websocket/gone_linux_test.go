package websocket

import (
	"testing"
	"time"
)

// The kernel knows of a client's end, also behind bytes that nobody reads.
func TestClientGone(t *testing.T) {
	for name, secure := range map[string]bool{"plain": false, "TLS": true} {
		t.Run(name, func(t *testing.T) {
			near, far := link(t, secure)
			c := &connection{conn: near}
			if _, err := far.Write(make([]byte, 1000)); err != nil {
				t.Fatal(err)
			}
			if c.ClientGone() {
				t.Fatal("gone while it is open")
			}
			far.Close()
			for end := time.Now().Add(eventTimeout); !c.ClientGone(); time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatal("not gone, though it has closed")
				}
			}
		})
	}
}
