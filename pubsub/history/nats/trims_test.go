package nats

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
	t.Parallel()
	s := natstest.Server(t)
	a := open(t, natstest.Connect(s))
	define(t, a, definition("h", func(d *history.Definition) {
		d.Limits.Size, d.Limits.Messages = history.MinSize, history.MaxMessages
	}))
	put(t, a, "h", "quiet", "c", "1")
	payload := strings.Repeat("x", 1000)
	for range 8000 {
		put(t, a, "h", "loud", "c", payload)
	}
	notes := countNotes(t, operator(t, s.ClientURL()))
	if notes == 0 || notes > 150 { // two for each batch of messages that are kept, and those are some 40
		t.Errorf("%d notes", notes)
	}
	if page := read(t, a, query("h", "quiet", "#", 0)); texts(page) != "c=1" {
		t.Errorf("the other tenant has %q", texts(page))
	}
}

// Where the stream lets nobody remove anything, the tenant is stopped, and notes do not fill it.
func TestNotesOfFailures(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	a := open(t, natstest.Connect(s), impatient)
	define(t, a, definition("h", func(d *history.Definition) {
		d.Limits.Size, d.Limits.Messages = history.MinSize, history.MaxMessages
	}))
	await(t, "a first message", func() bool { return try(a, "h", "quiet", "c", "1").Err == nil })
	js := operator(t, s.ClientURL())
	stream, err := js.Stream(context.Background(), "p_history_h")
	must(t, err)
	c := stream.CachedInfo().Config
	c.DenyPurge = true
	must(t, errorOf(js.UpdateStream(context.Background(), c)))
	payload, failed := strings.Repeat("x", 1000), false
	for range 1000 {
		if failed = try(a, "h", "loud", "c", payload).Err != nil; failed {
			break
		}
	}
	if !failed {
		t.Error("the tenant goes on")
	}
	if notes := countNotes(t, js); notes > 30 {
		t.Errorf("%d notes", notes)
	}
}

// countNotes counts the notes of the history h.
func countNotes(t *testing.T, js jetstream.JetStream) (notes uint64) {
	t.Helper()
	stream, err := js.Stream(context.Background(), "p_history_h")
	must(t, err)
	info, err := stream.Info(context.Background(), jetstream.WithSubjectFilter("p.h.h.c.>"))
	must(t, err)
	for _, n := range info.State.Subjects {
		notes += n
	}
	return notes
}
