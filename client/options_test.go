package client

import (
	"context"
	"slices"
	"testing"
	"time"
)

func TestOptions(t *testing.T) {
	provider := func(context.Context) (AccessToken, error) { return AccessToken{}, nil }
	for name, o := range map[string]Options{
		"no token":             {},
		"two tokens":           {Token: "AT_a", TokenProvider: provider},
		"a token of two lines": {Token: "AT_a\r\nb"},
		"an unknown transport": {Token: "AT_a", Transports: []Transport{"carrier pigeon"}},
		"a transport twice":    {Token: "AT_a", Transports: []Transport{WebSocket, WebSocket}},
		"a negative duration":  {Token: "AT_a", ConnectTimeout: -1},
		"a negative queue":     {Token: "AT_a", Queue: -1},
		"an unknown policy":    {Token: "AT_a", QueuePolicy: "often"},
		"a relative path":      {Token: "AT_a", Paths: Paths{Ping: "ping"}},
		"a path with a query":  {Token: "AT_a", Paths: Paths{WebSocket: "/ws?a"}},
	} {
		wantError(t, errorOf(o.settings()), ErrBadOption, name)
	}
	s, err := Options{Token: "AT_a"}.settings()
	must(t, err)
	got := []any{
		s.FallbackAfter, s.ConnectTimeout, s.KeepAlive, s.PongTimeout, s.MinBackOff, s.MaxBackOff, s.Queue, s.QueuePolicy, s.Paths,
	}
	want := []any{
		2 * time.Second, 10 * time.Second, 25 * time.Second, 10 * time.Second, 250 * time.Millisecond, 15 * time.Second,
		1024, DropOldest, Paths{"/ws", "/wt", "/ping"},
	}
	if !slices.Equal(got, want) || !slices.Equal(s.Transports, []Transport{WebTransport, WebSocket}) {
		t.Errorf("defaults %v and %v", got, s.Transports)
	}
	wantError(t, errorOf(Connect(t.Context(), nil, Options{Token: "AT_a"})), ErrBadOption)
	wantError(t, errorOf(Connect(t.Context(), []string{"http://localhost:1"}, Options{Token: "AT_a", Transports: []Transport{WebTransport}})), ErrBadOption)
}

func TestIllegalArguments(t *testing.T) {
	bubble(t, "arguments", func(t *testing.T, w *world) {
		c, l := w.connected(edgeA)
		ctx := t.Context()
		sub := func(tenant, pattern string, opts ...SubscribeOption) error {
			_, err := c.Subscribe(ctx, tenant, pattern, opts...)
			return err
		}
		_, noFunc := c.SubscribeFunc(ctx, "t", "x", nil)
		for _, test := range []struct{ got, want error }{
			{sub("a:b", "x"), ErrBadTenant},
			{sub("t", "x..y"), ErrBadPattern},
			{sub("t", "#.x"), ErrBadPattern},
			{sub("t", "x", WithQueue(-1, DropOldest)), ErrBadOption},
			{sub("t", "x", WithQueue(1, "often")), ErrBadOption},
			{noFunc, ErrBadOption},
			{c.Publish(ctx, "a:b", "x", nil), ErrBadTenant},
			{c.Publish(ctx, "t", "x.*", nil), ErrBadChannel},
			{c.Publish(ctx, "t", "x", make([]byte, maxPayload+1)), ErrPayloadTooLarge},
			{c.PublishTo(ctx, 3, "t", "x", nil), ErrBadOption},
			{errorOf(c.Join(ctx, "t", "room.*")), ErrBadChannel},
			{errorOf(c.Join(ctx, "a b", "room")), ErrBadTenant},
			{errorOf(c.Presence(ctx, "t", "*a")), ErrBadPattern},
			{errorOf(c.Presence(ctx, "a b", "a")), ErrBadTenant},
		} {
			wantError(t, test.got, test.want)
		}
		if lines, frames := l.sent(); len(lines)+len(frames) > 0 {
			t.Errorf("sent %q %q", lines, frames)
		}
	})
}
