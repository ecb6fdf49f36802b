package websocket

import (
	"encoding/binary"
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"
)

var texts = []string{
	"", "plain", "\u00e9\u20ac\U0001F600", "\xff", "a\xc3(", "\xe2\x82\u00e9", "\xf4\x90\x80\x80", "\xed\xa0\x80",
	"\xc0\xaf", "\xf0\x80\x80\xaf", "\xf8\x88", "\x80", "\xe0\x9f", "\xe2\x82",
	strings.Repeat("\u20ac", 175) + "\xe2\x28", "\u03ba\u1f79\u03c3\u03bc\u03b5\xf4\x90\x80\x80edited",
}

// firstWrong returns how many bytes it takes to know that a text is not UTF-8; more
// than it has if it may still become UTF-8.
func firstWrong(text string) int {
	for n := 1; n <= len(text); n++ {
		for start := text[:n]; utf8.FullRuneInString(start); {
			r, size := utf8.DecodeRuneInString(start)
			if r == utf8.RuneError && size == 1 {
				return n
			}
			start = start[size:]
		}
	}
	return len(text) + 1
}

// A text that cannot become UTF-8 closes with its first wrong byte, whatever was
// announced to follow, in one frame and in fragments.
func TestWrongTextFailsFast(t *testing.T) {
	for _, text := range texts {
		for _, fragments := range []bool{false, true} {
			serve(t, func(p *peer) {
				got := make(chan string, 1)
				go func() { got <- p.read() }()
				send := []byte(text)
				if !fragments {
					whole := frame(finBit|opText, append(send, make([]byte, 1000)...))
					binary.BigEndian.PutUint16(whole[2:], uint16(len(whole)-8))
					p.write(whole[:8]) // the header
					send = whole[8 : 8+len(text)]
				}
				first := byte(opText)
				for i := range send {
					if len(got) > 0 {
						t.Fatalf("%q: closed after %d bytes", text, i)
					}
					if fragments {
						p.write(frame(first, send[i:i+1]))
						first = opContinuation
					} else {
						p.write(send[i : i+1])
					}
					synctest.Wait()
					if i+1 == firstWrong(text) {
						break
					}
				}
				if firstWrong(text) > len(text) {
					if len(got) > 0 {
						t.Errorf("%q: closed", text)
					}
					return
				}
				if end := <-got; !strings.HasPrefix(end, "close 1007 ") {
					t.Errorf("%q: got %q", text, end)
				}
			})
		}
	}
}
