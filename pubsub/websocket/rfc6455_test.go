package websocket

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/millrace/millrace/pubsub"
)

// echo sends every message back. All else is the edge's own session, and the
// transport, its reader and its writer, are those of the edge.
type echo struct{ *pubsub.Session }

func (e echo) HandleLine(line []byte)   { e.QueueControl(pubsub.Text, bytes.Clone(line)) }
func (e echo) HandleFrame(frame []byte) { e.QueueControl(pubsub.Binary, bytes.Clone(frame)) }
func (echo) ReadLimit() int             { return 32 << 20 } // cases send 16 MiB

// rfcCase is a case of the Autobahn test suite, by its number there: what a client
// sends, and what it gets back. An end that begins with "close" is compared as far
// as it goes.
type rfcCase struct {
	number string
	send   [][]byte
	want   []string
}

// TestRFC6455 is sections 1 to 7 and 10 of the Autobahn test suite in short, without
// the suite: scripts/soak-rfc6455.sh runs all of it.
func TestRFC6455(t *testing.T) {
	for _, c := range rfcCases() {
		t.Run(c.number, func(t *testing.T) {
			whole := slices.Concat(c.send...)
			pieces := [][][]byte{{whole}, c.send}
			if len(whole) < 2000 {
				pieces = append(pieces, slices.Collect(slices.Chunk(whole, 1)))
			} else {
				pieces = append(pieces, slices.Collect(slices.Chunk(whole, 997)))
			}
			for _, p := range pieces {
				echoed(t, p, c.want)
			}
		})
	}
}

// echoed sends pieces, and compares what comes back until the end of the connection,
// or until nothing more comes.
func echoed(t *testing.T, pieces [][]byte, want []string) {
	t.Helper()
	serveWith(t, setup{echo: true}, func(p *peer) {
		p.send(pieces...)
		for _, w := range want {
			if got := p.read(); got != w && !(strings.HasPrefix(w, "close 1") && strings.HasPrefix(got, w)) {
				t.Errorf("in %d pieces: got %.100q, want %.100q", len(pieces), got, w)
			}
		}
	})
}

func binaryMessage(s string) []byte { return frame(finBit|opBinary, []byte(s)) }
func ping(s string) []byte          { return frame(finBit|opPing, []byte(s)) }
func pong(s string) []byte          { return frame(finBit|opPong, []byte(s)) }

func closing(code uint16, reason string) []byte {
	return frame(finBit|opClose, append(binary.BigEndian.AppendUint16(nil, code), reason...))
}

// fragments is a message of these parts, with frames between them.
func fragments(opcode byte, between [][]byte, parts ...string) (frames [][]byte) {
	for i, part := range parts {
		first := opcode
		if i > 0 {
			frames = append(frames, between...)
			first = opContinuation
		}
		if i == len(parts)-1 {
			first |= finBit
		}
		frames = append(frames, frame(first, []byte(part)))
	}
	return frames
}

func rfcCases() (cases []rfcCase) {
	add := func(number string, send [][]byte, want ...string) {
		cases = append(cases, rfcCase{number, send, want})
	}
	one := func(f ...[]byte) [][]byte { return f }
	const protocolError, invalid = "close 1002 ", "close 1007 "

	for i, n := range []int{0, 125, 126, 127, 128, 65535, 65536} {
		s := strings.Repeat("*", n)
		add(fmt.Sprintf("1.1.%d", i+1), one(text(s)), "text "+s)
		s = strings.Repeat("\xfe", n)
		add(fmt.Sprintf("1.2.%d", i+1), one(binaryMessage(s)), "binary "+s)
	}

	add("2.1", one(ping("")), "pong ")
	add("2.2", one(ping("Hello, world!")), "pong Hello, world!")
	add("2.3", one(ping("\x00\xff\xfe\xfd\xfc\xfb\x00\xff")), "pong \x00\xff\xfe\xfd\xfc\xfb\x00\xff")
	add("2.4 and 2.6", one(ping(strings.Repeat("\xfe", 125))), "pong "+strings.Repeat("\xfe", 125))
	add("2.5", one(ping(strings.Repeat("\xfe", 126))), protocolError)
	add("2.7", one(pong(""), closing(1000, "")), "close 1000 ", "EOF")
	add("2.8", one(pong("unsolicited pong payload"), closing(1000, "")), "close 1000 ", "EOF")
	add("2.9", one(pong("unsolicited pong payload"), ping("ping payload")), "pong ping payload")
	var pings [][]byte
	var pongs []string
	for i := range 10 {
		pings, pongs = append(pings, ping(fmt.Sprint("payload-", i))), append(pongs, fmt.Sprint("pong payload-", i))
	}
	add("2.10 and 2.11", pings, pongs...)

	hello := text("Hello, world!")
	add("3.1", one(frame(finBit|0x10|opText, []byte("Hello"))), protocolError)
	add("3.2 to 3.4", one(hello, frame(finBit|0x20|opText, []byte("Hello")), ping("")), "text Hello, world!", protocolError)
	add("3.5", one(frame(finBit|0x50|opBinary, []byte("Hello"))), protocolError)
	add("3.6", one(frame(finBit|0x60|opPing, []byte("Hello"))), protocolError)
	add("3.7", one(frame(finBit|0x70|opClose, nil)), protocolError)

	for i := range byte(5) {
		add(fmt.Sprintf("4.1.%d", i+1), one(hello, frame(finBit|3+i, []byte("Hello")), ping("")), "text Hello, world!", protocolError)
		add(fmt.Sprintf("4.2.%d", i+1), one(hello, frame(finBit|11+i, []byte("Hello")), ping("")), "text Hello, world!", protocolError)
	}

	add("5.1", one(frame(opPing, []byte("fragment1")), frame(finBit|opContinuation, []byte("fragment2"))), protocolError)
	add("5.2", one(frame(opPong, []byte("fragment1")), frame(finBit|opContinuation, []byte("fragment2"))), protocolError)
	add("5.3 to 5.5", fragments(opText, nil, "fragment1", "fragment2"), "text fragment1fragment2")
	add("5.6 to 5.8", fragments(opText, one(ping("ping payload")), "fragment1", "fragment2"), "pong ping payload", "text fragment1fragment2")
	add("5.9 to 5.11", one(frame(finBit|opContinuation, []byte("non-continuation")), hello), protocolError)
	add("5.12 to 5.14", one(frame(opContinuation, []byte("non-continuation")), hello), protocolError)
	add("5.15", append(fragments(opText, nil, "fragment1", "fragment2"), frame(opContinuation, []byte("fragment3")), text("fragment4")),
		"text fragment1fragment2", protocolError)
	add("5.16", one(frame(opContinuation, []byte("fragment1")), frame(opText, []byte("fragment2")), frame(finBit|opContinuation, []byte("fragment3"))), protocolError)
	add("5.17", one(frame(finBit|opContinuation, []byte("fragment1")), frame(opText, []byte("fragment2")), frame(finBit|opContinuation, []byte("fragment3"))), protocolError)
	add("5.18", one(frame(opText, []byte("fragment1")), text("fragment2")), protocolError)
	add("5.19 and 5.20", fragments(opText, one(ping("pongme")), "fragment1", "fragment2", "fragment3"), "pong pongme", "pong pongme", "text fragment1fragment2fragment3")

	add("6.1.1", one(text("")), "text ")
	add("6.1.2", fragments(opText, nil, "", "", ""), "text ")
	add("6.1.3", fragments(opText, nil, "", "middle frame payload", ""), "text middle frame payload")
	const greek = "Hello-\u00b5@\u00df\u00f6\u00e4\u00fc\u00e0\u00e1-UTF-8!!"
	add("6.2.1", one(text(greek)), "text "+greek)
	add("6.2.2", fragments(opText, nil, greek[:12], greek[12:]), "text "+greek)
	add("6.2.3 and 6.2.4", fragments(opText, nil, strings.Split(greek, "")...), "text "+greek)
	broken := "\xce\xba\xe1\xbd\xb9\xcf\x83\xce\xbc\xce\xb5\xed\xa0\x80\x65\x64\x69\x74\x65\x64"
	add("6.3.1", one(text(broken)), invalid)
	add("6.3.2", fragments(opText, nil, bytesOf(broken)...), invalid)
	large := "\xce\xba\xe1\xbd\xb9\xcf\x83\xce\xbc\xce\xb5\xf4\x90\x80\x80\x65\x64\x69\x74\x65\x64"
	add("6.4.1 and 6.4.2", fragments(opText, nil, large[:11], large[11:13], large[13:])[:2], invalid) // before the third
	add("6.4.3 and 6.4.4", one(text(large)[:6+13]), invalid)                                          // before its end
	for i, s := range utf8Sequences {
		want := "text " + s
		if !utf8.ValidString(s) {
			want = invalid
		}
		add(fmt.Sprintf("6.5 to 6.23: %d", i), one(text(s)), want)
		add(fmt.Sprintf("6.5 to 6.23, in fragments: %d", i), fragments(opText, nil, bytesOf(s)...), want)
	}

	add("7.1.1", one(hello, closing(1000, "")), "text Hello, world!", "close 1000 ", "EOF")
	add("7.1.2", one(closing(1000, ""), closing(1000, "")), "close 1000 ", "EOF")
	add("7.1.3", one(closing(1000, ""), ping("")), "close 1000 ", "EOF")
	add("7.1.4", one(closing(1000, ""), hello), "close 1000 ", "EOF")
	add("7.1.5", one(frame(opText, []byte("fragment1")), closing(1000, ""), frame(finBit|opContinuation, []byte("fragment2"))), "close 1000 ", "EOF")
	add("7.3.1", one(frame(finBit|opClose, nil)), "close", "EOF")
	add("7.3.2", one(frame(finBit|opClose, []byte("a"))), protocolError, "EOF")
	add("7.3.3", one(closing(1000, "")), "close 1000 ", "EOF")
	add("7.3.4", one(closing(1000, "Hello World!")), "close 1000 ", "EOF")
	add("7.3.5", one(closing(1000, strings.Repeat("*", 123))), "close 1000 ", "EOF")
	add("7.3.6", one(closing(1000, strings.Repeat("*", 124))), protocolError)
	add("7.5.1", one(closing(1000, broken)), invalid, "EOF")
	for i, code := range []uint16{1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999} {
		add(fmt.Sprintf("7.7.%d", i+1), one(closing(code, "")), fmt.Sprintf("close %d ", code), "EOF")
	}
	for i, code := range []uint16{0, 999, 1004, 1005, 1006, 1016, 1100, 2000, 2999} {
		add(fmt.Sprintf("7.9.%d", i+1), one(closing(code, "")), protocolError, "EOF")
	}
	add("7.13.1", one(closing(5000, "")), protocolError, "EOF")

	s := strings.Repeat("*", 65536)
	var parts []string
	for part := range slices.Chunk([]byte(s), 1300) {
		parts = append(parts, string(part))
	}
	add("10.1.1", fragments(opText, nil, parts...), "text "+s)
	return cases
}

func bytesOf(s string) (parts []string) {
	for i := range len(s) {
		parts = append(parts, s[i:i+1])
	}
	return parts
}

// utf8Sequences are of Markus Kuhn's decoder test, as in the suite.
var utf8Sequences = []string{
	"hello$world", "hello\u00a2world", "hello\u20acworld", "hello\U00024b62world",
	"\xce", "\xce\xba\xe1", "\xce\xba\xe1\xbd", "\xce\xba\xe1\xbd\xb9",
	"\x00", "\u0080", "\u0800", "\U00010000", "\xf8\x88\x80\x80\x80", "\xfc\x84\x80\x80\x80\x80",
	"\x7f", "\u07ff", "\uffff", "\U0010ffff", "\xf7\xbf\xbf\xbf", "\xfb\xbf\xbf\xbf\xbf", "\xfd\xbf\xbf\xbf\xbf\xbf",
	"\ud7ff", "\ue000", "\ufffd", "\xf4\x90\x80\x80",
	"\x80", "\xbf", "\x80\xbf\x80", "\xc0 \xc1 ", "\xe0 \xe1 ", "\xf0 ", "\xf8 ", "\xfc ",
	"\xc0", "\xe0\x80", "\xf0\x80\x80", "\xdf", "\xef\xbf", "\xf7\xbf\xbf", "\xfe", "\xff",
	"\xc0\xaf", "\xe0\x80\xaf", "\xf0\x80\x80\xaf", "\xc1\xbf", "\xe0\x9f\xbf", "\xf0\x8f\xbf\xbf",
	"\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xed\xbf\xbf", "\xed\xa0\x80\xed\xb0\x80",
	"\ufffe", "\uffff", "\U0001fffe", "\U0010fffe",
}
