//go:build unix

package websocket

import (
	"net"
	"syscall"

	"github.com/millrace/millrace/pubsub"
)

// openRaw prepares what a plain socket can do: the reader waits for it without a buffer,
// and the writer writes without waiting. A connection that wraps a socket is used through
// its own Read and Write.
func (c *connection) openRaw() {
	switch c.conn.(type) {
	case *net.TCPConn, *net.UnixConn:
	default:
		return
	}
	if raw, err := c.conn.(syscall.Conn).SyscallConn(); err == nil {
		c.raw, c.tryReadFunc = raw, c.tryRead
	}
}

func (c *connection) transport() pubsub.Transport {
	if c.raw != nil {
		return plainConnection{c}
	}
	return c
}

func readSocket(fd uintptr, b []byte) (int, error) { return syscall.Read(int(fd), b) }
