package websocket

import (
	"testing"
	"time"

	"github.com/millrace/millrace/pubsub"
)

// The kernel takes little of what a client does not read.
func TestUnsentIsLimited(t *testing.T) {
	for name, secure := range map[string]bool{"plain": false, "TLS": true} {
		t.Run(name, func(t *testing.T) {
			near, far := link(t, secure)
			serveOn(t, pubsub.DefaultLimits(), setup{}, near, far, func(*peer) {
				taken, block := 0, make([]byte, 16<<10)
				for err := error(nil); err == nil; {
					must(t, near.SetWriteDeadline(time.Now().Add(200*time.Millisecond)))
					var n int
					n, err = near.Write(block)
					taken += n
				}
				if taken > 1<<20 {
					t.Errorf("the kernel took %d bytes", taken)
				}
			})
		})
	}
}
