package websocket

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// What waits for its tenant's cap comes in order, though nothing is read behind it.
func TestHeldPublishes(t *testing.T) {
	overLinks(t, func(p *peer) {
		p.send(text("SUB:t:#"))
		p.expect("text OK:SUB:t:#")
		limits := fastLimits()
		limits.TokenIngressKB, limits.TenantIngressKB = 128, 128
		p.hub.SetLimits(limits)
		var frames [][]byte
		for n := range 20 { // some 120 KiB
			frames = append(frames, frame(finBit|opBinary, publish(make([]byte, 6000+n))))
		}
		p.send(slices.Concat(append(frames, text("UNSUB:t:b"))...)) // whose answer keeps its place, as PONG does not
		for n := range 20 {
			p.expect(fmt.Sprintf("deliver t/a %d [#]", 6000+n))
		}
		p.expect("text OK:UNSUB:t:b")
	})
}

// A client that goes away while its publish waits is noticed before its turn.
func TestClientGoneWhileHeld(t *testing.T) {
	overLinks(t, func(p *peer) {
		limits := fastLimits()
		limits.TenantIngressKB = 1
		p.hub.SetLimits(limits)
		large := frame(finBit|opBinary, publish(make([]byte, 60<<10))) // a minute's worth
		// The second one waits, and nothing stands behind it: what the kernel cannot hand
		// over keeps the end of the connection from the edge, too.
		if _, err := p.Write(slices.Concat(large, large)); err != nil {
			p.Fatal(err)
		}
		for start := time.Now(); p.hub.Metrics().MessagesIn == 0; time.Sleep(time.Millisecond) {
			if time.Since(start) > eventTimeout {
				p.Fatal("nothing was published")
			}
		}
		p.Conn.Close()
		p.gone()
		if n := p.hub.Metrics().MessagesIn; n != 1 {
			p.Errorf("%d publishes were accepted, want 1", n)
		}
	})
}
