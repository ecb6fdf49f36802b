package harness

import (
	"net"
	"syscall"
	"testing"
)

// HasInput reports whether something has arrived on a connection that was not read yet. It
// reads nothing and does not wait.
func HasInput(t *testing.T, conn *net.TCPConn) bool {
	raw, err := conn.SyscallConn()
	if err != nil {
		t.Error(err)
		return false
	}
	n := 0
	err = raw.Control(func(fd uintptr) {
		var b [1]byte
		n, _, _ = syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	})
	if err != nil {
		t.Error(err)
	}
	return n > 0
}
