//go:build unix && !freebsd && !solaris

package command

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// sharePort lets listeners of this user share a port, as Caddy does with all of its own.
var sharePort = func(_, _ string, conn syscall.RawConn) error {
	var err error
	if failed := conn.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
	}); failed != nil {
		return failed
	}
	return err
}
