package client

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/millrace/millrace/wire"
)

// Where nobody listens, each event and code is said once, and no more than so many of them, whatever an edge
// sends; where somebody does, nothing is.
func TestLoud(t *testing.T) {
	bubble(t, "to the logger", func(t *testing.T, w *world) {
		var out bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&out, nil))
		_, l := w.mustConnect([]string{edgeA}, func(o *Options) { o.OnEvent, o.Logger = nil, logger })
		for range 3 {
			l.line("ERR:permission_denied:PUB:t:x")
			l.line("ERR:payload_too_large:PUB:t:x")
			l.line("PONG")
		}
		synctest.Wait()
		equal(t, "lines", strings.Count(out.String(), "\n"), 2)
		for i := range 10 * maxSaid {
			l.line("ERR:code_" + strings.Repeat("x", i%200+1) + ":PUB:t:x")
		}
		synctest.Wait()
		equal(t, "lines", strings.Count(out.String(), "\n"), maxSaid)
	})
	bubble(t, "without what a terminal obeys", func(t *testing.T, w *world) {
		_, l := w.mustConnect([]string{edgeA}, func(*Options) {})
		l.line("ERR:no_such:\x1b[31mx\u009b")
		l.line("ERR:permission_denied:PUB:t:x:allowed=\x1b[31mx")
		equal(t, "detail", event[EdgeError](w).Detail, " [31mx ")
		equal(t, "text", event[PublishError](w).Text, "the token may publish in t only to  [31mx, not to x")
	})
	equal(t, "of a refusal", *refusal(403, nil, []byte(`{"code":"a\u001b","detail":"b\u0007"}`)), Error{Code: "a ", Text: "b ", Status: 403})
	equal(t, "of a close", closedBy(4000, "\x1b]0;x\a").Text, " ]0;x ")
	bubble(t, "to who listens", func(t *testing.T, w *world) {
		var out bytes.Buffer
		_, l := w.mustConnect([]string{edgeA}, func(o *Options) { o.Logger = slog.New(slog.NewTextHandler(&out, nil)) })
		l.line("ERR:permission_denied:PUB:t:x")
		event[PublishError](w)
		equal(t, "said", out.String(), "")
	})
	for _, e := range []Event{
		Connecting{1, 0, ErrUnreachable}, PublishError{}, PublishUnknown{}, SubscriptionError{}, EdgeError{}, Gap{}, QueueFull{}, Discarded{}, SlowConsumer{},
		Limited{}, Closed{ErrTokenRevoked},
	} {
		if text, _, fields := complaint(e); text == "" || len(fields)%2 != 0 {
			t.Errorf("%T: %q %v", e, text, fields)
		}
	}
	for _, e := range []Event{Connected{}, RoundTrip{}, Closed{}, Moved{}} {
		if text, _, _ := complaint(e); text != "" {
			t.Errorf("%T: %q", e, text)
		}
	}
}

func TestNearest(t *testing.T) {
	for name, want := range map[string]string{"drop": "drop-oldest", "drop-newst": "drop-newest", "websockt": "websocket", "quic": ""} {
		got := nearest(name, "drop-oldest", "drop-newest", "websocket", "webtransport")
		if want != "" {
			want = fmt.Sprintf(": did you mean %q?", want)
		}
		equal(t, name, got, want)
	}
}

// A tenant's methods are those of its client.
func TestTenant(t *testing.T) {
	bubble(t, "tenant", func(t *testing.T, w *world) {
		w.next(func(l *fakeLink) { l.answer[wire.LineFeatures] = wire.LineFeaturesHistory + "," + wire.FeaturePresence })
		c, l := w.connected(edgeA)
		tenant := c.Tenant("t")
		s, err := tenant.Subscribe(t.Context(), "x")
		must(t, err)
		_, err = tenant.SubscribeFunc(t.Context(), "y", func(Message) {})
		must(t, err)
		noError(t, tenant.Publish(t.Context(), "x", []byte("1")))
		noError(t, tenant.PublishTo(t.Context(), OneNearest, "x", []byte("2")))
		noError(t, errorOf(tenant.PublishConfirmed(t.Context(), "x", []byte("3"))))
		noError(t, errorOf(tenant.Join(t.Context(), "room.1")))
		wantLines(t, l, "SUB:t:x", "SUB:t:y", "JOIN:t:room.1")
		wantFrames(t, l, "x=1", "x=2", "x=3")
		l.in <- []byte("\x01\x00\x01t\x00\x01x\x00\x00\x00\x07{\"a\":1}\x00\x01\x00\x01x")
		var body struct{ A int }
		m := <-s.Messages()
		noError(t, m.JSON(&body))
		equal(t, "a", body.A, 1)
		wantError(t, m.JSON(new(int)), ErrBadOption)
		wantError(t, Message{Payload: []byte("{")}.JSON(&body), ErrBadOption)
	})
}
