package loadgen

import (
	"bytes"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"testing"

	"github.com/millrace/millrace/wire"
)

// A canned connection gives what a server sent, in pieces, and keeps what is
// written to it.
type canned struct {
	net.Conn
	sent    []byte
	piece   int
	written bytes.Buffer
}

func (c *canned) Read(b []byte) (int, error) {
	if len(c.sent) == 0 {
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), c.piece)], c.sent)
	c.sent = c.sent[n:]
	return n, nil
}

func (c *canned) Write(b []byte) (int, error) { return c.written.Write(b) }

// serverFrame is a frame as a server sends it, RFC 6455 section 5.2.
func serverFrame(head byte, body []byte) []byte {
	switch n := len(body); {
	case n < 126:
		return append([]byte{head, byte(n)}, body...)
	case n < 1<<16:
		return append(binary.BigEndian.AppendUint16([]byte{head, 126}, uint16(n)), body...)
	default:
		return append(binary.BigEndian.AppendUint64([]byte{head, 127}, uint64(n)), body...)
	}
}

func deliverFrame(payload string) []byte {
	return wire.AppendDeliver(nil, []byte("t"), []byte("bench.1"), []byte(payload), []string{"bench.1", "#"})
}

// Messages of all sizes come out of reads of any size, among everything else
// that a server may send.
func TestWebSocketReads(t *testing.T) {
	var (
		stream []byte
		want   []string
	)
	for _, n := range []int{0, 1, 80, 90, 128, 5000, 40_000, 70_000} {
		payload := strings.Repeat("p", n)
		want = append(want, payload)
		stream = append(stream, serverFrame(0x82, deliverFrame(payload))...)
	}
	whole := deliverFrame("in three frames")
	want = append(want, "in three frames", "last")
	for _, f := range [][]byte{
		serverFrame(0x02, whole[:3]), serverFrame(0x89, []byte("ping")), serverFrame(0x00, nil), serverFrame(0x80, whole[3:]),
		serverFrame(0x8a, nil), serverFrame(0x81, []byte("PONG")), serverFrame(0x82, deliverFrame("last")),
	} {
		stream = append(stream, f...)
	}
	for _, piece := range []int{1, 2, 7, 1000, 4096, 1 << 20} {
		conn := &canned{sent: stream, piece: piece}
		c := &edgeConn{link: &webSocket{conn: conn}, tenant: []byte("t")}
		var got []string
		var err error
		for err == nil {
			err = c.Receive(func(payload []byte) { got = append(got, string(payload)) })
		}
		if len(got) != len(want) {
			t.Fatalf("in pieces of %d: %d messages, want %d (%v)", piece, len(got), len(want), err)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("in pieces of %d: message %d has %d bytes, want %d", piece, i, len(got[i]), len(want[i]))
			}
		}
		if pong := unmask(t, conn.written.Bytes()); string(pong) != "\x8aping" {
			t.Errorf("in pieces of %d: the ping is answered by %q", piece, pong)
		}
	}
}

// Over TCP, the loop of a connection brings the same.
func TestWebSocketLoops(t *testing.T) {
	client, server := tcpPair(t)
	var (
		stream []byte
		sizes  = []int{0, 1, 128, 40_000, 70_000, 128, 300_000, 5}
	)
	for range 50 {
		for _, n := range sizes {
			stream = append(stream, serverFrame(0x82, deliverFrame(strings.Repeat("p", n)))...)
		}
	}
	stream = append(stream, serverFrame(0x88, []byte("\x11\x33revoked"))...)
	written := make(chan error, 1)
	go func() { // ends when the client has read all, or is closed
		for rest := stream[100:]; len(rest) > 0; {
			n, err := server.Write(rest[:min(len(rest), 1+rand.IntN(100_000))])
			if err != nil {
				written <- err
				return
			}
			rest = rest[n:]
		}
		written <- nil
	}()
	w := &webSocket{conn: client}
	w.inbox.buf, w.inbox.end = stream[:100:100], 100 // came with the handshake
	c := &edgeConn{link: w, tenant: []byte("t")}
	messages, reads := 0, 0
	err := c.Loop(func(payload []byte) {
		if want := sizes[messages%len(sizes)]; len(payload) != want {
			t.Errorf("message %d has %d bytes, want %d", messages, len(payload), want)
		}
		messages++
	}, func() { reads++ })
	if err == nil || !strings.Contains(err.Error(), "4403") || messages != 50*len(sizes) || reads < 2 {
		t.Errorf("%d messages in %d reads, then %v", messages, reads, err)
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
}

// unmask returns the first byte of the only frame in b, and its body.
func unmask(t *testing.T, b []byte) []byte {
	t.Helper()
	if len(b) < 6 || b[1]&0x80 == 0 {
		t.Fatalf("%x is no masked frame", b)
	}
	n, at := int(b[1]&0x7f), 2
	switch n {
	case 126:
		n, at = int(binary.BigEndian.Uint16(b[2:])), 4
	case 127:
		n, at = int(binary.BigEndian.Uint64(b[2:])), 10
	}
	mask, body := b[at:at+4], b[at+4:]
	if len(body) != n {
		t.Fatalf("a frame of %d bytes has %d", n, len(body))
	}
	out := []byte{b[0]}
	for i := range body {
		out = append(out, body[i]^mask[i%4])
	}
	return out
}

// What ends a connection says why.
func TestWebSocketEnds(t *testing.T) {
	deliver := deliverFrame("payload")
	for name, tt := range map[string]struct {
		sent []byte
		want string
	}{
		"end":              {nil, "the server ended the connection"},
		"close":            {serverFrame(0x88, []byte("\x11\x33revoked")), `the edge closed the connection: 4403 "revoked"`},
		"close, too big":   {serverFrame(0x88, []byte("\x03\xf1")), "above the edge's max_payload"},
		"close, no code":   {serverFrame(0x88, nil), "the edge closed the connection"},
		"drain":            {serverFrame(0x81, []byte("RECONNECT")), "the edge is draining"},
		"too large":        {serverFrame(0x81, []byte("ERR:payload_too_large:PUB:t:bench.1")), "over the edge's max_payload (ERR:payload_too_large:PUB:t:bench.1)"},
		"dropped":          {serverFrame(0x81, []byte("ERR:slow_consumer:12")), "dropped 12 deliveries"},
		"not allowed":      {serverFrame(0x81, []byte("ERR:permission_denied:PUB:t:bench.1")), "needs a grant for the tenant \"t\""},
		"another error":    {serverFrame(0x81, []byte("ERR:token_revoked")), "the edge answered ERR:token_revoked"},
		"no line":          {serverFrame(0x81, []byte("hello")), "a line that this client does not know"},
		"masked":           {[]byte{0x82, 0x80, 0, 0, 0, 0}, "masked"},
		"compressed":       {serverFrame(0xc2, deliver), "extension"},
		"unknown opcode":   {serverFrame(0x83, nil), "opcode 3"},
		"huge":             {[]byte{0x82, 127, 0, 0, 0, 1, 0, 0, 0, 0}, "more than"},
		"empty frame":      {serverFrame(0x82, nil), errFrame.Error()},
		"no deliver frame": {serverFrame(0x82, []byte{0, 1, 2}), errFrame.Error()},
		"short tenant":     {serverFrame(0x82, deliver[:2]), errFrame.Error()},
		"short channel":    {serverFrame(0x82, deliver[:9]), errFrame.Error()},
		"short length":     {serverFrame(0x82, deliver[:14]), errFrame.Error()},
		"short payload":    {serverFrame(0x82, deliver[:20]), errFrame.Error()},
	} {
		c := &edgeConn{link: &webSocket{conn: &canned{sent: tt.sent, piece: 1 << 20}}, tenant: []byte("t")}
		err := c.Receive(func([]byte) { t.Errorf("%s: a message", name) })
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", name, err, tt.want)
		}
	}
}
