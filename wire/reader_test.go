package wire

import (
	"bytes"
	"testing"
)

func TestReader(t *testing.T) {
	r := NewReader([]byte("\x01\x02\x03\x00\x02ab\x00\x00xyz"))
	if n := r.Number(3); n != 0x010203 {
		t.Errorf("number %x", n)
	}
	if f := r.Field16(); string(f) != "ab" || cap(f) != 2 {
		t.Errorf("field %q with room for %d", f, cap(f))
	}
	if f := r.Field16(); len(f) != 0 {
		t.Errorf("empty field %q", f)
	}
	if f := r.Take(2); string(f) != "xy" || r.Len() != 1 || r.Short() {
		t.Errorf("took %q, %d are left, short %v", f, r.Len(), r.Short())
	}
	if n := NewReader(bytes.Repeat([]byte{0xff}, 8)).Number(8); n != 1<<64-1 {
		t.Errorf("the largest number is %x", n)
	}
	if n := r.Number(0); n != 0 || r.Short() {
		t.Errorf("no bytes are %d, short %v", n, r.Short())
	}
}

// One that has been short stays so, although later fields would fit.
func TestReaderShort(t *testing.T) {
	for name, read := range map[string]func(*Reader){
		"Take":    func(r *Reader) { r.Take(4) },
		"Number":  func(r *Reader) { r.Number(8) },
		"Field16": func(r *Reader) { r.Field16() }, // 0x6162 bytes
	} {
		r := NewReader([]byte("abc"))
		read(r)
		if !r.Short() || r.Len() != 0 {
			t.Errorf("%s: short %v, %d are left", name, r.Short(), r.Len())
		}
		if r.Take(0) != nil || r.Number(1) != 0 || r.Field16() != nil || !r.Short() {
			t.Errorf("%s: something follows", name)
		}
	}
}

func TestReaderAllocatesNothing(t *testing.T) {
	b := []byte("\x00\x02ab\x01")
	noAllocs(t, "read", func() {
		r := Reader{b: b}
		_, _ = r.Field16(), r.Number(2)
	})
}
