package loadgen

import (
	"bytes"
	"testing"

	"github.com/millrace/millrace/wire"
)

// A publish of any size is the frame that package wire knows, masked.
func TestPublishFrames(t *testing.T) {
	socket := &edgeConn{link: &webSocket{}, tenant: []byte("t")}
	stream := &edgeConn{link: &webTransport{}, tenant: []byte("t")}
	for n := range 300 {
		checkPublish(t, socket, stream, n)
	}
	checkPublish(t, socket, stream, 65_520)
	checkPublish(t, socket, stream, 70_000)
}

func checkPublish(t *testing.T, socket, stream *edgeConn, n int) {
	t.Helper()
	payload := bytes.Repeat([]byte("p"), n)
	want := wire.AppendPublish(nil, wire.Publish{Tenant: []byte("t"), Channel: []byte("bench.1"), Payload: payload})
	got := unmask(t, socket.AppendPublish([]byte("before"), "bench.1", payload)[len("before"):])
	if got[0] != 0x82 || !bytes.Equal(got[1:], want) {
		t.Errorf("a payload of %d bytes: WebSocket frame %x", n, got)
	}
	if got := stream.AppendPublish(nil, "bench.1", payload); !bytes.Equal(got, wire.AppendMessage(nil, want)) {
		t.Errorf("a payload of %d bytes: WebTransport message %x", n, got)
	}
}
