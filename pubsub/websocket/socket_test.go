package websocket

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/memory"
	"github.com/millrace/millrace/wire"
)

// A burst comes in one read, and its end with the next ones.
func TestSocketBurst(t *testing.T) {
	var burst []byte
	sizes := []int{readChunk - 20, readChunk, readChunk + 1, 4 * readChunk}
	for n := range 300 {
		sizes = append(sizes, n)
	}
	for _, n := range sizes {
		burst = append(burst, frame(finBit|opBinary, publish(make([]byte, n)))...)
	}
	for _, size := range []int{100, 1000, readChunk + 1, len(burst)} {
		overLinks(t, func(p *peer) {
			p.subscribe()
			p.send(slices.Collect(slices.Chunk(burst, size))...)
			for _, n := range sizes {
				p.expect(fmt.Sprintf("deliver t/a %d [#]", n))
			}
		})
	}
}

// The edge closes while the client still sends, and the client goes away without a word.
func TestSocketEnds(t *testing.T) {
	overLinks(t, func(p *peer) {
		p.subscribe()
		p.hub.TokenRevoked("a")
		p.expect("text ERR:token_revoked", "close 4403 token_revoked")
		p.send(frame(finBit|opBinary, make([]byte, 3*readChunk)), text("PING"), frame(finBit|opClose, []byte{0x11, 0x33}))
		p.expect("EOF")
	})
	overLinks(t, func(p *peer) {
		p.subscribe()
		p.Conn.Close()
		p.gone()
	})
}

// A client that reads late gets all that its queue holds, in order.
func TestLateReader(t *testing.T) {
	overLinks(t, func(p *peer) {
		const messages, size = 500, 60 << 10 // more than the system takes
		limits := fastLimits()
		limits.SendQueue = 2 * messages * size
		p.hub.SetLimits(limits)
		p.subscribe()
		for n := range messages {
			p.hub.Receive(pubsub.Message{Tenant: []byte("t"), Channel: []byte("a"), Payload: make([]byte, size+n)})
		}
		for n := range messages {
			p.expect(fmt.Sprintf("deliver t/a %d [#]", size+n))
		}
	})
}

// What a client announces and does not send takes no memory, and neither does a
// connection that has had much to do: the buffers are shared.
func TestIdleSockets(t *testing.T) {
	const conns = 50
	full := frame(finBit|opBinary, publish(make([]byte, 60<<10)))
	huge := frame(finBit|opBinary, publish(make([]byte, 4<<20)))
	for name, c := range map[string]struct {
		secure  bool
		ingress int    // KB/s
		last    []byte // sent after a burst
		bound   int    // KiB for each, both its ends and its session
	}{
		"nothing waits":           {last: text("PING"), bound: 8},
		"nothing waits, with TLS": {last: text("PING"), bound: 28, secure: true},
		"a frame's first bytes":   {last: slices.Concat(text("PING"), full[:20]), bound: 8},
		"a chunk of a huge frame": {last: slices.Concat(text("PING"), huge[:readChunk+100]), bound: 80},
		"its cap holds it back":   {last: slices.Concat(text("PING"), full, text("PING")), bound: 8, ingress: 1},
	} {
		t.Run(name, func(t *testing.T) {
			limits := fastLimits()
			limits.MaxPayload = len(huge)
			hub := pubsub.NewHub(memory.New(), limits, zap.NewNop())
			defer func() {
				hub.TokenRevoked("a") // or a session that its cap holds back lasts until the end of the drain
				must(t, hub.Close())
			}()
			before := live()
			peers := make([]*peer, conns)
			for i := range peers {
				near, far := link(t, c.secure)
				Serve(hub, admit(t, hub, c.ingress), near, nil, zap.NewNop())
				peers[i] = &peer{T: t, Conn: far, hub: hub}
			}
			burst := slices.Concat(full, full)
			if c.secure || c.ingress > 0 {
				burst = nil // crypto/tls keeps a buffer as large as the largest record that came
			}
			for _, p := range peers {
				p.write(slices.Concat(burst, c.last))
				p.expect("text PONG")
			}
			var grown int
			for start := time.Now(); ; time.Sleep(10 * time.Millisecond) {
				if grown = live() - before; grown <= conns*c.bound<<10 {
					break
				}
				if time.Since(start) > eventTimeout {
					t.Fatalf("a connection holds %d bytes, want at most %d", grown/conns, c.bound<<10)
				}
			}
			t.Logf("a connection holds %d bytes", grown/conns)
			for _, p := range peers {
				p.Close()
			}
		})
	}
}

// live collects the garbage and measures what is left.
func live() int {
	for range 2 { // pools take two collections
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// A fault ends one session, and says so.
func TestFault(t *testing.T) {
	for _, after := range []time.Duration{0, 3 * settleAfter} {
		serve(t, func(p *peer) {
			time.Sleep(after) // of the bubble's clock: the reader has moved by then
			p.send(frame(finBit|opBinary, wire.AppendPublish(nil, wire.Publish{Tenant: []byte("t"), Channel: []byte("fault")})))
			p.expect("text ERR:internal")
			if got := p.read(); !strings.HasPrefix(got, "close 1011 ") {
				p.Errorf("got %q", got)
			}
			p.send(frame(finBit|opClose, nil))
			p.expect("EOF")
		})
	}
}
