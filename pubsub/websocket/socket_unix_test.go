//go:build unix

package websocket

import (
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/millrace/millrace/pubsub"
)

// What a full socket does not take goes out with the next Write, before the rest.
func TestTryWriteToFullSocket(t *testing.T) {
	near, far := socketPair(t)
	c := &connection{conn: near}
	c.openRaw()
	line := func(s string) []pubsub.Outgoing { return []pubsub.Outgoing{{Kind: pubsub.Text, Data: []byte(s)}} }
	if written, err := (plainConnection{c}).TryWrite(line("first")); !written || err != nil {
		t.Fatal(written, err)
	}

	before := 0
	err := c.raw.Write(func(fd uintptr) bool {
		for b := make([]byte, 1<<20); len(b) > 0; {
			if n, err := syscall.Write(int(fd), b); err == nil {
				before += n
			} else {
				b = b[:len(b)/2]
			}
		}
		return true
	})
	must(t, err)
	if written, err := (plainConnection{c}).TryWrite(line("second")); written || err != nil {
		t.Fatal(written, err)
	}

	done := make(chan error, 2)
	go func() {
		done <- c.Write(nil)
		done <- c.Write(line("third"))
	}()
	p := &peer{T: t, Conn: far}
	p.expect("text first")
	if _, err := io.CopyN(io.Discard, far, int64(before)); err != nil {
		t.Fatal(err)
	}
	p.expect("text second", "text third")
	for range 2 {
		must(t, <-done)
	}
}

// socketPair returns two ends of a connection that stays full until it is read: of TCP, the
// kernel may move what was written, and have room again, at any later moment.
func socketPair(t *testing.T) (near, far net.Conn) {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	must(t, err)
	var ends [2]net.Conn
	for i, fd := range fds {
		file := os.NewFile(uintptr(fd), "socket pair")
		ends[i], err = net.FileConn(file)
		must(t, err)
		must(t, file.Close())
		t.Cleanup(func() { ends[i].Close() })
	}
	return ends[0], ends[1]
}
