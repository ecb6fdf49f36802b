package client

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/millrace/millrace/wire"
)

func TestJoin(t *testing.T) {
	members(t, "one is left with the last membership", func(t *testing.T, _ *world, c *Client, l *fakeLink) {
		a, b := mustJoin(t, c, "room.1"), mustJoin(t, c, "room.1")
		equal(t, "membership", a.Tenant()+" "+a.Channel(), "t room.1")
		for range 2 {
			noError(t, a.Leave(t.Context()))
		}
		<-a.Done()
		wantLines(t, l, "JOIN:t:room.1")
		wantNone(t, "the other has ended", b.Done())
		noError(t, b.Leave(t.Context()))
		noError(t, b.Err())
		mustJoin(t, c, "room.1")
		m, err := c.Join(t.Context(), "", "x")
		noError(t, err)
		equal(t, "tenant", m.Tenant(), "~")
		wantLines(t, l, "JOIN:t:room.1", "LEAVE:t:room.1", "JOIN:t:room.1", "JOIN:~:x")
		noError(t, c.Close())
		l.askedFor(t, "JOIN:t:room.1", "JOIN:t:room.1", "JOIN:~:x", "LEAVE:t:room.1", "LEAVE:t:room.1", "LEAVE:~:x")
		wantError(t, errorOf(c.Join(t.Context(), "t", "y")), ErrClosed)
	})
	members(t, "what is refused has not begun, and does not come back",
		func(t *testing.T, w *world, c *Client, l *fakeLink) {
			for _, code := range []Code{"permission_denied", "no_presence", "no_subject", "too_many_members", "try_later", "of_tomorrow"} {
				l.set(func(l *fakeLink) {
					l.answer["JOIN:t:room.1"] = "ERR:" + string(code) + ":JOIN:t:room.1"
					l.answer["WHO:t:room.*"] = "ERR:" + string(code) + ":WHO:t:room.*"
				})
				for _, want := range []Error{{Channel: "room.1"}, {Pattern: "room.*"}} {
					var err error
					if want.Channel != "" {
						_, err = c.Join(t.Context(), "t", "room.1")
					} else {
						_, err = c.Presence(t.Context(), "t", "room.*")
					}
					e, _ := err.(*Error)
					want.Tenant, want.Code, want.Text = "t", code, e.Text
					equal(t, "error", *e, want)
				}
			}
			l.end(1011)
			event[Reconnected](w)
			wantLines(t, <-w.links)
			wantNone(t, "an event", w.events)
		})
	members(t, "a call whose time is over leaves nothing behind", func(t *testing.T, w *world, c *Client, l *fakeLink) {
		l.set(func(l *fakeLink) { l.mute["JOIN"], l.mute["WHO"] = true, true })
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		failed := both(ctx, c)
		for range 2 {
			var e *Error
			if err := <-failed; !errors.As(err, &e) || e.Code != CodeTimeout || e.Channel != "room.1" && e.Pattern != "room.*" {
				t.Errorf("got %v", err)
			}
		}
		l.askedFor(t, "JOIN:t:room.1", "LEAVE:t:room.1", "UNWHO:t:room.*", "WHO:t:room.*")
		l.line("OK:JOIN:t:room.1") // concerns nothing
		l.line("OK:WHO:t:room.*")
		l.here(first|synced, "room.1/ada")
		event[Connected](w)
		wantNone(t, "an event", w.events)
		over, cancel := context.WithCancel(t.Context())
		cancel()
		wantError(t, errorOf(c.Join(over, "t", "room.2")), context.Canceled)
	})
	members(t, "the client joins again wherever it is", func(t *testing.T, w *world, c *Client, l *fakeLink) {
		m := mustJoin(t, c, "room.1")
		w.next(func(l *fakeLink) { withPresence(l); l.mute["JOIN"], l.mute["FEATURES"] = true, true })
		l.end(1011)
		event[Disconnected](w)
		second := <-w.links
		wantLines(t, second)
		second.line(second.answer[wire.LineFeatures])
		wantLines(t, second, "JOIN:t:room.1")
		time.Sleep(10 * time.Millisecond)
		noEvent[Reconnected](w)
		second.line("OK:JOIN:t:room.1")
		event[Reconnected](w)

		// It is not left before the next one has the member.
		second.line("RECONNECT")
		third := <-w.links
		third.line(second.answer[wire.LineFeatures])
		time.Sleep(settleTime + leaveTime)
		wantNone(t, "left before the next one has joined", second.finished)
		third.line("OK:JOIN:t:room.1")
		event[Moved](w)
		<-second.finished
		second.askedFor(t, "JOIN:t:room.1")
		noError(t, m.Err())
		noError(t, m.Leave(t.Context()))
		third.askedFor(t, "JOIN:t:room.1", "LEAVE:t:room.1")
	})
	members(t, "one that an edge refuses to restore has ended", func(t *testing.T, w *world, c *Client, l *fakeLink) {
		m := mustJoin(t, c, "room.1")
		p := watch(t, c, l, "room.1/ada")
		l.here(0, "room.1/bob")
		w.next(func(l *fakeLink) {
			withPresence(l)
			l.answer["JOIN:t:room.1"] = "ERR:too_many_members:JOIN:t:room.1"
			l.answer["WHO:t:room.*"] = "ERR:permission_denied:WHO:t:room.*:allowed=hall"
		})
		l.end(1011)
		got := []SubscriptionError{event[SubscriptionError](w), event[SubscriptionError](w)}
		for _, want := range []SubscriptionError{
			{Tenant: "t", Channel: "room.1", Code: "too_many_members", Text: reasons[wire.CodeTooManyMembers]},
			{Tenant: "t", Pattern: "room.*", Code: "permission_denied", Text: "the token may see who is present in t only in hall, not in room.*"},
		} {
			if !slices.Contains(got, want) {
				t.Errorf("notified of %+v, want %+v", got, want)
			}
		}
		<-m.Done()
		wantError(t, m.Err(), ErrTooManyMembers)
		change, err := p.Next(t.Context())
		noError(t, err)
		equal(t, "what came before the end", changeText(change), "+room.1/bob")
		wantError(t, errorOf(p.Next(t.Context())), ErrPermissionDenied)
		wantSynced(t, p, false)
		wantMembers(t, p, "room.1/ada", "room.1/bob")
		(<-w.links).askedFor(t, "JOIN:t:room.1", "WHO:t:room.*")
	})
	members(t, "try later", func(t *testing.T, w *world, c *Client, l *fakeLink) {
		mustJoin(t, c, "room.1")
		w.next(func(l *fakeLink) {
			withPresence(l)
			l.answer["JOIN:t:room.1"] = "ERR:try_later:JOIN:t:room.1"
		})
		l.end(1011)
		wantEvent(w, SubscriptionError{Tenant: "t", Channel: "room.1", Code: "try_later", Text: reasons[wire.CodeTryLater]})
		second := <-w.links
		time.Sleep(10 * time.Second)
		if n := second.count("JOIN:t:room.1"); n < 3 {
			t.Errorf("asked %d times", n)
		}
		second.set(func(l *fakeLink) { delete(l.answer, "JOIN:t:room.1") })
		event[Reconnected](w)
		wantNone(t, "it was told once", w.events)
	})
	// The application is told, and the next edge is asked.
	members(t, "an edge that has no presence, or none any more", func(t *testing.T, w *world, c *Client, l *fakeLink) {
		m := mustJoin(t, c, "room.1")
		p := watch(t, c, l, "room.1/ada")
		wantTold := func() {
			t.Helper()
			a, b := event[EdgeError](w), event[EdgeError](w)
			if a.Detail > b.Detail {
				a, b = b, a
			}
			equal(t, "EdgeError", a, EdgeError{Code: "no_presence", Detail: "JOIN:t:room.1"})
			equal(t, "EdgeError", b, EdgeError{Code: "no_presence", Detail: "WHO:t:room.*"})
			noError(t, m.Err())
			wantSynced(t, p, false)
			wantMembers(t, p, "room.1/ada")
			wantError(t, errorOf(c.Join(t.Context(), "t", "room.1")), ErrNoPresence)
			wantError(t, errorOf(c.Presence(t.Context(), "t", "room.*")), ErrNoPresence)
		}
		l.line("ERR:no_presence:JOIN:t:room.1") // the edge was reloaded
		l.line("ERR:no_presence:WHO:t:room.*")
		wantTold()
		w.next(nil)
		l.end(1011)
		wantTold()
		event[Reconnected](w)
		second := <-w.links
		wantLines(t, second)
		w.next(withPresence)
		second.end(1011)
		event[Reconnected](w)
		(<-w.links).here(first|synced, "room.1/bob")
		changes(t, p, "-room.1/ada", "+room.1/bob")
		wantSynced(t, p, true)
	})
	for _, answer := range []string{wire.LineFeaturesHistory, "ERR:bad_request"} {
		bubble(t, "an edge that does not say that it has presence is not asked: "+answer, func(t *testing.T, w *world) {
			w.next(func(l *fakeLink) { l.mute["FEATURES"] = true })
			c, l := w.connected(edgeA)
			failed := both(t.Context(), c)
			wantNone(t, "before the edge has said what it knows", failed)
			l.line(answer)
			for range 2 {
				wantError(t, <-failed, ErrNoPresence)
			}
			wantLines(t, l)
		})
	}
}
