package unixbroker

import (
	"bufio"
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/wire"
)

var messages = []struct {
	message pubsub.Message
	search  search
}{
	{pubsub.Message{Tenant: []byte("t"), Channel: []byte("a.b"), Payload: []byte("x"), Sender: []byte("Ann")}, search{}},
	{pubsub.Message{Tenant: []byte("t"), Channel: []byte("a"), Payload: []byte{}, Sender: []byte{}, Delivery: wire.OneNearest}, search{tried: []edgeID{1, 1 << 63}, full: true}},
	{
		pubsub.Message{Tenant: bytes.Repeat([]byte("t"), 128), Channel: bytes.Repeat([]byte("c"), 256), Payload: []byte("y"), Sender: bytes.Repeat([]byte("s"), wire.MaxSender), Delivery: wire.OneRandom},
		search{tried: make([]edgeID, maxPeers+1), leaving: true, last: true},
	},
}

func TestMessageRoundTrip(t *testing.T) {
	for i, c := range messages {
		frame := appendMessage([]byte{}, &c.message, c.search)
		var buf []byte
		kind, body, err := readFrame(bufio.NewReader(bytes.NewReader(frame)), &buf)
		if err != nil || kind != kindMessage {
			t.Fatalf("%d: kind %d, %v", i, kind, err)
		}
		m, s, err := decodeMessage(body)
		if err != nil || !reflect.DeepEqual(m, c.message) || !reflect.DeepEqual(s, c.search) {
			t.Errorf("%d: got %+v, %+v, %v", i, m, s, err)
		}
	}
}

// A frame that ends early is an error, and so is a body that ends before its payload.
func TestMessageTruncated(t *testing.T) {
	for i, c := range messages {
		frame := appendMessage(nil, &c.message, c.search)
		for n := range frame {
			var buf []byte
			if _, _, err := readFrame(bufio.NewReader(bytes.NewReader(frame[:n])), &buf); err == nil {
				t.Errorf("%d: a frame of %d bytes, cut after %d, is taken", i, len(frame), n)
			}
		}
		body := frame[5 : len(frame)-len(c.message.Payload)]
		for n := range body {
			if _, _, err := decodeMessage(body[:n]); err == nil {
				t.Errorf("%d: a body of %d bytes, cut after %d, is taken", i, len(body), n)
			}
		}
	}
}

func TestHello(t *testing.T) {
	if id, err := decodeHello(kindHello, appendHello(nil, 42)[5:]); id != 42 || err != nil {
		t.Errorf("got %v, %v", id, err)
	}
	for name, c := range map[string]struct {
		kind byte
		body []byte
		want string
	}{
		"version": {kindHello, []byte{2}, "the other edge speaks version 2, this one 1"},
		"kind":    {kindPing, nil, errFrame.Error()},
		"empty":   {kindHello, nil, errFrame.Error()},
		"short":   {kindHello, []byte{1, 0}, errFrame.Error()},
	} {
		if _, err := decodeHello(c.kind, c.body); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %s", name, err, c.want)
		}
	}
}

func TestEdgeID(t *testing.T) {
	for text, want := range map[string]bool{
		edgeID(0).String(): true, edgeID(1<<64 - 1).String(): true,
		"": false, "1": false, "000000000000000G": false, "00000000000000AB": false, "00000000000000000": false,
	} {
		if _, ok := parseEdgeID(text); ok != want {
			t.Errorf("%q: %v, want %v", text, ok, want)
		}
	}
}

func TestQueue(t *testing.T) {
	q := newQueue(10, nil)
	for i, err := range []error{q.pushMessage(make([]byte, 10)), q.pushMessage([]byte{1}), q.pushControl([]byte{1})} {
		if want := map[int]error{1: pubsub.ErrLinkFull}[i]; err != want {
			t.Errorf("push %d: %v, want %v", i, err, want)
		}
	}
	for q.pushControl(make([]byte, 10)) == nil {
	}
	frames, messages, more := q.take(nil)
	if len(frames) != 41 || messages != 1 || !more {
		t.Errorf("took %d bytes, %d messages, more %v", len(frames), messages, more)
	}
	q.close()
	for _, err := range []error{q.pushMessage([]byte{1}), q.pushControl([]byte{1})} {
		if err != ErrUnreachable {
			t.Errorf("push to a closed queue: %v", err)
		}
	}
	if frames, _, more := q.take(frames); len(frames) > 0 || more {
		t.Errorf("the closed queue has %d bytes, more %v", len(frames), more)
	}
}
