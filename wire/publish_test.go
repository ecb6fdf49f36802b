package wire

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
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

func TestDecodePublish(t *testing.T) {
	for _, v := range load[publishFields](t, "publish.json") {
		t.Run(v.Comment, func(t *testing.T) {
			got, err := DecodePublish(v.Input)
			if !sameError(t, err, v.Expect.Error) {
				if !reflect.DeepEqual(got, Publish{}) {
					t.Errorf("a broken frame gives %+v", got)
				}
				return
			}
			fields := publishFields{
				got.Version(), got.Delivery, got.ID, hex.EncodeToString(got.Key),
				string(got.Tenant), string(got.Channel), hex.EncodeToString(got.Payload),
			}
			if fields != v.Expect.Fields {
				t.Errorf("got %+v, want %+v", fields, v.Expect.Fields)
			}
			reencodePublish(t, v.Input, got)
			truncatePublish(t, v.Input, got)
		})
	}
}

func reencodePublish(t *testing.T, b []byte, p Publish) {
	t.Helper()
	again := AppendPublish(nil, p)
	if !bytes.Equal(again, b) {
		t.Errorf("%x encodes again to %x", b, again)
	}
	if n := PublishLen(p); n != len(again) {
		t.Errorf("PublishLen = %d, the frame has %d bytes", n, len(again))
	}
}

// truncatePublish checks that every truncation of the header errors. The
// payload runs to the end of the frame: cutting it gives a shorter payload.
func truncatePublish(t *testing.T, b []byte, p Publish) {
	t.Helper()
	header := len(b) - len(p.Payload)
	for n := range len(b) {
		cut, err := DecodePublish(b[:n])
		switch {
		case n < header:
			sameError(t, err, CodeBadFrame)
		case err != nil || !bytes.Equal(cut.Payload, b[header:n]):
			t.Errorf("the first %d bytes give payload %x, error %v", n, cut.Payload, err)
		}
	}
}

func TestDecodePublishAliases(t *testing.T) {
	b := AppendPublish(nil, Publish{Tenant: []byte("t"), Channel: []byte("c"), Payload: []byte("p")})
	p, err := DecodePublish(b)
	if err != nil {
		t.Fatal(err)
	}
	b[2], b[5], b[6] = 'T', 'C', 'P'
	if string(p.Tenant)+string(p.Channel)+string(p.Payload) != "TCP" {
		t.Errorf("%+v does not alias the frame", p)
	}
	if _ = append(p.Tenant, "xxx"...); string(p.Channel) != "C" {
		t.Error("appending to the tenant reaches the channel")
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

// A key ends where the names begin, also for who appends to it.
func TestDecodePublishKeyIsCapped(t *testing.T) {
	p, err := DecodePublish(AppendPublish(nil, Publish{Confirm: true, Key: []byte("k"), Tenant: []byte("t"), Channel: []byte("c")}))
	if err != nil {
		t.Fatal(err)
	}
	if _ = append(p.Key, "xxx"...); string(p.Tenant) != "t" {
		t.Error("appending to the key reaches the tenant")
	}
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

func FuzzDecodePublish(f *testing.F) {
	for _, v := range load[publishFields](f, "publish.json") {
		f.Add([]byte(v.Input))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := DecodePublish(b)
		if err != nil {
			if !errors.Is(err, ErrBadFrame) {
				t.Errorf("error %v", err)
			}
			return
		}
		reencodePublish(t, b, p)
	})
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
