// Package loopback finds ports for the servers of tests.
package loopback

import (
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
)

// Ports are below the range from which systems take ports for outgoing connections, so
// that no such connection takes one before its server listens on it.
const (
	first    = 20000
	ranges   = 48
	rangeLen = 250 // the first is the lock of the range
)

// own are the ports that this process may hand out. Tests of several packages run at the
// same time, each in a process. A process reserves ranges for itself by listening on the
// first port of each until it ends.
var own struct {
	sync.Mutex
	locks []net.Listener
	ports []int // not handed out yet
}

// FreePort returns a port that is free for TCP and UDP on loopback, and that it has not
// returned before.
func FreePort(t testing.TB) int {
	t.Helper()
	own.Lock()
	defer own.Unlock()
	for {
		if len(own.ports) == 0 && !takeRange() {
			t.Fatalf("no free port between %d and %d", first, first+ranges*rangeLen)
		}
		port := own.ports[0]
		own.ports = own.ports[1:]
		if canListen(port) {
			return port
		}
	}
}

func takeRange() bool {
	for _, i := range rand.Perm(ranges) {
		start := first + i*rangeLen
		lock, err := net.Listen("tcp", address(start))
		if err != nil {
			continue
		}
		own.locks = append(own.locks, lock)
		for port := start + 1; port < start+rangeLen; port++ {
			own.ports = append(own.ports, port)
		}
		return true
	}
	return false
}

func canListen(port int) bool {
	tcp, err := net.Listen("tcp", address(port))
	if err != nil {
		return false
	}
	defer tcp.Close()
	udp, err := net.ListenPacket("udp", address(port))
	if err != nil {
		return false
	}
	defer udp.Close()
	return true
}

func address(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }
