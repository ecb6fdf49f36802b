package loadgen

import (
	"bytes"
	"errors"
	"net"
	"testing"
	"time"
)

// tcpPair returns both ends of a connection, for 10 s and until the test ends.
func tcpPair(t *testing.T) (client, server *net.TCPConn) {
	t.Helper()
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if client, err = net.DialTCP("tcp", nil, listener.Addr().(*net.TCPAddr)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	if server, err = listener.AcceptTCP(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	for _, conn := range []*net.TCPConn{client, server} {
		if err := errors.Join(conn.SetDeadline(time.Now().Add(3*time.Minute)), conn.SetReadBuffer(1<<20), conn.SetWriteBuffer(1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	return client, server
}

// What has come before the loop begins is read to its end, though no more comes
// to wake the loop.
func TestLoopReadsAll(t *testing.T) {
	client, server := tcpPair(t)
	stream := bytes.Repeat([]byte("0123456789"), 20_000) // several reads
	if _, err := server.Write(stream); err != nil {
		t.Fatal(err)
	}
	all, got := errors.New("all is there"), 0
	err := ReadLoop(client, nil, func(b []byte) (int, error) {
		if got += len(b); got == len(stream) {
			return len(b), all
		}
		return len(b), nil
	})
	if got != len(stream) || !errors.Is(err, all) {
		t.Errorf("%d bytes of %d, then %v", got, len(stream), err)
	}
}
