package nats_test

import (
	"context"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub/history"
)

// The notes about a tenant that always has more than half of a history do not take the room
// of the others.
func TestNotesAreBounded(t *testing.T) {
	s := natstest.Server(t)
	a := open(t, s, "p")
	define(t, a, definition("h", func(d *history.Definition) {
		d.Limits.Size, d.Limits.Messages = history.MinSize, history.MaxMessages
	}))
	put(t, a, "h", "quiet", "c", "1")
	payload := strings.Repeat("x", 1000)
	for range 8000 {
		put(t, a, "h", "loud", "c", payload)
	}
	stream, err := operator(t, s.ClientURL()).Stream(context.Background(), "p_history_h")
	if err != nil {
		t.Fatal(err)
	}
	info, err := stream.Info(context.Background(), jetstream.WithSubjectFilter("p.h.h.c.>"))
	if err != nil {
		t.Fatal(err)
	}
	notes := uint64(0)
	for _, n := range info.State.Subjects {
		notes += n
	}
	if notes == 0 || notes > 150 { // two for each batch of messages that are kept, and those are some 40
		t.Errorf("%d notes in %d messages", notes, info.State.Msgs)
	}
	if page := read(t, a, query("h", "quiet", "#", 0)); texts(page) != "c=1" {
		t.Errorf("the other tenant has %q", texts(page))
	}
}
