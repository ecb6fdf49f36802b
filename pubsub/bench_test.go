package pubsub

import (
	"fmt"
	"testing"
	"time"

	"github.com/millrace/millrace/wire"
	"go.uber.org/zap"
)

// discard is a transport that is always ready.
type discard struct{}

func (discard) Write([]Outgoing) error             { return nil }
func (discard) Close(wire.CloseCode, string) error { return nil }
func (discard) Abort()                             {}

// BenchmarkPublish is one publish of 128 bytes from its frame to the queues of
// all subscribers.
func BenchmarkPublish(b *testing.B) {
	for _, subscribers := range []int{1, 100, 1000} {
		for _, patterns := range []int{1, 3} {
			b.Run(fmt.Sprintf("subscribers=%d/patterns=%d", subscribers, patterns), func(b *testing.B) {
				hub := NewHub(new(localBroker), fastLimits(), zap.NewNop())
				sessions := make([]*Session, subscribers+1)
				for i := range sessions {
					s, err := hub.Admit(Identity{TokenID: "a", ExpiresAt: time.Now().Add(time.Hour), Rights: allRights{}}, Client{})
					if err != nil {
						b.Fatal(err)
					}
					s.Attach(discard{})
					sessions[i] = s
					for _, p := range []string{"a.b", "a.*", "#"}[:patterns] {
						if i > 0 {
							s.HandleLine([]byte("SUB:t:" + p))
						}
					}
				}
				frame := wire.AppendPublish(nil, wire.Publish{Tenant: []byte("t"), Channel: []byte("a.b"), Payload: make([]byte, 128)})
				b.ReportAllocs()
				for b.Loop() {
					sessions[0].HandleFrame(frame)
				}
				for _, s := range sessions {
					s.End()
				}
				if err := hub.Close(); err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}
