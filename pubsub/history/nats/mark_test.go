package nats

import (
	"testing"

	client "github.com/nats-io/nats.go"

	"github.com/millrace/millrace/pubsub/history"
)

// A mark comes with the message to every edge that follows, and what is invalid is ignored. A loading edge
// counts the message for as many bytes as the others.
func TestMark(t *testing.T) {
	a, b, by := openTwo(t)
	fa, fb := join(a), join(b)
	follow(t, a, "h")
	follow(t, b, "h")
	for i, mark := range []uint64{1<<64 - 2, 0} {
		r := tryMessage(a, &history.Message{History: "h", Tenant: "t", Channel: []byte("c"), Payload: []byte("x"), Mark: mark})
		if r.Err != nil {
			t.Fatal(r.Err)
		}
		awaitHead(t, b, "h", r.Position)
		for _, f := range []*follower{fa, fb} {
			f.change(func() {
				if m := f.received[i]; m.Mark != mark || m.Position != r.Position {
					t.Errorf("mark %x at %v, want %x at %v", m.Mark, m.Position, mark, r.Position)
				}
			})
		}
	}
	if got := parseMark(client.Header{headerMark: {"mill"}}); got != 0 {
		t.Errorf("%x is a mark", got)
	}
	later := open(t, by)
	define(t, later, definition("h"))
	follow(t, later, "h")
	read(t, later, query("h", "t", "#", 0))
	if here, there := a.UsageNow()["h"], later.UsageNow()["h"]; len(here) != 1 || len(there) != 1 || here[0].Bytes != there[0].Bytes {
		t.Errorf("the usage is %v and %v", here, there)
	}
}
