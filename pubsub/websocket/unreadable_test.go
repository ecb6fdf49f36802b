package websocket

import (
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/memory"
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
			synctest.Test(t, func(t *testing.T) {
				hub := pubsub.NewHub(memory.New(), fastLimits(), zap.NewNop())
				near, far := net.Pipe()
				half := halfPipe{near, make(chan struct{})}
				Serve(hub, admit(t, hub, 0), half, nil, zap.NewNop())
				p := &peer{t, far, hub}
				start := time.Now()
				p.send(c.frame)
				if got := p.read(); !strings.HasPrefix(got, c.want) {
					t.Errorf("got %q", got)
				}
				<-half.ended
				p.send(frame(finBit|opClose, c.frame[:2]), make([]byte, 1000)) // whatever follows
				synctest.Wait()
				far.Close()
				if err := hub.Close(); err != nil {
					t.Error(err)
				}
				if took := time.Since(start); took > 0 {
					t.Errorf("took %v", took)
				}
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
		synctest.Test(t, func(t *testing.T) {
			hub := pubsub.NewHub(memory.New(), fastLimits(), zap.NewNop())
			near, far := net.Pipe()
			stream := append(text("SUB:t:#"), text("SUB:t:a")...)
			cut := min(cut, len(stream))
			Serve(hub, admit(t, hub, 0), near, append([]byte(nil), stream[:cut]...), zap.NewNop())
			p := &peer{t, far, hub}
			p.send(stream[cut:])
			p.expect("text OK:SUB:t:#", "text OK:SUB:t:a")
			far.Close()
			if err := hub.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
