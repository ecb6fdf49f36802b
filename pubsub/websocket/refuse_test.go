package websocket

import (
	"net"
	"slices"
	"testing"

	"github.com/millrace/millrace/wire"
)

// callsConn notes the order of calls, until the client has closed.
type callsConn struct {
	net.Conn
	calls []string
}

func (c *callsConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.calls = append(c.calls, "read")
	}
	return n, err
}

func (c *callsConn) Write(b []byte) (int, error) {
	c.calls = append(c.calls, "write")
	return c.Conn.Write(b)
}

func (c *callsConn) CloseWrite() error {
	c.calls = append(c.calls, "end")
	return nil
}

// A client that is refused has read why, and has closed, before the edge ends the connection.
func TestRefuseWaitsForTheClient(t *testing.T) {
	edge, client := net.Pipe()
	conn := &callsConn{Conn: edge}
	done := make(chan struct{})
	go func() {
		defer close(done)
		Refuse(conn, []byte("ERR:unauthorized:why"), wire.CloseUnauthorized)
	}()
	_, err := client.Read(make([]byte, 1000))
	if err == nil {
		_, err = client.Write([]byte{0x88})
	}
	client.Close()
	<-done
	if want := []string{"write", "read", "end"}; err != nil || !slices.Equal(conn.calls, want) {
		t.Errorf("got %q, %v, want %q", conn.calls, err, want)
	}
}
