package websocket

import (
	"fmt"
	"slices"
	"testing"
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
