package app

import (
	"math"
	"testing"
)

// Queues get a quarter of the memory that there is, and never less than two clients
// may have.
func TestDefaultQueueMemory(t *testing.T) {
	for _, c := range []struct {
		limit     int64
		sendQueue int
		want      int
	}{
		{math.MaxInt64, 1 << 20, 1 << 30},
		{8 << 30, 1 << 20, 2 << 30},
		{1 << 20, 1 << 20, 2 << 20},
		{math.MaxInt64, 1 << 30, 2 << 30},
	} {
		if got := defaultQueueMemory(c.limit, c.sendQueue); got != c.want {
			t.Errorf("with a limit of %d and queues of %d: %d, want %d", c.limit, c.sendQueue, got, c.want)
		}
	}
}
