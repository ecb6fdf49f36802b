package websocket

import "unicode/utf8"

// textCheck finds the first byte of a text message that cannot be UTF-8, before
// the message is whole (RFC 6455, section 8.1). Each byte is looked at once.
type textCheck struct {
	part    [utf8.UTFMax]byte // the start of a character
	n       int               // bytes of it
	checked int               // bytes of the current frame's payload that were checked
}

// masked checks the part of a frame's payload that has come; each call has more of it.
func (t *textCheck) masked(payload []byte, key uint32) bool {
	var plain [512]byte
	for t.checked < len(payload) {
		n := copy(plain[:], payload[t.checked:])
		for i := range n {
			plain[i] ^= byte(key >> (8 * ((t.checked + i) % 4)))
		}
		t.checked += n
		if !t.add(plain[:n]) {
			return false
		}
	}
	return true
}

// fragment checks the whole payload of a frame, except for what masked has checked.
func (t *textCheck) fragment(payload []byte) bool {
	rest := payload[t.checked:]
	t.checked = 0
	return t.add(rest)
}

func (t *textCheck) add(b []byte) bool {
	for t.n > 0 && len(b) > 0 {
		t.part[t.n] = b[0]
		t.n++
		b = b[1:]
		if !utf8.FullRune(t.part[:t.n]) {
			continue
		}
		if r, size := utf8.DecodeRune(t.part[:t.n]); r == utf8.RuneError && size == 1 {
			return false
		}
		t.n = 0
	}
	// At most the last three bytes are the start of a character.
	whole := len(b)
	for i := len(b) - 1; i >= max(0, len(b)-utf8.UTFMax+1); i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				whole = i
			}
			break
		}
	}
	if whole < len(b) {
		t.n = copy(t.part[:], b[whole:])
	}
	return utf8.Valid(b[:whole])
}
