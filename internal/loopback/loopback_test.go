package loopback

import (
	"net"
	"testing"
)

// No port comes twice, also when a range is used up; and another process, which
// cannot listen on the locks of this one's ranges, takes other ranges.
func TestFreePort(t *testing.T) {
	seen := map[int]bool{}
	for range rangeLen + 10 {
		port := FreePort(t)
		if seen[port] || port <= first || port >= first+ranges*rangeLen {
			t.Fatalf("got port %d", port)
		}
		seen[port] = true
	}
	if len(own.locks) < 2 {
		t.Errorf("%d ports are of %d ranges", len(seen), len(own.locks))
	}
	for port := range seen {
		start := port - (port-first)%rangeLen
		if lock, err := net.Listen("tcp", address(start)); err == nil {
			lock.Close()
			t.Fatalf("port %d is of a range that others can take", port)
		}
	}
}
