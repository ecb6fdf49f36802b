package wire

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"testing"
)

type publishFields struct {
	Version    int      `json:"version"`
	Delivery   Delivery `json:"delivery"`
	ID         uint32   `json:"id"`
	KeyHex     string   `json:"key_hex"`
	Tenant     string   `json:"tenant"`
	Channel    string   `json:"channel"`
	PayloadHex string   `json:"payload_hex"`
}

var publishCodec = codec[publishFields, Publish]{
	file: "publish.json", broken: ErrBadFrame, decode: DecodePublish,
	fields: func(p Publish) publishFields {
		return publishFields{
			p.Version(), p.Delivery, p.ID, hex.EncodeToString(p.Key),
			string(p.Tenant), string(p.Channel), hex.EncodeToString(p.Payload),
		}
	},
	again: func(t *testing.T, b []byte, p Publish) {
		again := AppendPublish(nil, p)
		if n := PublishLen(p); !bytes.Equal(again, b) || n != len(again) {
			t.Errorf("%x encodes again to %x, of a length of %d", b, again, n)
		}
	},
}

func TestDecodePublish(t *testing.T) {
	c := publishCodec
	c.more = func(t *testing.T, v vector[publishFields], got Publish) {
		if v.Expect.Error != "" {
			return
		}
		// The payload runs to the end of the frame: cutting it gives a shorter payload.
		header := len(v.Input) - len(got.Payload)
		publishCodec.truncated(t, v.Input[:header:header])
		for n := header; n < len(v.Input); n++ {
			if cut, err := DecodePublish(v.Input[:n]); err != nil || !bytes.Equal(cut.Payload, v.Input[header:n]) {
				t.Errorf("the first %d bytes give payload %x, error %v", n, cut.Payload, err)
			}
		}
	}
	c.test(t)
}

func FuzzDecodePublish(f *testing.F) { publishCodec.fuzz(f) }

func TestDecodePublishAliases(t *testing.T) {
	b := AppendPublish(nil, Publish{Confirm: true, Key: []byte("k"), Tenant: []byte("t"), Channel: []byte("c"), Payload: []byte("p")})
	p, err := DecodePublish(b)
	if err != nil {
		t.Fatal(err)
	}
	copy(b, bytes.ToUpper(b))
	if string(p.Key)+string(p.Tenant)+string(p.Channel)+string(p.Payload) != "KTCP" {
		t.Errorf("%+v does not alias the frame", p)
	}
	_, _ = append(p.Key, "xxx"...), append(p.Tenant, "xxx"...)
	if string(p.Tenant)+string(p.Channel) != "TC" {
		t.Error("appending to the key or the tenant reaches what follows")
	}
}

func TestAppendPublishKeepsDelivery(t *testing.T) {
	p := Publish{Delivery: OneRandom, Tenant: []byte("t"), Channel: []byte("c")} // not tagged
	got, err := DecodePublish(AppendPublish([]byte("x"), p)[1:])
	if err != nil || got.Delivery != OneRandom || !got.Tagged {
		t.Errorf("got %+v, %v: a delivery other than broadcast needs version 2", got, err)
	}
}

func TestDecodePublishAllocatesNothing(t *testing.T) {
	for _, v := range load[publishFields](t, "publish.json") {
		b := []byte(v.Input)
		noAllocs(t, v.Comment, func() { _, _ = DecodePublish(b) })
	}
	p := Publish{Tagged: true, Tenant: []byte("t"), Channel: []byte("c"), Payload: make([]byte, 512)}
	dst := make([]byte, 0, PublishLen(p))
	noAllocs(t, "append", func() { dst = AppendPublish(dst[:0], p) })
	p = Publish{Confirm: true, ID: 7, Key: []byte("k"), Tenant: []byte("t"), Channel: []byte("c"), Payload: make([]byte, 512)}
	dst = make([]byte, 0, PublishLen(p))
	noAllocs(t, "append version 3", func() { dst = AppendPublish(dst[:0], p) })
}

func TestDeliveryString(t *testing.T) {
	for d, want := range map[Delivery]string{
		Broadcast: "broadcast", OneNearest: "one-nearest", OneRandom: "one-random", 3: "Delivery(3)",
	} {
		if got := d.String(); got != want {
			t.Errorf("Delivery %d is %q, want %q", uint8(d), got, want)
		}
	}
}

var payloadSizes = []int{0, 128, 4096, 65536}

func BenchmarkDecodePublish(b *testing.B) {
	for _, version := range []int{1, 2, 3} {
		for _, size := range payloadSizes {
			b.Run(fmt.Sprintf("version=%d/payload=%d", version, size), func(b *testing.B) {
				frame := AppendPublish(nil, Publish{
					Tagged: version == 2, Confirm: version == 3, Tenant: []byte("paint.eu"), Channel: []byte("chat.room-7"), Payload: make([]byte, size),
				})
				b.ReportAllocs()
				for b.Loop() {
					if _, err := DecodePublish(frame); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
