package pubsub

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub/hook"
	"github.com/millrace/millrace/wire"
)

// discard is a transport that is always ready.
type discard struct{}

func (discard) Write([]Outgoing) error             { return nil }
func (discard) Close(wire.CloseCode, string) error { return nil }
func (discard) Abort()                             {}

// discardNow is one that can be written without waiting, too.
type discardNow struct{ discard }

func (discardNow) TryWrite([]Outgoing) (bool, error) { return true, nil }

// BenchmarkPublish is one publish of 128 bytes from its frame to the writes of
// all subscribers: by a goroutine of each (TLS, WebTransport), or by a few for all.
func BenchmarkPublish(b *testing.B) {
	for _, transport := range []Transport{discard{}, discardNow{}} {
		for _, size := range [][2]int{{1, 1}, {10, 1}, {1000, 1}, {1000, 3}} {
			subscribers, patterns := size[0], size[1]
			_, try := transport.(TryWriter)
			b.Run(fmt.Sprintf("try=%v/subscribers=%d/patterns=%d", try, subscribers, patterns), func(b *testing.B) {
				hub := NewHub(new(localBroker), fastLimits(), zap.NewNop())
				sessions := make([]*Session, subscribers+1)
				for i := range sessions {
					s, err := hub.Admit(Identity{TokenID: "a", ExpiresAt: time.Now().Add(time.Hour), Rights: allRights{}}, Client{})
					must(b, err)
					s.Attach(transport)
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
					s.Detach()
				}
				must(b, hub.Close())
			})
		}
	}
}

// denyNobody is a hook that is asked about each publish.
type denyNobody struct{}

func (denyNobody) AuthorizePublish(hook.Client, hook.Publication) error { return nil }

// What a publish to one subscriber costs with hooks, none of them and two that are asked.
func BenchmarkPublishHooks(b *testing.B) {
	for _, hooks := range [][]NamedHook{nil, {{"a", denyNobody{}}}, {{"a", denyNobody{}}, {"b", denyNobody{}}}} {
		b.Run(fmt.Sprintf("hooks=%d", len(hooks)), func(b *testing.B) {
			hub := NewHub(new(localBroker), fastLimits(), zap.NewNop())
			hub.SetHooks(hooks)
			s, err := hub.Admit(Identity{TokenID: "a", ExpiresAt: time.Now().Add(time.Hour), Rights: allRights{}}, Client{})
			must(b, err)
			s.Attach(discardNow{})
			s.HandleLine([]byte("SUB:t:a.b"))
			frame := wire.AppendPublish(nil, wire.Publish{Tenant: []byte("t"), Channel: []byte("a.b"), Payload: make([]byte, 128)})
			b.ReportAllocs()
			for b.Loop() {
				s.HandleFrame(frame)
			}
			s.Detach()
			must(b, hub.Close())
		})
	}
}

// BenchmarkPublishToHostile is a publish to a channel that as many patterns match
// as 100 connections of a tenant get.
func BenchmarkPublishToHostile(b *testing.B) {
	hub := NewHub(new(localBroker), fastLimits(), zap.NewNop())
	sessions := make([]*Session, 100)
	for i := range sessions {
		s, err := hub.Admit(Identity{TokenID: "a", ExpiresAt: time.Now().Add(time.Hour), Rights: allRights{}}, Client{})
		must(b, err)
		s.Attach(discardNow{})
		sessions[i] = s
		random := rand.New(rand.NewPCG(1, uint64(i)))
		for range 1024 {
			s.HandleLine([]byte("SUB:t:" + hostile(hostileChannel, random.IntN(1<<12))))
		}
	}
	frame := wire.AppendPublish(nil, wire.Publish{Tenant: []byte("t"), Channel: []byte(hostileChannel)})
	b.ReportAllocs()
	for b.Loop() {
		sessions[0].HandleFrame(frame)
	}
	for _, s := range sessions {
		s.Detach()
	}
	must(b, hub.Close())
}
