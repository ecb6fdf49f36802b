package websocket

import "golang.org/x/sys/unix"

// ClientGone implements [pubsub.Watcher]: the kernel knows that the client has
// closed its side, even when bytes that came before are not read yet.
func (c *connection) ClientGone() (gone bool) {
	raw := rawConn(c.conn)
	if raw == nil {
		return false
	}
	err := raw.Control(func(fd uintptr) {
		set := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
		n, err := unix.Poll(set, 0)
		gone = err == nil && n > 0 // or an error of the connection, which always counts
	})
	return gone || err != nil // it fails only on a closed connection
}
