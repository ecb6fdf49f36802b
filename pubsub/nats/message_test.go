package nats

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"

	client "github.com/nats-io/nats.go"
	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/wire"
)

func TestMessages(t *testing.T) {
	var bodies []body
	for _, payload := range [][]byte{{}, {0}, []byte("payload"), make([]byte, 1<<20)} {
		for _, sender := range []string{"", "a", "Ännchen", strings.Repeat("u", wire.MaxSender)} {
			bodies = append(bodies, body{[]byte(sender), payload})
		}
	}
	for _, want := range bodies {
		first := byte(version)
		if len(want.sender) > 0 {
			first = version | withSender
		}
		same := func(got body) bool {
			return bytes.Equal(got.sender, want.sender) && bytes.Equal(got.payload, want.payload)
		}
		for _, id := range []edgeID{0, 1, 1 << 63, math.MaxUint64} {
			b := appendBroadcast([]byte("x"), id, math.MaxUint64-uint64(id), want)[1:]
			from, number, got, ok := splitBroadcast(b)
			if !ok || b[0] != first || from != id || number != math.MaxUint64-uint64(id) || !same(got) {
				t.Errorf("broadcast of %d bytes from %q: %v %v %d %v", len(want.payload), want.sender, from, number, len(got.payload), ok)
			}
			for _, n := range []int{0, 1, 2, maxTried} {
				edges := slices.Repeat([]edgeID{id}, n)
				for _, d := range []wire.Delivery{wire.OneNearest, wire.OneRandom} {
					b := appendOne([]byte("x"), d, edges, want)[1:]
					delivery, tried, got, ok := splitOne(b[0], b[2:])
					if !ok || b[0] != first || b[1] != kindMessage || delivery != d || !slices.Equal(tried, edges) || !same(got) {
						t.Errorf("%v of %d bytes from %q that %d edges had: %v %v %d %v", d, len(want.payload), want.sender, n, delivery, tried, len(got.payload), ok)
					}
				}
			}
			b = appendControl([]byte("x"), kindYes, id)[1:]
			if from, ok := splitControl(b[2:]); !ok || b[0] != version || b[1] != kindYes || from != id {
				t.Errorf("control: %v %v", from, ok)
			}
		}
	}
}

// A message without a sender is the one that earlier versions send, byte by byte.
func TestMessagesWithoutSender(t *testing.T) {
	if got, want := appendBroadcast(nil, 1, 2, body{payload: []byte("x")}), "\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x02x"; string(got) != want {
		t.Errorf("a broadcast is %q, want %q", got, want)
	}
	if got, want := appendOne(nil, wire.OneRandom, []edgeID{3}, body{payload: []byte("x")}), "\x01m\x02\x01\x00\x00\x00\x00\x00\x00\x00\x03x"; string(got) != want {
		t.Errorf("a message to one is %q, want %q", got, want)
	}
}

// What no token has for a subject is no sender.
func TestBadSenders(t *testing.T) {
	for _, bad := range []string{
		"", "\x00", "\x00x", "\x01", "\x02a", "\x81" + strings.Repeat("u", wire.MaxSender+1), "\xff" + strings.Repeat("u", 255),
		"\x01\n", "\x01\x7f", "\x02\xc2\x85", "\x01\xff", "\x02\xc3(", "\x03\xed\xa0\x80",
	} {
		broadcast := append(appendBroadcast(nil, 1, 2, body{}), bad...)
		one := append(appendOne(nil, wire.OneNearest, nil, body{}), bad...)
		broadcast[0] |= withSender
		one[0] |= withSender
		if _, _, c, ok := splitBroadcast(broadcast); ok {
			t.Errorf("%q is taken for the sender %q of a broadcast", bad, c.sender)
		}
		if _, _, c, ok := splitOne(one[0], one[2:]); ok {
			t.Errorf("%q is taken for the sender %q of a message to one", bad, c.sender)
		}
	}
}

func TestCutMessages(t *testing.T) {
	broadcast := appendBroadcast(nil, 1, 2, body{sender: []byte("ann")})
	for n := range broadcast {
		if _, _, _, ok := splitBroadcast(broadcast[:n:n]); ok {
			t.Errorf("%d bytes are taken for a broadcast", n)
		}
	}
	one := appendOne(nil, wire.OneNearest, []edgeID{1, 2, 3}, body{sender: []byte("ann")})[2:]
	for n := range one {
		if _, _, _, ok := splitOne(version|withSender, one[:n:n]); ok {
			t.Errorf("%d bytes are taken for a message to one", n)
		}
	}
	control := appendControl(nil, kindNo, 1)[2:]
	for n := range control {
		if _, ok := splitControl(control[:n:n]); ok {
			t.Errorf("%d bytes are taken for a control message", n)
		}
	}
	if _, ok := splitControl(append(control, 0)); ok {
		t.Error("a control message that is too long is taken")
	}
	broadcast[0]++
	if _, _, _, ok := splitBroadcast(broadcast); ok {
		t.Error("another version is taken")
	}
}

// Only the two modes for one connection are accepted, as the hub knows no others.
func TestDeliveryOfOne(t *testing.T) {
	for d := range 256 {
		_, _, _, ok := splitOne(version, appendOne(nil, wire.Delivery(d), nil, body{payload: []byte("x")})[2:])
		if want := d == int(wire.OneNearest) || d == int(wire.OneRandom); ok != want {
			t.Errorf("delivery %d: %v, want %v", d, ok, want)
		}
	}
}

// Whatever bytes can be read are written again as the same bytes.
func FuzzMessage(f *testing.F) {
	f.Add(appendBroadcast(nil, 1, 2, body{payload: []byte("x")}))
	f.Add(appendOne(nil, wire.OneRandom, []edgeID{1, 2}, body{payload: []byte("x")}))
	f.Add(appendBroadcast(nil, 1, 2, body{[]byte("ann"), []byte("x")}))
	f.Add(appendOne(nil, wire.OneRandom, []edgeID{1, 2}, body{[]byte("ann"), []byte("x")}))
	f.Add(appendControl(nil, kindQuery, 1))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		if from, number, c, ok := splitBroadcast(b); ok && !bytes.Equal(appendBroadcast(nil, from, number, c), b) {
			t.Errorf("%x is read as broadcast %d of %v", b, number, from)
		}
		for _, first := range []byte{version, version | withSender} {
			if delivery, tried, c, ok := splitOne(first, b); ok && (!bytes.Equal(appendOne(nil, delivery, tried, c)[2:], b) || c.version() != first) {
				t.Errorf("%x is read as tried by %v", b, tried)
			}
		}
		if from, ok := splitControl(b); ok && !bytes.Equal(appendControl(nil, kindNo, from)[2:], b) {
			t.Errorf("%x is read as %v", b, from)
		}
	})
}

// sink is a hub that does nothing.
type sink struct{ pubsub.Receiver }

func (sink) Receive(pubsub.Message) int { return 1 }

// The way of a broadcast from NATS to the hub.
func BenchmarkReceive(b *testing.B) {
	run := func(broker *Broker, subject string, id edgeID) func(*testing.B) {
		return func(b *testing.B) {
			broker.peers.init(broker.id, "", nil)
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
