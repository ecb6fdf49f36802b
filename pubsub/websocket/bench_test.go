package websocket

import (
	"net"
	"testing"

	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/memory"
)

// BenchmarkReadPublish is one publish of 170 bytes that waits in the reader's buffer: all that
// the reader does with it, up to the hub that finds no subscriber.
func BenchmarkReadPublish(b *testing.B) {
	f := frame(finBit|opBinary, publish(make([]byte, 170-len(publish(nil)))))
	h, size, _ := parseHeader(f)
	unmask(f[size:], h.key)
	clear(f[size-4 : size]) // a mask of zeros can be undone many times
	var burst []byte
	for len(burst)+len(f) <= readChunk {
		burst = append(burst, f...)
	}

	near, far := net.Pipe()
	defer far.Close()
	hub := pubsub.NewHub(memory.New(), fastLimits(), zap.NewNop())
	s := admit(b, hub, 1<<40)
	c := &connection{hub: hub, session: s, conn: near, log: zap.NewNop(), buffer: burst, active: true}
	s.Attach(c)
	b.SetBytes(170)
	b.ReportAllocs()
	for b.Loop() {
		if !s.Ready(0) || !c.readFrame() {
			b.Fatal("the session has ended")
		}
		if c.start == len(c.buffer) {
			c.start = 0
		}
	}
	near.Close()
	s.Detach()
	must(b, hub.Close())
}
