package peer

import (
	"bytes"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/millrace/millrace/internal/loadgen"
)

// serverFrame is a frame as servers send it: without mask.
func serverFrame(op byte, content []byte) []byte {
	masked := appendFrame(nil, op, content)
	head := len(masked) - len(content) - 4
	plain := slices.Clone(masked[:head])
	plain[1] &^= 0x80
	return append(plain, content...)
}

// speak connects a driver's connection to what a server sends: stream, cut into
// reads of size bytes.
func speak(t *testing.T, stream []byte, size int) *socket {
	t.Helper()
	ours, theirs := net.Pipe()
	t.Cleanup(func() { ours.Close(); theirs.Close() })
	go func() { // ends with the stream or the pipe
		for part := range slices.Chunk(stream, size) {
			if _, err := theirs.Write(part); err != nil {
				return
			}
		}
		theirs.Close()
	}()
	return &socket{conn: ours, buf: make([]byte, 16)} // so that it has to grow
}

// TestDeliveriesInPieces sends deliveries in frames that are cut anywhere, in
// reads that are cut anywhere.
func TestDeliveriesInPieces(t *testing.T) {
	short := []string{"", "a", strings.Repeat("b", 124), strings.Repeat("c", 126), strings.Repeat("d", 300)}
	long := append(slices.Clone(short), strings.Repeat("e", 70_000))
	mqtt := func(payload string) string {
		return string(append(append(appendMQTTLength([]byte{mqttPublish}, 5+len(payload)), 0, 3, 'a', '.', 'b'), payload...))
	}
	protocols := []struct {
		name    string
		message func(payload string) string
		conn    func(s *socket) loadgen.Conn
		whole   bool // a message is one frame
	}{
		{"nats", func(p string) string { return fmt.Sprintf("MSG a.b 1 %d\r\n%s\r\n", len(p), p) },
			func(s *socket) loadgen.Conn { return &natsConn{socket: s} }, false},
		{"nats with reply", func(p string) string { return fmt.Sprintf("MSG a.b 1 _INBOX.x %d\r\n%s\r\n", len(p), p) },
			func(s *socket) loadgen.Conn { return &natsConn{socket: s} }, false},
		{"mqtt", mqtt, func(s *socket) loadgen.Conn { return &mqttConn{socket: s} }, false},
		{"floor", func(p string) string { return "xyz" + p }, func(s *socket) loadgen.Conn { return &floorConn{socket: s, skip: 3} }, true},
	}
	for _, p := range protocols {
		t.Run(p.name, func(t *testing.T) {
			for _, cut := range []int{1, 2, 3, 7, 1000, 1 << 20} { // bytes in a frame
				payloads, sizes := short, []int{1, 5, 4096} // bytes in a read
				if cut >= 1000 {
					payloads, sizes = long, []int{4096, 1 << 20}
				}
				var stream []byte
				add := func(content []byte) {
					if p.whole {
						stream = append(stream, serverFrame(opBinary, content)...)
						return
					}
					for part := range slices.Chunk(content, cut) {
						stream = append(stream, serverFrame(opBinary, part)...)
					}
				}
				for _, payload := range payloads {
					add([]byte(p.message(payload)))
				}
				for _, size := range sizes {
					var got []string
					conn := p.conn(speak(t, stream, size))
					for conn.Receive(func(payload []byte) { got = append(got, string(payload)) }) == nil {
					}
					if !slices.Equal(got, payloads) {
						t.Fatalf("frames of %d bytes, reads of %d: %d of %d messages came", cut, size, len(got), len(payloads))
					}
				}
			}
		})
	}
}

// TestBrokenStreams sends what no server should: an error, and no panic.
func TestBrokenStreams(t *testing.T) {
	for _, conn := range []func(s *socket) loadgen.Conn{
		func(s *socket) loadgen.Conn { return &natsConn{socket: s} },
		func(s *socket) loadgen.Conn { return &mqttConn{socket: s} },
		func(s *socket) loadgen.Conn { return &floorConn{socket: s, skip: 3} },
	} {
		for _, stream := range []string{
			"", "\x82", "\x88\x00", "\x82\x7f\xff\xff\xff\xff\xff\xff\xff\xff",
			string(serverFrame(opBinary, []byte("MSG a.b 1 x\r\n"))),
			string(serverFrame(opBinary, []byte("MSG a.b 1 99999999999999999999\r\n"))),
			string(serverFrame(opBinary, []byte("-ERR 'no'\r\n"))),
			string(serverFrame(opBinary, []byte{mqttPublish, 1, 0})),
			string(serverFrame(opBinary, []byte{mqttPublish, 3, 0, 9, 'a'})),
			string(serverFrame(opBinary, []byte{mqttPublish, 0xff, 0xff, 0xff, 0xff, 0xff})),
			string(serverFrame(opBinary, []byte{mqttDisconnect, 0})),
			string(serverFrame(opBinary, []byte("ab"))),
		} {
			c, err := conn(speak(t, []byte(stream), 1<<20)), error(nil)
			for err == nil { // at the latest, the end of the stream
				err = c.Receive(func([]byte) {})
			}
		}
	}
}

// TestPublishIsMasked looks at what a server reads: the mask undone, it is the
// publish.
func TestPublishIsMasked(t *testing.T) {
	for _, size := range []int{0, 1, 100, 200, 70_000} {
		payload := bytes.Repeat([]byte("p"), size)
		for name, want := range map[string]struct {
			conn loadgen.Conn
			wire string
		}{
			"nats":  {new(natsConn), fmt.Sprintf("PUB a.b %d\r\n%s\r\n", size, payload)},
			"mqtt":  {new(mqttConn), string(appendMQTTLength([]byte{mqttPublish}, 5+size)) + "\x00\x03a.b" + string(payload)},
			"floor": {new(floorConn), "P\x03a.b" + string(payload)},
		} {
			got := want.conn.AppendPublish([]byte("before"), "a.b", payload)
			if !bytes.HasPrefix(got, []byte("before")) {
				t.Fatalf("%s: what stood there is gone", name)
			}
			got = got[len("before"):]
			if got[0] != 0x80|opBinary || got[1]&0x80 == 0 {
				t.Fatalf("%s: head % x", name, got[:2])
			}
			head := len(got) - len(want.wire)
			mask, body := got[head-4:head], got[head:]
			for i := range body {
				body[i] ^= mask[i&3]
			}
			if string(body) != want.wire {
				t.Errorf("%s, %d bytes: %.60q, want %.60q", name, size, body, want.wire)
			}
		}
	}
}

// TestPings are answered with what they say.
func TestPings(t *testing.T) {
	ours, theirs := net.Pipe()
	defer ours.Close()
	defer theirs.Close()
	received := make(chan error, 1)
	c := &natsConn{socket: &socket{conn: ours, buf: make([]byte, 64)}}
	go func() { received <- c.Receive(func([]byte) {}) }()
	if _, err := theirs.Write(serverFrame(opPing, []byte("hi"))); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, 8)
	if _, err := theirs.Read(answer); err != nil {
		t.Fatal(err)
	}
	if answer[0] != 0x80|opPong || answer[6]^answer[2] != 'h' || answer[7]^answer[3] != 'i' {
		t.Errorf("the answer is % x", answer)
	}
	if err := <-received; err != nil {
		t.Error(err)
	}
	go func() { received <- c.Receive(func([]byte) {}) }()
	if _, err := theirs.Write(serverFrame(opBinary, []byte("PING\r\n"))); err != nil {
		t.Fatal(err)
	}
	pong := make([]byte, 12)
	if _, err := theirs.Read(pong); err != nil {
		t.Fatal(err)
	}
	for i := range pong[6:] {
		pong[6+i] ^= pong[2+i&3]
	}
	if string(pong[6:]) != "PONG\r\n" {
		t.Errorf("the answer is %q", pong[6:])
	}
	if err := <-received; err != nil {
		t.Error(err)
	}
}
