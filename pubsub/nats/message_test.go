package nats

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/millrace/millrace/wire"
)

func TestMessages(t *testing.T) {
	for _, payload := range [][]byte{nil, {0}, []byte("payload"), make([]byte, 1<<20)} {
		for _, id := range []edgeID{0, 1, 1 << 63, math.MaxUint64} {
			b := appendBroadcast([]byte("x"), id, math.MaxUint64-uint64(id), payload)[1:]
			from, number, got, ok := splitBroadcast(b)
			if !ok || from != id || number != math.MaxUint64-uint64(id) || !bytes.Equal(got, payload) {
				t.Errorf("broadcast of %d bytes: %v %v %d %v", len(payload), from, number, len(got), ok)
			}
			for _, n := range []int{0, 1, 2, maxTried} {
				want := slices.Repeat([]edgeID{id}, n)
				for _, d := range []wire.Delivery{wire.OneNearest, wire.OneRandom} {
					b := appendOne([]byte("x"), d, want, payload)[1:]
					delivery, tried, got, ok := splitOne(b[2:])
					if !ok || b[0] != version || b[1] != kindMessage || delivery != d || !slices.Equal(tried, want) || !bytes.Equal(got, payload) {
						t.Errorf("%v of %d bytes that %d edges had: %v %v %d %v", d, len(payload), n, delivery, tried, len(got), ok)
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

func TestCutMessages(t *testing.T) {
	broadcast := appendBroadcast(nil, 1, 2, nil)
	for n := range broadcast {
		if _, _, _, ok := splitBroadcast(broadcast[:n:n]); ok {
			t.Errorf("%d bytes are taken for a broadcast", n)
		}
	}
	one := appendOne(nil, wire.OneNearest, []edgeID{1, 2, 3}, nil)[2:]
	for n := range one {
		if _, _, _, ok := splitOne(one[:n:n]); ok {
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
		_, _, _, ok := splitOne(appendOne(nil, wire.Delivery(d), nil, []byte("x"))[2:])
		if want := d == int(wire.OneNearest) || d == int(wire.OneRandom); ok != want {
			t.Errorf("delivery %d: %v, want %v", d, ok, want)
		}
	}
}

// Whatever bytes can be read are written again as the same bytes.
func FuzzMessage(f *testing.F) {
	f.Add(appendBroadcast(nil, 1, 2, []byte("x")))
	f.Add(appendOne(nil, wire.OneRandom, []edgeID{1, 2}, []byte("x")))
	f.Add(appendControl(nil, kindQuery, 1))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		if from, number, payload, ok := splitBroadcast(b); ok && !bytes.Equal(appendBroadcast(nil, from, number, payload), b) {
			t.Errorf("%x is read as broadcast %d of %v", b, number, from)
		}
		if delivery, tried, payload, ok := splitOne(b); ok && !bytes.Equal(appendOne(nil, delivery, tried, payload)[2:], b) {
			t.Errorf("%x is read as tried by %v", b, tried)
		}
		if from, ok := splitControl(b); ok && !bytes.Equal(appendControl(nil, kindNo, from)[2:], b) {
			t.Errorf("%x is read as %v", b, from)
		}
	})
}
