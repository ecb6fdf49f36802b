package webtransport

import (
	"encoding/binary"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/millrace/millrace/wire"
)

// kinded is the main stream of a client like fastpubsub-sdk.
type kinded struct{ *far }

// kindMessage is a message as that client writes it.
func kindMessage(kind byte, message string) []byte {
	b := binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(message)))
	return append(b, message...)
}

func (k kinded) send(kind byte, message string) {
	k.Helper()
	k.write(kindMessage(kind, message))
}

// expect compares messages, each with its kind.
func (k kinded) expect(want ...string) {
	k.Helper()
	for _, w := range want {
		_ = k.reader.SetReadDeadline(time.Now().Add(eventTimeout))
		kind := make([]byte, 1)
		if _, err := io.ReadFull(k.reader, kind); err != nil {
			k.Fatalf("got %q, want %q", describe(err), w)
		}
		if got := fmt.Sprintf("%d %s", kind[0], k.read()); got != w {
			k.Fatalf("got %.200q, want %.200q", got, w)
		}
	}
}

// TestKinds is a session of a client like fastpubsub-sdk, byte for byte.
func TestKinds(t *testing.T) {
	inBubble(t, setup{}, func(t *testing.T, e *edge) {
		c := e.connect("/serve")
		main := kinded{c.main}
		for _, b := range kindMessage(kindLine, "SUB:t:a.#") { // wherever it is cut
			main.write([]byte{b})
		}
		main.expect("1 OK:SUB:t:a.#")
		main.send(kindFrame, publish("a.b", []byte("12345")))
		main.expect("0 deliver a.b 5 [a.#]")
		main.send(kindLine, "PING")
		main.expect("1 PONG")
		main.send(kindFrame, "PING") // as in WebSocket
		main.send(kindLine, publish("a.b", nil))
		main.expect("1 ERR:bad_frame", "1 ERR:bad_request")
		e.publish("a.c", 60_000) // more than a write
		main.expect("0 deliver a.c 60000 [a.#]")

		// A stream of its own, whose UNSUB does not say so.
		main.send(kindLine, "SUB:t:own:U:0:0\n")
		own := c.own()
		main.expect("1 OK:SUB:t:own")
		own.expect("OK:SUB:t:own") // which the client skips
		e.publish("own", 3)
		own.expect("deliver own 3 [own]")
		main.send(kindLine, "UNSUB:t:own")
		main.expect("1 OK:UNSUB:t:own")
		own.expect("FIN")
		main.send(kindLine, "UNSUB:t:a.#")
		main.expect("1 OK:UNSUB:t:a.#")
		main.send(kindLine, "SUB:t:own")
		main.expect("1 OK:SUB:t:own")
		e.publish("a.b", 1)
		e.publish("own", 4)
		main.expect("0 deliver own 4 [own]")

		// One that it has begun and ended on a stream of its lines leaves no trace.
		c.lines("SUB:U:t:late\n")
		main.expect("1 OK:SUB:t:late")
		own = c.own()
		c.lines("UNSUB:U:t:late\n")
		main.expect("1 OK:UNSUB:t:late")
		own.expect("OK:SUB:t:late", "FIN")
		main.send(kindLine, "SUB:t:late")
		main.expect("1 OK:SUB:t:late")
		main.send(kindLine, "UNSUB:t:late")
		main.expect("1 OK:UNSUB:t:late")
		e.publish("late", 1)
		main.send(kindLine, "PING")
		main.expect("1 PONG")

		// What the edge cannot do is refused, not done otherwise.
		for _, line := range []string{"SUB:t:x:U:1:0", "SUB:t:x:U:0:8", "SUB:t:x:D", "SUB:t:x:D:8", "SUB:t:x:U"} {
			main.send(kindLine, line)
			main.expect("1 ERR:bad_pattern")
		}
		main.send(2, "PING")
		c.ends(wire.ClosePolicy)
	})
}

// A client that is known to send kinds may begin with a frame; others' first bytes are a
// length, whatever the limit is.
func TestKindsAreKnown(t *testing.T) {
	run(t, "by the address", setup{kinds: true}, func(t *testing.T, e *edge) {
		sub := e.connect("/serve")
		kinded{sub.main}.send(kindLine, "SUB:t:a")
		kinded{sub.main}.expect("1 OK:SUB:t:a")
		c := e.connect("/serve")
		kinded{c.main}.send(kindFrame, publish("a", []byte("x")))
		kinded{sub.main}.expect("0 deliver a 1 [a]")
	})
	run(t, "before authentication, too", setup{}, func(t *testing.T, e *edge) {
		c := e.connect("/await")
		kinded{c.main}.send(kindLine, "AUTH:good")
		kinded{c.main}.expect("1 OK:AUTH")
		c = e.connect("/await")
		kinded{c.main}.send(kindLine, "AUTH:bad")
		kinded{c.main}.expect("1 ERR:forbidden:region")
	})
	const largest = 16<<20 + 4096 // the limit with the highest max_payload
	if !startsWithKind([]byte{kindLine}, 1<<24-1) || startsWithKind([]byte{kindLine}, largest) || startsWithKind([]byte{0}, 1) {
		t.Error("the first byte of a length is taken for a kind, or a kind for a length")
	}
}
