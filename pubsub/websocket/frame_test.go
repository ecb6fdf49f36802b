package websocket

import (
	"bytes"
	"testing"
)

func TestHeaderTruncations(t *testing.T) {
	for _, n := range []int{0, 125, 126, 1 << 16} {
		b := frame(finBit|opBinary, make([]byte, n))
		h, size, breach := parseHeader(b)
		if breach != "" || h.length != uint64(n) || !h.fin || h.opcode != opBinary || size != len(b)-n {
			t.Fatalf("%d bytes: %+v, size %d, breach %q", n, h, size, breach)
		}
		for cut := range size {
			if _, got, breach := parseHeader(b[:cut]); got != 0 || breach != "" {
				t.Errorf("%d bytes, cut at %d: size %d, breach %q", n, cut, got, breach)
			}
		}
	}
}

func TestUnmask(t *testing.T) {
	for n := range 40 {
		plain := bytes.Repeat([]byte("payload."), 5)[:n]
		f := frame(finBit|opText, plain)
		h, size, _ := parseHeader(f)
		unmask(f[size:], h.key)
		if !bytes.Equal(f[size:], plain) {
			t.Errorf("%d bytes: got %q", n, f[size:])
		}
	}
}

func TestAppendFrameHeaders(t *testing.T) {
	for n, want := range map[int][]byte{
		0:       {0x82, 0},
		125:     {0x82, 125},
		126:     {0x82, 126, 0, 126},
		65535:   {0x82, 126, 0xFF, 0xFF},
		1 << 16: {0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0},
	} {
		got := appendFrame(nil, opBinary, make([]byte, n))
		if !bytes.HasPrefix(got, want) || len(got) != len(want)+n {
			t.Errorf("%d bytes: % x…, %d in all", n, got[:len(want)], len(got))
		}
	}
}
