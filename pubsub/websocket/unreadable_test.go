package websocket

import (
	"bytes"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// What leaves the edge unable to tell what comes next.
var unreadables = map[string]struct {
	frame []byte
	want  string
}{
	"protocol error":  {frame(finBit|0x40|opText, []byte("PING")), "close 1002 "},
	"too big":         {frame(finBit|opBinary, make([]byte, 1<<20))[:1000], "close 1009 "},
	"wrong in middle": {frame(finBit|opText, append([]byte{0xFF}, make([]byte, 100)...))[:50], "close 1007 "},
}

// halfPipe is an end of a pipe whose sending half can be ended.
type halfPipe struct {
	net.Conn
	ended chan struct{}
}

func (h halfPipe) CloseWrite() error {
	close(h.ended)
	return nil
}

// The edge ends its half right behind such a close: it could not find the client's
// answer.
func TestUnreadableEndsAtOnce(t *testing.T) {
	for name, c := range unreadables {
		t.Run(name, func(t *testing.T) {
			ended := make(chan struct{})
			serveWith(t, setup{wrap: func(c net.Conn) net.Conn { return halfPipe{c, ended} }}, func(p *peer) {
				begin := time.Now()
				p.send(c.frame)
				if got := p.read(); !strings.HasPrefix(got, c.want) {
					p.Errorf("got %q", got)
				}
				<-ended
				p.send(frame(finBit|opClose, c.frame[:2]), make([]byte, 1000)) // whatever follows
				synctest.Wait()
				p.Close()
				synctest.Wait()
				if n := len(p.hub.Stats()); n > 0 {
					p.Errorf("%d sessions are left", n)
				}
				p.took(begin, 0)
			})
		})
	}
}

func TestUnreadableSockets(t *testing.T) {
	for name, c := range unreadables {
		t.Run(name, func(t *testing.T) {
			overLinks(t, func(p *peer) {
				p.send(c.frame)
				if got := p.read(); !strings.HasPrefix(got, c.want) {
					t.Errorf("got %q", got)
				}
				p.expect("EOF")
				p.write(frame(finBit|opClose, []byte{3, 0xEA})) // the other half is open
			})
		})
	}
}

// What came with the handshake comes first.
func TestEarly(t *testing.T) {
	for _, cut := range []int{0, 1, 5, 20, 1000} {
		stream := append(text("SUB:t:#"), text("SUB:t:a")...)
		cut := min(cut, len(stream))
		serveWith(t, setup{early: bytes.Clone(stream[:cut])}, func(p *peer) {
			p.send(stream[cut:])
			p.expect("text OK:SUB:t:#", "text OK:SUB:t:a")
		})
	}
}
