package wire

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"testing"
)

type deliverFields struct {
	Tenant     string   `json:"tenant"`
	Channel    string   `json:"channel"`
	PayloadHex string   `json:"payload_hex"`
	Patterns   []string `json:"patterns"`
	Position   string   `json:"position"`
	Sender     *string  `json:"sender"`
	ToOne      bool     `json:"to_one"`
	KeyHex     *string  `json:"key_hex"`
}

var deliverCodec = codec[deliverFields, Deliver]{
	file: "deliver.json", broken: ErrBadFrame, decode: DecodeDeliver,
	fields: func(d Deliver) deliverFields {
		fields := deliverFields{string(d.Tenant), string(d.Channel), hex.EncodeToString(d.Payload), d.Patterns, "", nil, d.ToOne, nil}
		if d.Stored {
			fields.Position = d.Position.String()
		}
		if sender := string(d.Sender); d.HasSender {
			fields.Sender = &sender
		}
		if key := hex.EncodeToString(d.Key); d.Own {
			fields.KeyHex = &key
		}
		return fields
	},
	again: func(t *testing.T, b []byte, d Deliver) {
		again, n := AppendDeliver(nil, d.Tenant, d.Channel, d.Payload, d.Patterns), DeliverLen(d.Tenant, d.Channel, d.Payload, d.Patterns)
		if d.fields() != 0 {
			again, n = AppendDeliverFields(nil, &d), DeliverFieldsLen(&d)
		}
		if !bytes.Equal(again, b) || n != len(again) {
			t.Errorf("%x encodes again to %x, of a length of %d", b, again, n)
		}
		if IsUnknownFrame(b) || !d.HasSender && d.Sender != nil || !d.Own && d.Key != nil {
			t.Errorf("%x is unknown, or has a sender or a key without the field: %+v", b, d)
		}
	},
}

func TestDecodeDeliver(t *testing.T) {
	c := deliverCodec
	c.more = func(t *testing.T, v vector[deliverFields], _ Deliver) {
		if ignored := IsUnknownFrame(v.Input); ignored != v.Expect.Ignored {
			t.Errorf("ignored: %v", ignored)
		}
		if _, err := DecodePresence(v.Input); !errors.Is(err, ErrBadFrame) || IsPresence(v.Input) {
			t.Errorf("it passes for a presence frame: %v", err)
		}
		if v.Expect.Error == "" {
			deliverCodec.truncated(t, v.Input)
		}
	}
	c.test(t)
	c.file = "deliver_own.json"
	c.test(t)
}

func FuzzDecodeDeliver(f *testing.F) { deliverCodec.fuzz(f, "deliver_own.json") }

func TestAppendDeliverKeepsDst(t *testing.T) {
	got := AppendDeliver([]byte("x"), nil, nil, nil, []string{"#"})
	if want := "x\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x01#"; string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestDeliverMaxPatterns(t *testing.T) {
	patterns := make([]string, 65535)
	for i := range patterns {
		patterns[i] = "#"
	}
	got, err := DecodeDeliver(AppendDeliver(nil, []byte("t"), []byte("a"), nil, patterns))
	if err != nil || len(got.Patterns) != len(patterns) {
		t.Errorf("%d patterns, %v", len(got.Patterns), err)
	}
}

// A count that is a lie must not cost memory.
func TestDecodeDeliverBoundsAllocation(t *testing.T) {
	lie := AppendDeliver(nil, []byte("t"), []byte("a"), nil, nil)
	lie[len(lie)-2], lie[len(lie)-1] = 0xff, 0xff
	noAllocs(t, "65,535 patterns announced, none there", func() { _, _ = DecodeDeliver(lie) })
}

func TestAppendDeliverAllocatesNothing(t *testing.T) {
	tenant, channel, payload := []byte("paint.eu"), []byte("chat.room-7"), make([]byte, 512)
	patterns := []string{"chat.*", "#"}
	dst := make([]byte, 0, DeliverLen(tenant, channel, payload, patterns))
	noAllocs(t, "append", func() { dst = AppendDeliver(dst[:0], tenant, channel, payload, patterns) })
	if len(dst) != cap(dst) {
		t.Errorf("the frame has %d bytes, DeliverLen %d", len(dst), cap(dst))
	}
	for _, d := range []Deliver{
		{Stored: true, Position: maxPosition},
		{HasSender: true, Sender: []byte("ann")},
		{Stored: true, Position: maxPosition, HasSender: true, Sender: make([]byte, MaxSender)},
		{HasSender: true, Sender: []byte("ann"), ToOne: true, Own: true, Key: make([]byte, MaxKey)},
	} {
		d.Tenant, d.Channel, d.Payload, d.Patterns = tenant, channel, payload, patterns
		dst = make([]byte, 0, DeliverFieldsLen(&d))
		noAllocs(t, "append with fields", func() { dst = AppendDeliverFields(dst[:0], &d) })
		if len(dst) != cap(dst) {
			t.Errorf("the frame has %d bytes, DeliverFieldsLen %d", len(dst), cap(dst))
		}
	}
}

func BenchmarkAppendDeliver(b *testing.B) {
	tenant, channel := []byte("paint.eu"), []byte("chat.room-7")
	for _, patterns := range [][]string{{"chat.*"}, {"chat.*", "chat.room-7", "chat.#", "#"}} {
		for _, size := range payloadSizes {
			b.Run(fmt.Sprintf("patterns=%d/payload=%d", len(patterns), size), func(b *testing.B) {
				payload := make([]byte, size)
				dst := make([]byte, 0, DeliverLen(tenant, channel, payload, patterns))
				b.ReportAllocs()
				b.SetBytes(int64(cap(dst)))
				for b.Loop() {
					dst = AppendDeliver(dst[:0], tenant, channel, payload, patterns)
				}
			})
		}
	}
}
