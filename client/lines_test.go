package client

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/wire"
)

func TestLines(t *testing.T) {
	scenes{
		// That is so, too, when it comes to another edge.
		"of a link between edges each change is told once": `
			1 says LINK:up; 1 says LINK:down; 1 says LINK:down; told LinkDown A; drains; told Moved; told LinkUp B
			2 says LINK:down; told LinkDown; 2 says LINK:up; told LinkUp; silent on LinkUp LinkDown`,
	}.run(t, twoEdges)
	bubble(t, "Subscription lines", func(t *testing.T, w *world) {
		c, l := w.connected(edgeA)
		l.set(func(l *fakeLink) {
			l.answer["SUB:t:no"] = "ERR:permission_denied:SUB:t:no"
			l.mute["SUB:t:slow"] = true
		})
		_, err := c.Subscribe(t.Context(), "t", "no")
		var e *Error
		if !errors.Is(err, ErrPermissionDenied) || !errors.As(err, &e) || e.Tenant != "t" || e.Pattern != "no" {
			t.Errorf("got %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err = c.Subscribe(ctx, "t", "slow"); !errors.Is(err, ErrTimeout) || !errors.As(err, &e) || e.Tenant != "t" || e.Pattern != "slow" {
			t.Errorf("got %v", err)
		}
		first := mustSubscribe(t, c, "x")
		second := mustSubscribe(t, c, "x")
		l.bring("1")
		for _, s := range []*Subscription{first, second} {
			got := <-s.Messages()
			if want := (Message{Tenant: "t", Channel: "x", Pattern: "x", Patterns: []string{"x"}, Payload: []byte("1")}); !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v", got)
			}
		}
		noError(t, first.Unsubscribe(t.Context()))
		if _, ok := <-first.Messages(); ok || first.Err() != nil {
			t.Error("not closed, or", first.Err())
		}
		reaches(t, l, second, "2")
		noError(t, second.Unsubscribe(t.Context()))
		noError(t, second.Unsubscribe(t.Context()))
		if s, err := c.Subscribe(t.Context(), "", "*"); err != nil || s.Tenant() != "~" || s.Pattern() != "*" {
			t.Error(s, err)
		}
		want := []string{"SUB:t:no", "SUB:t:slow", "UNSUB:t:slow", "SUB:t:x", "UNSUB:t:x", "SUB:~:*"}
		if lines, _ := l.sent(); !slices.Equal(lines, want) {
			t.Errorf("got %q, want %q", lines, want)
		}
	})
	bubble(t, "Events of lines", func(t *testing.T, w *world) {
		c, l := w.connected(edgeA)
		event[Connected](w)
		for line, want := range map[string]Event{
			"ERR:permission_denied:PUB:t:x":   refusedPublish("t", "x", "permission_denied"),
			"ERR:payload_too_large:PUB:t:x.y": refusedPublish("t", "x.y", "payload_too_large"),
			"ERR:slow_consumer:17":            SlowConsumer{17},
			"ERR:egress_limited:3":            Limited{In, 3 * time.Second},
			"ERR:ingress_limited:4":           Limited{Out, 4 * time.Second},
			"ERR:permission_denied:PUB:t:secret:allowed=news.#,chat.*": PublishError{"t", "secret", "permission_denied",
				"the token may publish in t only to news.#, chat.*, not to secret"},
			"ERR:permission_denied:PUB:room:x:tenants=demo.room,demo.hall": PublishError{"room", "x", "permission_denied",
				"the token is for the tenant demo.room, demo.hall, not for room: did you mean demo.room? The prefix of the master token is part of the name"},
			"ERR:permission_denied:PUB:t:x:allowed=": PublishError{"t", "x", "permission_denied",
				"the token may not publish at all in t, so not in x: issue it with a grant whose Publish has that"},
			"ERR:permission_denied:PUB:t:x:by=hook": PublishError{"t", "x", "permission_denied", "the operator of the edge refuses it, by a hook"},
			"ERR:broker_unavailable":                EdgeError{Code: "broker_unavailable", Detail: ""},
			"ERR:of_later:a:b":                      EdgeError{Code: "of_later", Detail: "a:b"},
		} {
			l.line(line)
			equal[Event](t, "event", <-w.events, want)
		}
		equal(t, "limited", c.Limited(), true)
		time.Sleep(limitedTime)
		equal(t, "limited after a minute", c.Limited(), false)
		for len(w.events) > 0 { // PINGs of the minute
			<-w.events
		}
		l.line("HELLO") // of a later edge
		l.line("PONG")  // nobody asked
		synctest.Wait()
		if len(w.events) > 0 {
			t.Errorf("got %+v", <-w.events)
		}
	})
	bubble(t, "an edge of an earlier version knows no features, which is nothing to tell",
		func(t *testing.T, w *world) {
			w.ready = func(l *fakeLink) { l.answer[wire.LineFeatures] = "ERR:bad_request" }
			_, l := w.connected(edgeA)
			event[Connected](w)
			l.line("ERR:bad_request") // this one is of something else
			equal(t, "EdgeError.Code", event[EdgeError](w).Code, "bad_request")
			synctest.Wait()
			if len(w.events) > 0 {
				t.Errorf("got %+v", <-w.events)
			}
		})
	// What a later edge may send is ignored: a line, a tag of a frame, and a field of a tag
	// that is known. A frame that is broken ends the connection.
	bubble(t, "Unknown messages", func(t *testing.T, w *world) {
		_, l, s := w.subscribed(edgeA)
		l.line("LATER:x")
		for _, frame := range []string{"\x09", "\x05later", "\x04\x10later", "\x04\x81later"} {
			l.in <- []byte(frame)
		}
		reaches(t, l, s, "1")
		for _, broken := range []string{"\x04\x01", "\x05\x03\x00"} {
			l.in <- []byte(broken)
			wantError(t, event[Disconnected](w).Err, ErrProtocol, broken)
			event[Reconnected](w)
			l = <-w.links
		}
	})
}
