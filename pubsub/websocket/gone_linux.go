package websocket

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// ClientGone implements [pubsub.Watcher]: the kernel knows that the client has
// closed its side, even when bytes that came before are not read yet.
func (c *connection) ClientGone() (gone bool) {
	conn := c.conn
	if t, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = t.NetConn()
	}
	s, ok := conn.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return false
	}
	err = raw.Control(func(fd uintptr) {
		set := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
		n, err := unix.Poll(set, 0)
		gone = err == nil && n > 0 // or an error of the connection, which always counts
	})
	return gone || err != nil // it fails only on a closed connection
}
