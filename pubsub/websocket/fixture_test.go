package websocket

import (
	"crypto/rand"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"go.uber.org/zap"

	"github.com/millrace/millrace/internal/testcheck"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/memory"
	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// allRights allow everything, and panic for a publish to the channel "fault".
type allRights struct{}

func (allRights) CanPublish(_, channel []byte) bool {
	if string(channel) == "fault" {
		panic("as the test wants")
	}
	return true
}

func (allRights) CanSubscribe(string, pattern.Pattern) bool { return true }

// peer is the client's end of a connection, speaking raw frames.
type peer struct {
	*testing.T
	net.Conn
	hub    *pubsub.Hub
	echoed bool // binary messages have no meaning
}

// setup is what a test's connection differs in from others.
type setup struct {
	ingress int                     // a cap in KB/s; 0: the default
	early   []byte                  // what came with the handshake
	wrap    func(net.Conn) net.Conn // the edge's end
	echo    bool
}

// serve runs test with a served connection in a bubble with a fake clock.
func serve(t *testing.T, test func(*peer)) {
	t.Helper()
	serveWith(t, setup{}, test)
}

func serveWith(t *testing.T, s setup, test func(*peer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		if s.wrap != nil {
			near = s.wrap(near)
		}
		serveOn(t, fastLimits(), s, near, far, test)
	})
}

// serveOn runs test with what serves the near end of a connection.
func serveOn(t *testing.T, limits pubsub.Limits, s setup, near, far net.Conn, test func(*peer)) {
	t.Helper()
	hub := pubsub.NewHub(memory.New(), limits, zap.NewNop())
	var served session = admit(t, hub, s.ingress)
	if s.echo {
		served = echo{served.(*pubsub.Session)}
	}
	start(hub, served, near, s.early, zap.NewNop())
	defer func() {
		far.Close()
		must(t, hub.Close())
	}()
	test(&peer{t, far, hub, s.echo})
}

var must = testcheck.Must

// took compares how long it is since begin, exactly.
func (p *peer) took(begin time.Time, want time.Duration) {
	p.Helper()
	if got := time.Since(begin); got != want {
		p.Errorf("took %v, want %v", got, want)
	}
}

// fastLimits are the default ones without the caps.
func fastLimits() pubsub.Limits {
	limits := pubsub.DefaultLimits()
	limits.DefaultIngressKB, limits.DefaultEgressKB = 1<<20, 1<<20
	return limits
}

// admit registers a session with an ingress cap in KB/s; 0: the default.
func admit(t testing.TB, hub *pubsub.Hub, ingress int) *pubsub.Session {
	t.Helper()
	s, err := hub.Admit(pubsub.Identity{
		TokenID: "a", ExpiresAt: time.Now().Add(time.Hour), Rights: allRights{}, IngressKB: ingress,
	}, pubsub.Client{})
	must(t, err)
	return s
}

// frame builds a client's frame: first byte as given, masked.
func frame(first byte, payload []byte) []byte {
	b := []byte{first}
	switch n := len(payload); {
	case n < 126:
		b = append(b, maskBit|byte(n))
	case n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, maskBit|126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, maskBit|127), uint64(n))
	}
	key := make([]byte, 4)
	_, _ = rand.Read(key)
	b = append(b, key...)
	for i, c := range payload {
		b = append(b, c^key[i%4])
	}
	return b
}

func text(s string) []byte { return frame(finBit|opText, []byte(s)) }

// send writes without waiting for the edge to read: a pipe has no buffer.
func (p *peer) send(frames ...[]byte) {
	go func() {
		for _, f := range frames {
			if _, err := p.Write(f); err != nil {
				return
			}
		}
	}()
}

func (p *peer) write(f []byte) {
	p.Helper()
	if _, err := p.Write(f); err != nil {
		p.Fatal(err)
	}
}

// expect reads frames and compares them, written as "text …", "pong …",
// "close 1000 …".
func (p *peer) expect(want ...string) {
	p.Helper()
	for _, w := range want {
		if got := p.read(); got != w {
			p.Fatalf("got %.200q, want %.200q", got, w)
		}
	}
}

func (p *peer) read() string {
	p.Helper()
	h := make([]byte, 2, 10)
	if _, err := io.ReadFull(p, h); err != nil {
		return err.Error()
	}
	if h[1]&maskBit != 0 || h[0]&finBit == 0 {
		p.Fatalf("a server's frame is masked or fragmented: % x", h)
	}
	n := uint64(h[1])
	switch n {
	case 126:
		h = h[:4]
		_, _ = io.ReadFull(p, h[2:])
		n = uint64(binary.BigEndian.Uint16(h[2:]))
	case 127:
		h = h[:10]
		_, _ = io.ReadFull(p, h[2:])
		n = binary.BigEndian.Uint64(h[2:])
	}
	payload := make([]byte, n)
	if _, err := io.ReadFull(p, payload); err != nil {
		return err.Error()
	}
	switch h[0] & opcodeBits {
	case opText:
		return "text " + string(payload)
	case opBinary:
		if p.echoed {
			return "binary " + string(payload)
		}
		d, err := wire.DecodeDeliver(payload)
		must(p, err)
		return fmt.Sprintf("deliver %s/%s %d %v", d.Tenant, d.Channel, len(d.Payload), d.Patterns)
	case opPing:
		return "ping " + string(payload)
	case opPong:
		return "pong " + string(payload)
	case opClose:
		if len(payload) == 0 {
			return "close"
		}
		return fmt.Sprintf("close %d %s", binary.BigEndian.Uint16(payload), payload[2:])
	}
	return fmt.Sprintf("opcode %d", h[0]&opcodeBits)
}

// subscribe subscribes to all channels of the tenant t.
func (p *peer) subscribe() {
	p.Helper()
	p.send(text("SUB:t:#"))
	p.expect("text OK:SUB:t:#")
}

func publish(payload []byte) []byte {
	return wire.AppendPublish(nil, wire.Publish{Tenant: []byte("t"), Channel: []byte("a"), Payload: payload})
}

// link opens a connection over loopback, plain or with TLS, which is closed when
// the test ends.
func link(t testing.TB, secure bool) (near, far net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer listener.Close()
	if far, err = net.Dial("tcp", listener.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if near, err = listener.Accept(); err != nil {
		t.Fatal(err)
	}
	if secure {
		near = tls.Server(near, &tls.Config{Certificates: []tls.Certificate{certificate()}})
		far = tls.Client(far, &tls.Config{InsecureSkipVerify: true}) // the test's own
		done := make(chan error, 1)
		go func() { done <- near.(*tls.Conn).Handshake() }()
		must(t, far.(*tls.Conn).Handshake())
		must(t, <-done)
	}
	t.Cleanup(func() {
		near.Close()
		far.Close()
	})
	return near, far
}

// certificate is that of net/http's test servers.
func certificate() tls.Certificate {
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	return s.TLS.Certificates[0]
}

// gone waits until the hub has no session any more.
func (p *peer) gone() {
	p.Helper()
	for end := time.Now().Add(eventTimeout); len(p.hub.Stats()) > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			p.Fatal("the edge keeps the session")
		}
	}
}

// eventTimeout bounds every wait of a test with real sockets.
const eventTimeout = 3 * time.Minute

// overLinks runs test with a served connection over a plain socket, which is read
// without its own Read, and over TLS.
func overLinks(t *testing.T, test func(*peer)) {
	for _, secure := range []bool{false, true} {
		t.Run(fmt.Sprintf("tls=%v", secure), func(t *testing.T) {
			t.Parallel()
			near, far := link(t, secure)
			must(t, far.SetDeadline(time.Now().Add(eventTimeout)))
			serveOn(t, fastLimits(), setup{}, near, far, test)
		})
	}
}
