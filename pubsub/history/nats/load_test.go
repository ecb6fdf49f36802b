package nats

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

// manyMessages is how many messages a channel gets: less than a history keeps by default, and more
// than a stream keeps for a history of one message.
const manyMessages = 90

// What others remove while an edge reads a history, it has perhaps not read: it says of
// nothing before that it is complete.
func TestRemovedWhileItIsRead(t *testing.T) {
	t.Parallel()
	ctx, done := context.WithTimeout(context.Background(), natstest.Limit)
	t.Cleanup(done)
	limits := history.DefaultLimits()
	lower := limits
	lower.Messages = 1
	for name, remove := range map[string]func(a *Store) error{
		"purge":         func(a *Store) error { _, err := a.Purge("h", "t", ""); return err },
		"purge, all":    func(a *Store) error { _, err := a.Purge("h", "", ""); return err },
		"trim":          func(a *Store) error { return trimMost(ctx, a, payer{tenant: "t"}) },
		"trim of owner": func(a *Store) error { return trimMost(ctx, a, payer{owner: "a."}) },
		"trim that is under way": func(a *Store) error {
			list := most(a)
			return a.publishTrim(ctx, "h", trimNote{payer{owner: "a."}, list[len(list)-1].n, false})
		},
		"other limit": func(a *Store) error {
			for _, l := range []history.Limits{lower, limits} {
				if err := a.Define(history.Definition{Name: "h", Channels: []string{"#"}, Limits: l}); err != nil {
					return err
				}
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b, _ := openTwo(t)
			at := fillHistory(t, a, manyMessages)
			// The steps of session, with the removal between two of them.
			st, r, mark := prepared(ctx, t, b)
			must(t, remove(a))
			must(t, st.load(ctx, &r, mark))
			mark, err := st.mark(ctx)
			must(t, err)
			receive(ctx, t, st, mark)
			page, _, err := st.page(t.Context(), &history.Query{History: "h", Tenant: "t", Pattern: parse(t, "#"), After: at.N, MaxMessages: 100, MaxBytes: 1 << 20})
			must(t, err)
			if n := len(page.Messages); n == manyMessages || strings.HasPrefix(name, "trim") && n != trimLeft || page.Removed.N <= at.N {
				t.Errorf("%d of %d messages, and up to %v is removed", len(page.Messages), manyMessages, page.Removed)
			}
		})
	}
}

// An edge that was held up, and then cuts the channels to a limit that is not in effect any
// more, leaves a mark even if it ends before it tells anybody.
func TestCutByALateEdge(t *testing.T) {
	t.Parallel()
	ctx, done := context.WithTimeout(context.Background(), natstest.Limit)
	defer done()
	a, b, _ := openTwo(t)
	at := fillHistory(t, a, manyMessages)
	r, err := b.ensureStream(ctx, "h")
	must(t, err)
	late := r
	late.Messages = 1
	must(t, errorOf(a.js.UpdateStream(ctx, a.streamConfig("h", &late))))
	// While an edge reads the history.
	st := b.find("h")
	st.prepare(&r)
	mark, err := st.mark(ctx)
	must(t, err)
	if err := st.load(ctx, &r, mark); !errors.Is(err, errRestart) {
		t.Errorf("load: %v", err)
	}
	st.discard()
	// And before.
	page, err := b.Read(ctx, history.Query{History: "h", Tenant: "t", Pattern: parse(t, "#"), After: at.N, MaxMessages: 100, MaxBytes: 1 << 20})
	must(t, err)
	if len(page.Messages) == manyMessages || page.Removed.N <= at.N {
		t.Errorf("%d of %d messages, and up to %v is removed", len(page.Messages), manyMessages, page.Removed)
	}
}

func parse(t *testing.T, text string) pattern.Pattern {
	t.Helper()
	p, err := pattern.Parse(text)
	must(t, err)
	return p
}

// A higher limit that is defined while an edge reads a history, and that its stream does not
// have yet, hides nothing of what rolled over meanwhile.
func TestLimitRaisedWhileItIsRead(t *testing.T) {
	t.Parallel()
	ctx, done := context.WithTimeout(context.Background(), natstest.Limit)
	defer done()
	a, b, _ := openTwo(t, func(d *history.Definition) { d.Limits.Messages = 1 })
	at := fillHistory(t, a, 2) // which roll over
	st, r, mark := prepared(ctx, t, b)
	for i := range 2 { // no number is missing behind the mark
		put(t, a, "h", "t", "c", fmt.Sprint(i))
	}
	must(t, st.load(ctx, &r, mark))
	higher := r
	higher.Messages, higher.Changing = 100, true
	st.define(higher)
	mark, err := st.mark(ctx)
	must(t, err)
	receive(ctx, t, st, mark)
	q := history.Query{History: "h", Tenant: "t", Pattern: parse(t, "#"), After: at.N, MaxMessages: 100, MaxBytes: 1 << 20}
	page, _, err := st.page(t.Context(), &q)
	must(t, err)
	if page.Removed.N <= at.N {
		t.Errorf("%d of 4 messages, and up to %v is removed", len(page.Messages), page.Removed)
	}
	// From then on it is in effect.
	st.mu.Lock()
	defer st.mu.Unlock()
	for n := range uint64(20) {
		st.index.Add("", "t", []byte("d"), wire.Position{Epoch: st.epoch, N: st.last.n + 1 + n, T: st.head.T}, nil, nil, 0)
	}
	if list := st.index.Numbers("t", "d", 1_000_000); len(list) != 20 {
		t.Errorf("%d messages are kept", len(list))
	}
}

// trimLeft is how many messages trimMost leaves.
const trimLeft = 5

// trimMost removes all but the last messages from the stream, as if that made room for others.
func trimMost(ctx context.Context, s *Store, p payer) error {
	return s.find("h").trims.remove(ctx, p, most(s))
}

// most lists what trimMost removes.
func most(s *Store) (list []trim) {
	st := s.find("h")
	st.mu.Lock()
	defer st.mu.Unlock()
	numbers := st.index.Numbers("t", "", 1_000_000)
	for _, n := range numbers[:len(numbers)-trimLeft] {
		list = append(list, trim{"t", n, 1})
	}
	return list
}

// fillHistory stores n messages, whose tenant is a.'s, behind the one whose position it returns.
// Another tenant's, which stays, is the first of the stream.
func fillHistory(t *testing.T, s *Store, n int) wire.Position {
	t.Helper()
	put(t, s, "h", "other", "c", "stays")
	at := putOf(t, s, "a.", "t", "c", "the client has this")
	for i := range n {
		putOf(t, s, "a.", "t", "c", fmt.Sprint(i))
	}
	return at
}

// prepared begins to read a history, as session does.
func prepared(ctx context.Context, t *testing.T, s *Store) (st *stream, r record, mark uint64) {
	t.Helper()
	st = s.find("h")
	r, err := s.ensureStream(ctx, "h")
	must(t, err)
	st.prepare(&r)
	mark, err = st.mark(ctx)
	must(t, err)
	return st, r, mark
}

// receive has an edge receive a history until the test ends, and waits until that is in reach.
func receive(ctx context.Context, t *testing.T, st *stream, mark uint64) {
	t.Helper()
	receiving, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() { // ends with receiving
		defer close(ended)
		_ = st.receiveFrom(receiving, mark)
	}()
	t.Cleanup(func() { stop(); <-ended })
	must(t, st.await(ctx))
}
