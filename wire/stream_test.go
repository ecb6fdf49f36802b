package wire

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// streamFields are what is found at the front of a byte stream.
type streamFields struct {
	Messages  []streamMessage `json:"messages"`
	RestHex   string          `json:"rest_hex"`  // behind the last whole message
	Announced uint64          `json:"announced"` // the length at the front of the rest, if it is complete
	Close     CloseCode       `json:"close"`     // of an edge with the default max_payload
}

type streamMessage struct {
	Kind string
	input
}

func (m *streamMessage) UnmarshalJSON(data []byte) error {
	var form struct {
		Kind string  `json:"kind"`
		Text *string `json:"text"`
		Hex  *string `json:"hex"`
	}
	if err := strict(data, &form); err != nil {
		return err
	}
	var err error
	m.Kind = form.Kind
	m.input, err = inputOf(form.Text, form.Hex)
	return err
}

// defaultReadLimit is max_payload + 4,096 bytes with the default max_payload.
const defaultReadLimit = 64<<10 + 4096

func TestMessages(t *testing.T) {
	seen := map[string]bool{}
	for _, v := range read[streamFields](t, "messages.json") {
		t.Run(v.Comment, func(t *testing.T) {
			want := v.Expect.Fields
			var c cutter
			c.write(v.Input)
			if len(c.messages) != len(want.Messages) {
				t.Fatalf("%d messages %q, want %d", len(c.messages), c.messages, len(want.Messages))
			}
			for i, m := range c.messages {
				kind := "line"
				if IsFrame(m) {
					kind = "frame"
				}
				if w := want.Messages[i]; !bytes.Equal(m, w.input) || kind != w.Kind {
					t.Errorf("message %d is the %s %q, want the %s %q", i, kind, m, w.Kind, w.input)
				}
				seen[kind] = true
			}
			if rest := unhex(t, want.RestHex); !bytes.Equal(c.buf, rest) {
				t.Errorf("rest %x, want %x", c.buf, rest)
			}
			start, end, ok := MessageBounds(c.buf)
			if length := end - start; length != want.Announced || !ok && length != 0 {
				t.Errorf("MessageBounds(rest) = %d, %d, %v, want the length %d", start, end, ok, want.Announced)
			}
			if tooBig := end-start > defaultReadLimit; tooBig != (want.Close == CloseTooBig) {
				t.Errorf("a length of %d closes with %d", end-start, want.Close)
			}
			seen["incomplete"] = seen["incomplete"] || len(c.buf) > 0
			seen["too big"] = seen["too big"] || want.Close != 0
			checkMessages(t, v.Input, nil)
			truncateMessages(t, v.Input, c.messages)
		})
	}
	for _, what := range []string{"line", "frame", "incomplete", "too big"} {
		if !seen[what] {
			t.Errorf("messages.json has no case of: %s", what)
		}
	}
}

// cutter cuts a byte stream into messages as its bytes arrive.
type cutter struct {
	buf      []byte // what is no whole message yet
	messages [][]byte
}

func (c *cutter) write(chunk []byte) {
	c.buf = append(c.buf, chunk...)
	for {
		start, end, ok := MessageBounds(c.buf)
		if !ok || end > uint64(len(c.buf)) {
			return
		}
		c.messages = append(c.messages, bytes.Clone(c.buf[start:end]))
		c.buf = c.buf[end:]
	}
}

// checkMessages cuts the stream as it arrives in chunks of these sizes; the last
// one repeats (none: one byte each). It compares the messages with those
// that the definition, in other words, finds in the whole, and encodes them again.
func checkMessages(t *testing.T, stream, sizes []byte) {
	t.Helper()
	var c cutter
	size := 1
	for rest := stream; len(rest) > 0; {
		if len(sizes) > 0 {
			size, sizes = 1+int(sizes[0]), sizes[1:]
		}
		n := min(size, len(rest))
		c.write(rest[:n])
		rest = rest[n:]
	}

	var want [][]byte
	for r := bytes.NewReader(stream); ; {
		var length uint32
		if binary.Read(r, binary.BigEndian, &length) != nil || int64(length) > int64(r.Len()) {
			break
		}
		m := make([]byte, length)
		if _, err := io.ReadFull(r, m); err != nil {
			t.Fatal(err)
		}
		want = append(want, m)
	}
	if !reflect.DeepEqual(c.messages, want) {
		t.Errorf("%x in chunks gives %x, want %x", stream, c.messages, want)
	}

	var again []byte
	total := 0
	for _, m := range c.messages {
		again = AppendMessage(again, m)
		total += MessageWireLen(m)
	}
	if len(again) != total {
		t.Errorf("MessageWireLen says %d bytes, the stream has %d", total, len(again))
	}
	if again = append(again, c.buf...); !bytes.Equal(again, stream) {
		t.Errorf("%x encodes again to %x", stream, again)
	}
}

// truncateMessages checks that a stream that ends early has the messages that
// are whole by then, and no other.
func truncateMessages(t *testing.T, stream []byte, messages [][]byte) {
	t.Helper()
	whole, next := 0, 0 // messages[:whole] take next bytes
	for n := range len(stream) {
		for whole < len(messages) && next+MessageWireLen(messages[whole]) <= n {
			next += MessageWireLen(messages[whole])
			whole++
		}
		var c cutter
		c.write(stream[:n])
		if len(c.messages) != whole || !bytes.Equal(c.buf, stream[next:n]) {
			t.Errorf("the first %d bytes have %d messages and the rest %x, want %d and %x",
				n, len(c.messages), c.buf, whole, stream[next:n])
		}
	}
}

func TestMessageSize(t *testing.T) {
	for _, c := range []struct {
		b          string
		start, end uint64
		ok         bool
	}{
		{"", 0, 0, false},
		{"\x00\x00\x00", 0, 0, false},
		{"\xff\xff\xff", 0, 0, false},
		{"\x00\x00\x00\x00", 4, 4, true},
		{"\x00\x00\x00\x04", 4, 8, true},
		{"\x00\x00\x00\x04PINGPONG", 4, 8, true},
		{"\x01\x02\x03\x04", 4, 0x01020304 + 4, true},
		{"\xff\xff\xff\xff", 4, 1<<32 + 3, true},
	} {
		if start, end, ok := MessageBounds([]byte(c.b)); start != c.start || end != c.end || ok != c.ok {
			t.Errorf("MessageBounds(%q) = %d, %d, %v, want %d, %d, %v", c.b, start, end, ok, c.start, c.end, c.ok)
		}
	}
}

func TestAppendMessage(t *testing.T) {
	for message, want := range map[string]string{
		"":                       "x\x00\x00\x00\x00",
		"PING":                   "x\x00\x00\x00\x04PING",
		strings.Repeat("a", 258): "x\x00\x00\x01\x02" + strings.Repeat("a", 258),
	} {
		got := AppendMessage([]byte("x"), []byte(message))
		if string(got) != want {
			t.Errorf("message %q is carried as %q, want %q", message, got, want)
		}
		if n := MessageWireLen([]byte(message)); n != len(got)-1 {
			t.Errorf("MessageWireLen(%q) = %d, want %d", message, n, len(got)-1)
		}
	}
}

func TestIsFrame(t *testing.T) {
	if IsFrame(nil) {
		t.Error("an empty message is a frame")
	}
	for c := range 256 {
		if got := IsFrame([]byte{byte(c), 'x'}); got != (c < 32) {
			t.Errorf("a message that starts with %#02x: %v", c, got)
		}
	}
}

// The first byte tells what every codec of this package makes apart.
func TestIsFrameTellsCodecsApart(t *testing.T) {
	beginsWith(t, publishCodec, true)
	beginsWith(t, deliverCodec, true)
	beginsWith(t, presenceCodec, true)
	beginsWith(t, lineCodec, false)
	beginsWith(t, serverLineCodec, false)
}

func beginsWith[E, T any](t *testing.T, c codec[E, T], frame bool) {
	t.Helper()
	for _, v := range load[E](t, c.file) {
		if v.Expect.Error == "" && IsFrame(v.Input) != frame {
			t.Errorf("IsFrame(%q) = %v", v.Input, !frame)
		}
	}
}

func TestMessagesAllocateNothing(t *testing.T) {
	message := make([]byte, 512)
	dst := make([]byte, 0, MessageWireLen(message))
	noAllocs(t, "append", func() { dst = AppendMessage(dst[:0], message) })
	if len(dst) != cap(dst) {
		t.Errorf("the message takes %d bytes, MessageWireLen says %d", len(dst), cap(dst))
	}
	noAllocs(t, "size", func() {
		if _, end, ok := MessageBounds(dst); !ok || end != uint64(len(dst)) || !IsFrame(dst[4:]) {
			t.Error("the message is not found")
		}
	})
}

func FuzzMessages(f *testing.F) {
	for i, v := range read[streamFields](f, "messages.json") {
		f.Add([]byte(v.Input), []byte{byte(i), 0, 2})
	}
	f.Fuzz(checkMessages)
}

type streamLineFields struct {
	Verb       string `json:"verb"`
	Marker     string `json:"marker"`
	Tenant     string `json:"tenant"`
	Pattern    string `json:"pattern"`
	PatternHex string `json:"pattern_hex"`
}

var streamLineCodec = codec[streamLineFields, Line]{
	file: "stream_lines.json", broken: ErrBadRequest, decode: ParseUniStreamLine,
	fields: func(l Line) streamLineFields {
		f := streamLineFields{l.Verb.String(), "D", string(l.Tenant), string(l.Pattern), ""}
		if l.Own {
			f.Marker = "U"
		}
		if !utf8.ValidString(f.Pattern) {
			f.Pattern, f.PatternHex = "", hex.EncodeToString(l.Pattern)
		}
		return f
	},
	again: reencodeStreamLine,
}

func TestParseStreamLine(t *testing.T) { streamLineCodec.test(t) }

func encodeStreamLine(l Line) []byte {
	return AppendUniStreamLine(nil, l.Verb, l.Own, string(l.Tenant), string(l.Pattern))
}

// reencodeStreamLine checks that l encodes to the line b that it was parsed
// from, with \n at its end and with an empty tenant in words.
func reencodeStreamLine(t *testing.T, b []byte, l Line) {
	t.Helper()
	want := string(trimNewline(b)) + "\n"
	for _, marker := range []string{"U", "D"} {
		prefix := l.Verb.String() + ":" + marker + ":"
		if rest, ok := strings.CutPrefix(want, prefix+":"); ok {
			want = prefix + "~:" + rest
		}
	}
	if got := string(encodeStreamLine(l)); got != want {
		t.Errorf("%q encodes again to %q", b, got)
	}
}

// Cut short anywhere before its pattern, a line is broken; a shorter pattern is
// a pattern.
func TestParseStreamLineTruncated(t *testing.T) {
	for _, line := range []string{"SUB:U:paint.eu:chat.*", "UNSUB:D:t:a.#", "SUB:D::>", "SUB:U:U:a"} {
		whole, err := ParseUniStreamLine([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		pattern := len(line) - len(whole.Pattern)
		for n := range len(line) {
			got, err := ParseUniStreamLine([]byte(line[:n]))
			switch {
			case n < pattern:
				sameError(t, err, CodeBadRequest)
			case err != nil || string(got.Pattern) != line[pattern:n]:
				t.Errorf("%q gives the pattern %q, error %v", line[:n], got.Pattern, err)
			}
		}
	}
}

func TestParseStreamLineAliases(t *testing.T) {
	b := []byte("SUB:U:t:a\n")
	l, err := ParseUniStreamLine(b)
	if err != nil {
		t.Fatal(err)
	}
	b[6], b[8] = 'u', 'b'
	if string(l.Tenant) != "u" || string(l.Pattern) != "b" {
		t.Errorf("tenant %q and pattern %q are copies", l.Tenant, l.Pattern)
	}
}

func TestParseStreamLineErrorHidesToken(t *testing.T) {
	for _, line := range []string{"AUTH:AT_0123_4567\n", "SUB:AT_0123_4567:t:a\n"} {
		_, err := ParseUniStreamLine([]byte(line))
		if !errors.Is(err, ErrBadRequest) || strings.Contains(err.Error(), "0123") {
			t.Errorf("error %v", err)
		}
	}
}

func TestStreamLineAllocatesNothing(t *testing.T) {
	for _, line := range []string{"SUB:U:paint.eu:chat.*\n", "UNSUB:D::a\r\n", "SUB:t:a\n", "PING", ""} {
		b := []byte(line)
		noAllocs(t, line, func() { _, _ = ParseUniStreamLine(b) })
	}
	dst := make([]byte, 0, MaxLine)
	noAllocs(t, "append", func() {
		dst = AppendUniStreamLine(dst[:0], VerbSub, true, "paint.eu", "chat.*")
		dst = AppendUniStreamLine(dst, VerbUnsub, false, "paint.eu", "chat.*")
	})
}

func TestAppendStreamLine(t *testing.T) {
	for want, got := range map[string][]byte{
		"x SUB:U:t:a.#\n": AppendUniStreamLine([]byte("x "), VerbSub, true, "t", "a.#"),
		"SUB:D:t:a.#\n":   AppendUniStreamLine(nil, VerbSub, false, "t", "a.#"),
		"UNSUB:U:~:>\n":   AppendUniStreamLine(nil, VerbUnsub, true, "~", ">"),
		"UNSUB:D:~:>\n":   AppendUniStreamLine(nil, VerbUnsub, false, "~", ">"),
	} {
		if string(got) != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	longest := AppendUniStreamLine(nil, VerbUnsub, true, strings.Repeat("t", MaxTenant), strings.Repeat("a", MaxPattern))
	if _, err := ParseUniStreamLine(longest); err != nil {
		t.Errorf("the longest names: %v", err)
	}
}

func FuzzParseStreamLine(f *testing.F) {
	c := streamLineCodec
	c.again = func(t *testing.T, b []byte, l Line) {
		reencodeStreamLine(t, b, l)
		if bytes.HasSuffix(l.Pattern, []byte("\r")) {
			return // the end of the pattern now reads as the end of the line
		}
		encoded := encodeStreamLine(l)
		if len(encoded) > MaxLine+len("\n") {
			return // an empty tenant in words made it one byte too long
		}
		if again, err := ParseUniStreamLine(encoded); err != nil || !reflect.DeepEqual(again, l) {
			t.Errorf("%q parses to %+v, its encoding to %+v, %v", b, l, again, err)
		}
	}
	c.fuzz(f)
}
