package webtransport

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/memory"
	"github.com/millrace/millrace/wire"
)

// chunks reads a stream in pieces of these sizes, the last of which repeats
// (none: one byte each), and then meets its end.
type chunks struct {
	rest  []byte
	sizes []byte
	size  int
	end   error
	reads int
}

func (c *chunks) Read(b []byte) (int, error) {
	c.reads++
	if len(c.rest) == 0 {
		return 0, c.end
	}
	if len(c.sizes) > 0 {
		c.size, c.sizes = int(c.sizes[0]), c.sizes[1:]
	}
	n := min(1+c.size, len(b), len(c.rest))
	copy(b, c.rest[:n])
	c.rest = c.rest[n:]
	return n, nil
}

// A length costs the client four bytes: it must not cost the edge more.
func TestAnnouncedMessagesCostNothing(t *testing.T) {
	announced := binary.BigEndian.AppendUint32(nil, 1<<20)
	m := messages{stream: &chunks{rest: announced, size: 3, end: io.EOF}}
	if _, err := m.next(1 << 20); err != io.EOF {
		t.Fatal(err)
	}
	if n := cap(m.buffer); n > idleBuffer {
		t.Errorf("an announced message takes %d bytes", n)
	}
	for _, arrived := range []int{600, 3000, 100_000} {
		m := messages{stream: &chunks{rest: append(bytes.Clone(announced), make([]byte, arrived)...), size: 255, end: io.EOF}}
		if _, err := m.next(1 << 20); err != io.EOF {
			t.Fatal(err)
		}
		if n := cap(m.buffer); n > 4*arrived {
			t.Errorf("%d bytes of a message take %d", arrived, n)
		}
	}
}

// What a large message needed is let go of before the next one is waited for.
func TestLargeBuffersAreLetGo(t *testing.T) {
	for _, follows := range []int{0, 1, 100} {
		stream := wire.AppendMessage(nil, make([]byte, 60_000))
		stream = append(stream, wire.AppendMessage(nil, make([]byte, 200))[:follows]...)
		m := messages{stream: bytes.NewReader(stream)}
		if _, err := m.next(1 << 20); err != nil {
			t.Fatal(err)
		}
		if _, err := m.next(1 << 20); err != io.EOF {
			t.Fatal(err)
		}
		if n := cap(m.buffer); n > idleBuffer {
			t.Errorf("%d bytes behind a large message are waiting in %d", follows, n)
		}
	}
}

// Small messages that arrive together take one read.
func TestMessagesShareReads(t *testing.T) {
	stream := &chunks{rest: bytes.Repeat(wire.AppendMessage(nil, []byte("PING")), 60), size: 255, end: io.EOF}
	m := messages{stream: stream}
	for range 60 {
		if _, err := m.next(100); err != nil {
			t.Fatal(err)
		}
	}
	if stream.reads > 4 {
		t.Errorf("%d reads", stream.reads)
	}
}

func TestMessagesPassErrorsOn(t *testing.T) {
	broken := errors.New("broken")
	for _, n := range []int{0, 3, 4, 7} {
		whole := wire.AppendMessage(nil, []byte("PING"))
		m := messages{stream: io.MultiReader(bytes.NewReader(append(whole, whole[:n]...)), iotest.ErrReader(broken))}
		if got, err := m.next(100); string(got) != "PING" || err != nil {
			t.Fatalf("%q, %v", got, err)
		}
		if got, err := m.next(100); err != broken {
			t.Errorf("%q, %v", got, err)
		}
	}
}

func FuzzMessages(f *testing.F) {
	f.Add([]byte{1, 0, 255, 50}, []byte{0, 0, 8}, []byte{3})
	f.Add([]byte{0, 1, 63, 64, 0, 75}, []byte{0, 0, 0, 2, 1, 2}, []byte{})
	f.Add([]byte{250}, []byte{0, 0, 8, 1, 0}, []byte{255, 1})
	f.Add([]byte{}, []byte("\x00\x00\x00\x07SUB:t:#"), []byte{})
	for _, announced := range []uint32{2048, 2049, 1<<32 - 1} { // the limit, and more
		f.Add([]byte{}, binary.BigEndian.AppendUint32(nil, announced), []byte{})
	}
	f.Fuzz(func(t *testing.T, lengths, tail, sizes []byte) {
		const limit = 2048
		var data []byte
		for _, n := range lengths {
			data = wire.AppendMessage(data, bytes.Repeat([]byte{n}, 8*int(n)))
		}
		data = append(data, tail...)
		m := messages{stream: &chunks{rest: data, sizes: sizes, end: io.EOF}}
		for rest := data; ; {
			got, err := m.next(limit)
			if n := cap(m.buffer); n > limit+idleBuffer {
				t.Fatalf("the buffer has %d bytes", n)
			}
			// The one-shot cut of the same bytes.
			start, end, ok := wire.MessageBounds(rest)
			switch {
			case ok && end-start > limit:
				if err != errTooBig {
					t.Fatalf("a length of %d gives %x, %v", end-start, got, err)
				}
				return
			case !ok || end > uint64(len(rest)):
				if err != io.EOF {
					t.Fatalf("the rest %x gives %x, %v", rest, got, err)
				}
				return
			case err != nil || !bytes.Equal(got, rest[start:end]):
				t.Fatalf("got %x, %v, want %x", got, err, rest[start:end])
			}
			rest = rest[end:]
		}
	})
}

// cutLines reads all lines of a stream, as "line", or "broken" for one that is
// none, and counts the bytes that it was given.
func cutLines(t *testing.T, stream io.Reader, end error) (found []string, size int) {
	t.Helper()
	l := lines{stream: stream, buffer: make([]byte, 0, longestLine)}
	for {
		text, what, err := l.next()
		size += len(text)
		switch {
		case err != nil:
			if err != end {
				t.Fatalf("ends with %v, want %v", err, end)
			}
			return found, size
		case what == wholeLine:
			found = append(found, string(text))
		case what == brokenLine:
			found = append(found, "broken")
		}
		if cap(l.buffer) != longestLine {
			t.Fatalf("the buffer has %d bytes", cap(l.buffer))
		}
	}
}

// splitLines is what cutLines has to find, in other words.
func splitLines(stream []byte) (found []string) {
	for line := range bytes.Lines(stream) {
		if len(line) > longestLine || !bytes.HasSuffix(line, []byte("\n")) {
			line = []byte("broken")
		}
		found = append(found, string(line))
	}
	return found
}

// A line that a reset cuts off is nothing, but what came of it was read.
func TestLinesOfABrokenStream(t *testing.T) {
	broken := errors.New("broken")
	for _, rest := range []string{"", "SUB:", strings.Repeat("x", 3000)} {
		got, size := cutLines(t, io.MultiReader(strings.NewReader("a\n"+rest), iotest.ErrReader(broken)), broken)
		want := []string{"a\n"}
		if len(rest) > longestLine {
			want = append(want, "broken")
		}
		if !slices.Equal(got, want) || size != len(rest)+2 {
			t.Errorf("%.20q: got %.20q and %d bytes", rest, got, size)
		}
	}
}

// All that comes on a stream counts against the cap, lines or not, and so does
// the stream.
func TestLinesCost(t *testing.T) {
	long := strings.Repeat("x", 3*longestLine) + "\n"
	for name, c := range map[string]struct {
		text string
		cost int
	}{
		"nothing":       {"", 32},
		"lines":         {"SUB:D:t:a\nSUB:D:t:a\n", 3*32 + 20},
		"a long line":   {long, 5*32 + len(long)},
		"what is reset": {"SUB:D:", 32 + 6},
	} {
		synctest.Test(t, func(t *testing.T) {
			limits := pubsub.DefaultLimits()
			limits.DefaultIngressKB = 1
			hub := pubsub.NewHub(memory.New(), limits, zap.NewNop())
			s, err := hub.Admit(pubsub.Identity{TokenID: "a", ExpiresAt: time.Now().Add(time.Hour), Rights: allRights{}}, pubsub.Client{})
			must(t, err)
			conn := &connection{hub: hub, log: zap.NewNop()}
			conn.admit(Admission{Session: s})
			start := time.Now()
			for size := 0; size < 5<<10; size += c.cost {
				conn.readLines(io.MultiReader(strings.NewReader(c.text), iotest.ErrReader(errors.New("reset"))))
				s.HandleLine([]byte("SUB:t:a")) // not broken
			}
			conn.ready()
			if took := time.Since(start); took < 4*time.Second || took > 8*time.Second {
				t.Errorf("%s: took %v", name, took)
			}
			s.Detach()
			must(t, hub.Close())
		})
	}
}

func FuzzLines(f *testing.F) {
	for _, text := range []string{ // with an L for the longest invalid line
		"SUB:U:t:a\nUNSUB:D:t:b\r\n", "LLL\nSUB:U:t:a\n", "Lxx\n\nL",
		"", "\n", "a\n", "a\r\nb\n\n", "a", "a\nb", "\n\n\nx", "L\r\nL\n", "L\rx\ny\n", "Lxx\ny\n", "Lxxx\ny\n", "Lxx", "L",
		"LLL\ny\n", "LL\nLL", "ééLéé\n",
	} {
		for _, sizes := range []string{"", "\x03", "\xff", "\xff\xff\x01"} {
			f.Add([]byte(text), []byte(sizes))
		}
	}
	f.Fuzz(func(t *testing.T, data, sizes []byte) {
		data = bytes.ReplaceAll(data, []byte("L"), bytes.Repeat([]byte("x"), wire.MaxLine)) // or it would hardly find long ones
		got, size := cutLines(t, &chunks{rest: data, sizes: sizes, end: io.EOF}, io.EOF)
		if want := splitLines(data); !slices.Equal(got, want) || size != len(data) {
			t.Errorf("got %q and %d bytes, want %q and %d", got, size, want, len(data))
		}
	})
}
