package websocket

import (
	"fmt"
	"net"
	"testing"

	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/memory"
)

// BenchmarkReadPublish is one publish of 170 bytes that waits in the reader's
// buffer: its parser alone, and all that the reader does with it, up to the hub
// that finds no subscriber.
func BenchmarkReadPublish(b *testing.B) {
	f := frame(finBit|opBinary, publish(make([]byte, 170-len(publish(nil)))))
	h, size, _ := parseHeader(f)
	unmask(f[size:], h.key)
	clear(f[size-4 : size]) // a mask of zeros can be undone many times
	var burst []byte
	for len(burst)+len(f) <= readChunk {
		burst = append(burst, f...)
	}
	b.Run("to=parser", func(b *testing.B) {
		b.SetBytes(170)
		b.ReportAllocs()
		rest := burst
		for b.Loop() {
			h, size, breach := parseHeader(rest)
			if breach != "" || h.length != 170 {
				b.Fatal(h, breach)
			}
			unmask(rest[size:size+170], h.key)
			if rest = rest[size+170:]; len(rest) == 0 {
				rest = burst
			}
		}
	})
	b.Run("to=hub", func(b *testing.B) {
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
	})
}

// BenchmarkWrite is what a queue of 64 KiB costs for each message of 190 bytes, by
// the kind of connection and the bytes that are joined into one write.
func BenchmarkWrite(b *testing.B) {
	msgs := make([]pubsub.Outgoing, 64<<10/190)
	for i := range msgs {
		msgs[i] = pubsub.Outgoing{Kind: pubsub.Binary, Data: make([]byte, 190)}
	}
	for _, secure := range []bool{false, true} {
		b.Run(fmt.Sprintf("tls=%v", secure), func(b *testing.B) {
			near, far := link(b, secure)
			go discard(far)
			c := &connection{conn: near}
			b.ReportAllocs()
			b.SetBytes(190 * int64(len(msgs)))
			for b.Loop() {
				must(b, c.Write(msgs))
			}
		})
	}
}
