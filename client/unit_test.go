package client

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestBackOff(t *testing.T) {
	const ms = time.Millisecond
	for _, test := range []struct {
		attempt int
		asked   time.Duration
		at      float64
		want    time.Duration
	}{
		{0, 0, 0.5, 0},
		{1, 0, 0.5, 125 * ms},
		{1, 0, 0, 0},
		{2, 0, 0.5, 250 * ms},
		{3, 0, 0.5, 500 * ms},
		{7, 0, 0.5, 7500 * ms},
		{1000000, 0, 0.5, 7500 * ms},
		{0, 5 * time.Second, 0.5, 5 * time.Second},
		{3, 5 * time.Second, 0.5, 5 * time.Second},
		{3, time.Hour, 0.5, 15 * time.Second},
		{7, time.Second, 0.5, 7500 * ms},
	} {
		if got := backOff(test.attempt, 250*ms, 15*time.Second, test.asked, test.at); got != test.want {
			t.Errorf("attempt %d, asked %v, at %v: got %v, want %v", test.attempt, test.asked, test.at, got, test.want)
		}
	}
}

func TestRenewAt(t *testing.T) {
	now := time.Unix(1e9, 0)
	for left, want := range map[time.Duration][2]time.Duration{ // the latest, and the earliest
		time.Hour:        {54 * time.Minute, 48 * time.Minute},
		50 * time.Second: {45 * time.Second, 40 * time.Second},
		40 * time.Second: {35 * time.Second, 31 * time.Second},
		10 * time.Second: {5 * time.Second, 4 * time.Second},
		5 * time.Second:  {4500 * time.Millisecond, 4 * time.Second},
		time.Second:      {900 * time.Millisecond, 800 * time.Millisecond},
		0:                {},
		-time.Hour:       {},
	} {
		for early, want := range want {
			if got := renewAt(now, now.Add(left), float64(early)).Sub(now); got != want {
				t.Errorf("%v left: asked after %v, want %v", left, got, want)
			}
		}
	}
	if at := renewAt(now, time.Time{}, 0.5); !at.IsZero() {
		t.Errorf("no expiry: asked at %v", at)
	}
}

func TestAddresses(t *testing.T) {
	for text, want := range map[string]address{
		"https://Edge.example":         {origin: "https://edge.example"},
		"https://edge.example/":        {origin: "https://edge.example"},
		"https://edge.example:8443":    {origin: "https://edge.example:8443"},
		"https://edge.example/edges":   {origin: "https://edge.example", list: "https://edge.example/edges"},
		"https://[2001:db8::1]:8443/e": {origin: "https://[2001:db8::1]:8443", list: "https://[2001:db8::1]:8443/e"},
		"http://localhost:8080":        {origin: "http://localhost:8080"},
		"http://a.localhost":           {origin: "http://a.localhost"},
		"http://127.8.9.1":             {origin: "http://127.8.9.1"},
		"http://[::1]:80":              {origin: "http://[::1]:80"},
		"http://edge.example":          {},
		"http://localhost.example":     {},
		"http://10.0.0.1":              {},
		"ws://localhost":               {},
		"wss://edge.example":           {},
		"edge.example":                 {},
		"https://":                     {},
		"https://:443":                 {},
		"https://u:p@edge.example":     {},
		"https://edge.example?a=AT_x":  {},
		"https://edge.example/#a":      {},
		"https://edge.example/%zz":     {},
	} {
		got, err := parseAddress(text, false)
		if got != want || (err != nil) != (want == address{}) || err != nil && !errors.Is(err, ErrBadOption) {
			t.Errorf("%s: got %+v %v", text, got, err)
		}
		if err != nil && strings.Contains(err.Error(), "AT_x") {
			t.Errorf("the error repeats the address: %v", err)
		}
	}
	if a, err := parseAddress("http://edge.example", true); err != nil || a.origin != "http://edge.example" {
		t.Errorf("got %+v %v", a, err)
	}
	for origin, want := range map[string]string{
		"https://a": "a:443", "http://a": "a:80", "https://a:1": "a:1", "https://[::1]": "[::1]:443", "https://[::1]:1": "[::1]:1",
	} {
		if got := hostPort(origin); got != want {
			t.Errorf("%s: got %s, want %s", origin, got, want)
		}
	}
	if got := hostName("https://[::1]"); got != "::1" {
		t.Errorf("got %s", got)
	}
}

func TestOptions(t *testing.T) {
	provider := func(context.Context) (AccessToken, error) { return AccessToken{}, nil }
	for name, o := range map[string]Options{
		"no token":             {},
		"two tokens":           {Token: "a", TokenProvider: provider},
		"a token of two lines": {Token: "a\r\nb"},
		"an unknown transport": {Token: "a", Transports: []Transport{"carrier pigeon"}},
		"a transport twice":    {Token: "a", Transports: []Transport{WebSocket, WebSocket}},
		"a negative duration":  {Token: "a", ConnectTimeout: -1},
		"a negative queue":     {Token: "a", Queue: -1},
		"an unknown policy":    {Token: "a", QueuePolicy: "often"},
		"a relative path":      {Token: "a", Paths: Paths{Ping: "ping"}},
		"a path with a query":  {Token: "a", Paths: Paths{WebSocket: "/ws?a"}},
	} {
		if _, err := o.settings(); !errors.Is(err, ErrBadOption) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	s, err := Options{Token: "a"}.settings()
	if err != nil {
		t.Fatal(err)
	}
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
	if _, err := Connect(t.Context(), nil, Options{Token: "a"}); !errors.Is(err, ErrBadOption) {
		t.Errorf("no address: got %v", err)
	}
	if _, err := Connect(t.Context(), []string{"http://localhost:1"}, Options{Token: "a", Transports: []Transport{WebTransport}}); !errors.Is(err, ErrBadOption) {
		t.Errorf("WebTransport without TLS: got %v", err)
	}
}

func TestProbe(t *testing.T) {
	const ms = time.Millisecond
	for _, test := range []struct {
		name      string
		latencies map[string]time.Duration // 0: it fails at once
		want      string
		within    time.Duration
	}{
		{"by latency", map[string]time.Duration{"a": 30 * ms, "b": 10 * ms, "c": 20 * ms}, "bca", 30 * ms},
		{"one fails", map[string]time.Duration{"a": 0, "b": 20 * ms, "c": 10 * ms}, "cba", 20 * ms},
		{"one hangs", map[string]time.Duration{"a": time.Hour, "b": 20 * ms, "c": 10 * ms}, "cba", 20*ms + probeGrace},
		{"all fail", map[string]time.Duration{"a": 0, "b": 0, "c": 0}, "abc", 0},
		{"all hang", map[string]time.Duration{"a": time.Hour, "b": time.Hour, "c": time.Hour}, "abc", 10 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				got := probe(t.Context(), []string{"a", "b", "c"}, func(ctx context.Context, origin string) (time.Duration, error) {
					latency := test.latencies[origin]
					if latency == 0 {
						return 0, errors.New("no")
					}
					select {
					case <-time.After(latency):
						return latency, nil
					case <-ctx.Done():
						return 0, ctx.Err()
					}
				}, 10*time.Second)
				if strings.Join(got, "") != test.want || time.Since(start) > test.within {
					t.Errorf("got %v after %v, want %s within %v", got, time.Since(start), test.want, test.within)
				}
			})
		})
	}
}

func TestErrorText(t *testing.T) {
	err := &Error{
		Code: "permission_denied", Text: "no", Tenant: "t", Channel: "c", Pattern: "p", Status: 403, Close: 4403,
		Err: http.ErrServerClosed,
	}
	want := `millrace: permission_denied (tenant "t") (channel "c") (pattern "p") (HTTP status 403) (close 4403): no: http: Server closed`
	if err.Error() != want {
		t.Errorf("got %s\nwant %s", err, want)
	}
	if !errors.Is(err, ErrPermissionDenied) || errors.Is(err, ErrClosed) || !errors.Is(err, http.ErrServerClosed) {
		t.Error("wrong sentinels")
	}
}
