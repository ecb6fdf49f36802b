package nats

import (
	"encoding/binary"
	"testing"

	client "github.com/nats-io/nats.go"
	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub"
)

// sink is a hub that does nothing.
type sink struct{ pubsub.Receiver }

func (sink) Receive(pubsub.Message) int { return 1 }

// The way of a broadcast from NATS to the hub.
func BenchmarkReceive(b *testing.B) {
	run := func(broker *Broker, subject string, id edgeID) func(*testing.B) {
		return func(b *testing.B) {
			broker.peers.init(broker.id, nil)
			broker.responders.init()
			broker.receiver, broker.log, broker.prefix = sink{}, zap.NewNop(), "millrace."
			m := &client.Msg{Subject: subject, Data: appendBroadcast(nil, id, 1, body{payload: make([]byte, 256)})}
			r := readState{sources: map[edgeID]*source{}}
			var scratch worker
			b.ReportAllocs()
			for n := uint64(1); b.Loop(); n++ {
				binary.BigEndian.PutUint64(m.Data[9:], n)
				if _, ok := broker.admit(&r, m); ok {
					broker.handle(&scratch, m)
				}
			}
		}
	}
	const channel = "b.paint=room.chat.room-7.@ann.="
	b.Run("unnamed", run(&Broker{id: 1}, "millrace."+channel, 2))
	b.Run("named", run(&Broker{id: 1, name: "edge-1"}, "millrace.s.edge-2."+channel, sender("edge-2").makeID(2)))
}
