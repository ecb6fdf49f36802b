// Package loopback finds ports for the servers of tests.
package loopback

import (
	"crypto/rand"
	"fmt"
	"math/big"
	"net"
	"sync"
	"testing"
)

// handedOut holds the ports that FreePort has returned.
var handedOut sync.Map

// FreePort returns a port that is free for TCP and UDP on loopback. It lies
// below the range from which systems take the ports of outgoing connections,
// so that none of those can grab it before the server listens on it.
func FreePort(t testing.TB) int {
	t.Helper()
	for range 1000 {
		n, err := rand.Int(rand.Reader, big.NewInt(12000))
		if err != nil {
			t.Fatal(err)
		}
		port := 20000 + int(n.Int64())
		if _, taken := handedOut.LoadOrStore(port, true); !taken && canListen(port) {
			return port
		}
	}
	t.Fatal("no free port between 20000 and 32000")
	return 0
}

func canListen(port int) bool {
	address := fmt.Sprintf("127.0.0.1:%d", port)
	tcp, err := net.Listen("tcp", address)
	if err != nil {
		return false
	}
	defer tcp.Close()
	udp, err := net.ListenPacket("udp", address)
	if err != nil {
		return false
	}
	defer udp.Close()
	return true
}
