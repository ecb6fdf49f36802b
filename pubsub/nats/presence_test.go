package nats

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
)

// heard notes messages about presence.
type heard struct {
	mu       sync.Mutex
	messages []string
}

func (h *heard) take(edge string, message []byte) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.messages = append(h.messages, edge+" "+string(message))
	if string(message) == "bad" {
		return errors.New("none of ours")
	}
	return nil
}

func (h *heard) list() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.messages)
}

func TestPresenceMessages(t *testing.T) {
	t.Parallel()
	connect := serve(t)
	a, _ := startBroker(t, connect)
	b, q := startBroker(t, connect)
	startBroker(t, connect) // has no presence
	var ofA, ofB heard
	a.HandlePresence(ofA.take)
	b.HandlePresence(ofB.take)
	for range 2 { // NATS has both subscriptions when it has answered
		must(t, errors.Join(a.conn.Flush(), b.conn.Flush()))
	}
	a.SendPresence("", []byte("to all"))
	a.SendPresence(b.id.String(), []byte("to b"))
	await(t, "two messages", func() bool { return len(ofB.list()) == 2 })
	if got, want := fmt.Sprint(ofB.list()), fmt.Sprintf("[%[1]s to all %[1]s to b]", a.id); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	b.SendPresence(a.id.String(), []byte("to a"))
	await(t, "an answer", func() bool { return len(ofA.list()) == 1 })

	nc, err := connect()
	must(t, err)
	defer nc.Close()
	bad := [][]byte{nil, {version}, {version, kindPresence, 1}, {version + 1, kindPresence, 0, 0, 0, 0, 0, 0, 0, 1, 'x'},
		{version, kindQuery, 0, 0, 0, 0, 0, 0, 0, 1, 'x'}, append([]byte{version, kindPresence, 0, 0, 0, 0, 0, 0, 0, 1}, "bad"...)}
	for _, body := range bad {
		must(t, nc.Publish(b.subscribePrefix+"p", body))
	}
	must(t, nc.Flush())
	a.SendPresence("", []byte("last"))
	await(t, "the last message", func() bool { return slices.Contains(ofB.list(), a.id.String()+" last") })
	if got := ofB.list(); len(got) != 4 || q.get().rejected != len(bad) { // with the one that the registry does not know
		t.Errorf("got %q, and %d of %d are counted as refused", got, q.get().rejected, len(bad))
	}
}
