package wire

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"testing"
)

type deliverFields struct {
	Tenant     string   `json:"tenant"`
	Channel    string   `json:"channel"`
	PayloadHex string   `json:"payload_hex"`
	Patterns   []string `json:"patterns"`
	Position   string   `json:"position"`
	Sender     *string  `json:"sender"`
}

func TestDecodeDeliver(t *testing.T) {
	for _, v := range load[deliverFields](t, "deliver.json") {
		t.Run(v.Comment, func(t *testing.T) {
			got, err := DecodeDeliver(v.Input)
			if ignored := IsUnknownFrame(v.Input); ignored != v.Expect.Ignored {
				t.Errorf("ignored: %v", ignored)
			}
			if !sameError(t, err, v.Expect.Error) {
				if !reflect.DeepEqual(got, Deliver{}) {
					t.Errorf("a broken frame gives %+v", got)
				}
				return
			}
			fields := deliverFields{string(got.Tenant), string(got.Channel), hex.EncodeToString(got.Payload), got.Patterns, "", nil}
			if got.Stored {
				fields.Position = got.Position.String()
			}
			if sender := string(got.Sender); got.HasSender {
				fields.Sender = &sender
			} else if got.Sender != nil {
				t.Errorf("the sender %q without the field", got.Sender)
			}
			if !reflect.DeepEqual(fields, v.Expect.Fields) {
				t.Errorf("got %+v, want %+v", fields, v.Expect.Fields)
			}
			reencodeDeliver(t, v.Input, got)
			for n := range len(v.Input) {
				if _, err := DecodeDeliver(v.Input[:n]); err == nil {
					t.Errorf("the first %d of %d bytes decode", n, len(v.Input))
				} else {
					sameError(t, err, CodeBadFrame)
				}
			}
		})
	}
}

func reencodeDeliver(t *testing.T, b []byte, d Deliver) {
	t.Helper()
	again, n := AppendDeliver(nil, d.Tenant, d.Channel, d.Payload, d.Patterns), DeliverLen(d.Tenant, d.Channel, d.Payload, d.Patterns)
	if d.Stored || d.HasSender {
		again, n = AppendDeliverFields(nil, &d), DeliverFieldsLen(&d)
	}
	if !bytes.Equal(again, b) {
		t.Errorf("%x encodes again to %x", b, again)
	}
	if n != len(again) {
		t.Errorf("the length is said to be %d, the frame has %d bytes", n, len(again))
	}
}

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
	} {
		d.Tenant, d.Channel, d.Payload, d.Patterns = tenant, channel, payload, patterns
		dst = make([]byte, 0, DeliverFieldsLen(&d))
		noAllocs(t, "append with fields", func() { dst = AppendDeliverFields(dst[:0], &d) })
		if len(dst) != cap(dst) {
			t.Errorf("the frame has %d bytes, DeliverFieldsLen %d", len(dst), cap(dst))
		}
	}
}

func FuzzDecodeDeliver(f *testing.F) {
	for _, v := range load[deliverFields](f, "deliver.json") {
		f.Add([]byte(v.Input))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := DecodeDeliver(b)
		if err != nil {
			if !errors.Is(err, ErrBadFrame) {
				t.Errorf("error %v", err)
			}
			return
		}
		if IsUnknownFrame(b) {
			t.Errorf("%x is unknown, and decodes", b)
		}
		reencodeDeliver(t, b, d)
	})
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
