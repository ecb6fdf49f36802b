package websocket

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// maxUnsent is how many bytes the kernel takes that it cannot send yet, about. What a client does not read waits in its
// queue beyond that, which is bounded, paid for and cut; the kernel would take 4 MB of each connection, from the
// memory of all.
const maxUnsent = 128 << 10

// limitUnsent bounds what the kernel keeps of a connection. A socket that does not know the option goes without.
func limitUnsent(conn net.Conn) {
	if raw := rawConn(conn); raw != nil {
		_ = raw.Control(func(fd uintptr) {
			_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, maxUnsent)
		})
	}
}

// rawConn returns the socket beneath a connection; nil: it has none, or is closed.
func rawConn(conn net.Conn) syscall.RawConn {
	if t, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = t.NetConn()
	}
	s, ok := conn.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return nil
	}
	return raw
}
