package caddymodule

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
)

func TestTakeTokens(t *testing.T) {
	const token = "AT_00_11"
	for _, c := range []struct {
		name   string
		header http.Header
		tokens []string
		left   map[string]string
	}{
		{"none", http.Header{"Sec-Websocket-Protocol": {"chat, what.ever"}}, nil, map[string]string{"Sec-Websocket-Protocol": "chat, what.ever"}},
		{"usual", http.Header{"Sec-Websocket-Protocol": {"llps.v1, at." + token}}, []string{token}, map[string]string{"Sec-Websocket-Protocol": "llps.v1"}},
		{"tight, first", http.Header{"Sec-Websocket-Protocol": {"at." + token + ",llps.v1"}}, []string{token}, map[string]string{"Sec-Websocket-Protocol": "llps.v1"}},
		{"alone", http.Header{"Sec-Websocket-Protocol": {"at." + token}}, []string{token}, map[string]string{}},
		{"two headers", http.Header{"Sec-Websocket-Protocol": {"at." + token, "llps.v1, at.x"}}, []string{token, "x"}, map[string]string{"Sec-Websocket-Protocol": "llps.v1"}},
		{"forgotten at.", http.Header{"Sec-Websocket-Protocol": {"llps.v1, " + token}}, nil, map[string]string{"Sec-Websocket-Protocol": "llps.v1"}},
		{"empty entry", http.Header{"Sec-Websocket-Protocol": {"llps.v1,at."}}, []string{""}, map[string]string{"Sec-Websocket-Protocol": "llps.v1"}},
		{"WebTransport", http.Header{"Wt-Available-Protocols": {`"llps.v1", "at.` + token + `"`}}, []string{token}, map[string]string{"Wt-Available-Protocols": `"llps.v1"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := httptest.NewRequest("GET", "/", nil)
			r.Header = c.header.Clone()
			clean, taken := takeTokens(r)
			header := "Sec-Websocket-Protocol"
			if c.header[header] == nil {
				header = "Wt-Available-Protocols"
			}
			if got := offeredTokens(clean, header); !slices.Equal(got, c.tokens) || taken != (c.tokens != nil || c.name == "forgotten at.") {
				t.Errorf("took %q, %v; want %q", got, taken, c.tokens)
			}
			if len(clean.Header) != len(c.left) {
				t.Errorf("left %v, want %v", clean.Header, c.left)
			}
			for name, want := range c.left {
				if got := clean.Header.Get(name); got != want {
					t.Errorf("left %s: %q, want %q", name, got, want)
				}
			}
		})
	}
}

func TestRedactHeaders(t *testing.T) {
	const token = "AT_00112233445566778899aabbccddeeff_00112233445566778899aabbccddeeff"
	headers := http.Header{
		"Referer":       {"https://localhost/?t=" + token, "https://localhost/?look_at_me"},
		"X-Api-Key":     {"MT" + token[2:]},
		"X-Escaped":     {"AT%5F" + token[3:]},
		"User-Agent":    {"FORMAT_1 LOOK_AT_ME"},
		"Authorization": {"Bearer " + token}, // Caddy's to redact, ours to read
	}
	if !redactHeaders(headers) {
		t.Error("found nothing")
	}
	for name, want := range map[string][]string{
		"Referer": {redacted, "https://localhost/?look_at_me"}, "X-Api-Key": {redacted}, "X-Escaped": {redacted},
		"User-Agent": {"FORMAT_1 LOOK_AT_ME"}, "Authorization": {"Bearer " + token},
	} {
		if got := headers[name]; !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestTokenInTarget(t *testing.T) {
	for target, want := range map[string]bool{
		"/":                        false,
		"/ws":                      false,
		"/ws?token=AT_00_11":       true,
		"/AT_00_11":                true,
		"/x?y=MT_00":               true,
		"/x?token%3DAT_00":         true,
		"/%41T_00":                 true,
		"/x?a=%4d%54%5f00":         true,
		"/x?my_AT_00112233":        true,
		"/%2541T_00":               true,
		"/x?bad=%zz&a=%4d%54%5f00": true,
		"/x?at_00112233445566778899aabbccddeeff_00112233445566778899aabbccddeeff": true,
		"/FORMAT_1/STAT_2?CHAT_3=LOOK_AT_ME":                                      false,
		"/100%25":                                                                 false,
	} {
		if got := tokenInTarget(httptest.NewRequest("GET", target, nil)); got != want {
			t.Errorf("%s: %v, want %v", target, got, want)
		}
	}
	r := httptest.NewRequest("GET", "/", nil)
	if r.Host = "AT_00_11.example.com"; !tokenInTarget(r) {
		t.Error("a token in the Host was not seen")
	}
}
