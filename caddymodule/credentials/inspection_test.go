package credentials

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

func TestTakeTokens(t *testing.T) {
	const token = "AT_00_11"
	for _, c := range []struct {
		name, list string
		tokens     []string
		left       string
	}{
		{"none", "chat, what.ever", nil, "chat, what.ever"},
		{"usual", "llps.v1, at." + token, []string{token}, "llps.v1"},
		{"tight, first", "at." + token + ",llps.v1", []string{token}, "llps.v1"},
		{"alone", "at." + token, []string{token}, ""},
		{"two headers", "at." + token + "|llps.v1, at.x", []string{token, "x"}, "llps.v1"},
		{"forgotten at.", "llps.v1, " + token, nil, "llps.v1"},
		{"empty entry", "llps.v1,at.", []string{""}, "llps.v1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := httptest.NewRequest("GET", "/", nil)
			r.Header[wsList] = strings.Split(c.list, "|")
			clean, changed := new(Inspection).TakeTokens(r)
			if got := takenTokens(clean, wsList).tokens; !slices.Equal(got, c.tokens) || changed != (c.list != c.left) {
				t.Errorf("took %q, %v; want %q", got, changed, c.tokens)
			}
			if _, there := clean.Header[wsList]; clean.Header.Get(wsList) != c.left || there != (c.left != "") || len(clean.Header) > 1 {
				t.Errorf("left %v, want %q", clean.Header, c.left)
			}
		})
	}
}

// TestTakeStructuredTokens covers what a structured list may hold. No token stays,
// wherever it stands.
func TestTakeStructuredTokens(t *testing.T) {
	const token = "AT_00112233445566778899aabbccddeeff_00112233445566778899aabbccddeeff"
	for _, c := range []struct {
		name   string
		values []string
		tokens []string
		left   string // of the header
		offers bool   // our subprotocol
	}{
		{"none", []string{`"llps.v1", "chat"`}, nil, `"llps.v1", "chat"`, true},
		{"usual", []string{`"llps.v1", "at.` + token + `"`}, []string{token}, `"llps.v1"`, true},
		{"tight, first", []string{`"at.` + token + `","llps.v1"`}, []string{token}, `"llps.v1"`, true},
		{"two headers", []string{`"at.` + token + `"`, `"llps.v1", "at.x"`}, []string{token, "x"}, `"llps.v1"`, true},
		{"alone", []string{`"at.` + token + `"`}, []string{token}, "", false},
		{"a comma in a string", []string{`"a,b", "at.` + token + `", "llps.v1"`}, []string{token}, `"a,b", "llps.v1"`, true},
		{"an escape", []string{`"at.\"x", "llps.v1"`}, []string{`"x`}, `"llps.v1"`, true},
		{"a parameter of the entry", []string{`"at.` + token + `";q=1, "llps.v1"`}, []string{token}, `"llps.v1"`, true},
		{"a parameter of another", []string{`"llps.v1";t="` + token + `", "chat";q=1`}, nil, `"chat";q=1`, false},
		{"without quotes", []string{`llps.v1, at.` + token}, []string{token}, `llps.v1`, false},
		{"forgotten at.", []string{`"llps.v1", "` + token + `"`}, nil, `"llps.v1"`, true},
		{"encoded", []string{`"llps.v1", "AT%5F` + token[3:] + `"`}, nil, `"llps.v1"`, true},
		{"in an inner list", []string{`("at.x" "` + token + `"), "llps.v1"`}, nil, `"llps.v1"`, true},
		{"a quote left open", []string{`"llps.v1", "at.` + token}, []string{token}, "", false},
		{"no list at all", []string{`=;at.` + token}, nil, "", false},
		{"a wrong character", []string{`"llps.v1", "at.` + token + `", "ü"`}, []string{token}, "", false},
		{"malformed, without a token", []string{`"llps.v1", "chat`}, nil, `"llps.v1", "chat`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := httptest.NewRequest("GET", "/wt", nil)
			r.Header["Wt-Available-Protocols"] = slices.Clone(c.values)
			clean, _ := new(Inspection).TakeTokens(r)
			if got := takenTokens(clean, "Wt-Available-Protocols").tokens; !slices.Equal(got, c.tokens) {
				t.Errorf("took %q, want %q", got, c.tokens)
			}
			left := strings.Join(clean.Header["Wt-Available-Protocols"], "|")
			if left != c.left || new(Inspection).holdsToken(left) {
				t.Errorf("left %q, want %q", left, c.left)
			}
			if got := WebTransportOffers(clean); got != c.offers {
				t.Errorf("offers our subprotocol: %v, want %v", got, c.offers)
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
	if !new(Inspection).redactHeaders(headers) {
		t.Error("found nothing")
	}
	for name, want := range map[string][]string{
		"Referer": {Redacted, "https://localhost/?look_at_me"}, "X-Api-Key": {Redacted}, "X-Escaped": {Redacted},
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
		if got := new(Inspection).TokenInTarget(httptest.NewRequest("GET", target, nil)); got != want {
			t.Errorf("%s: %v, want %v", target, got, want)
		}
	}
	r := httptest.NewRequest("GET", "/", nil)
	if r.Host = "AT_00_11.example.com"; !new(Inspection).TokenInTarget(r) {
		t.Error("a token in the Host was not seen")
	}
}

func TestOfferedToken(t *testing.T) {
	for _, c := range []struct {
		name        string
		entries     string // of the subprotocol list
		headers     []string
		subprotocol bool
		token       string
		given       bool
		wrong       bool
	}{
		{"nothing", "", nil, true, "", false, false},
		{"header", "", []string{"Bearer AT_1"}, false, "AT_1", true, false},
		{"header, written oddly", "", []string{"bearer  AT_1 "}, false, "AT_1", true, false},
		{"header without token", "", []string{"Bearer"}, true, "", true, false},
		{"another scheme", "", []string{"Basic x"}, true, "", false, false},
		{"two headers", "", []string{"Bearer AT_1", "Bearer AT_1"}, true, "", false, true},
		{"two headers of another scheme", "", []string{"Basic x", "Basic x"}, true, "", false, true},
		{"entry", `"at.AT_1"`, nil, true, "AT_1", true, false},
		{"entry without token", `"at."`, nil, true, "", true, false},
		{"entry without subprotocol", `"at.AT_1"`, nil, false, "", false, true},
		{"two entries", `"at.AT_1", "at.AT_1"`, nil, true, "", false, true},
		{"both", `"at.AT_1"`, []string{"Bearer AT_2"}, true, "AT_2", true, false},
		{"entry and another scheme", `"at.AT_1"`, []string{"Basic x"}, true, "AT_1", true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := httptest.NewRequest("GET", "/wt", nil)
			r.Header["Wt-Available-Protocols"] = []string{c.entries}
			r.Header["Authorization"] = c.headers
			r, _ = new(Inspection).TakeTokens(r)
			token, given, wrong := Offered(r, "WT-Available-Protocols", c.subprotocol)
			if token != c.token || given != c.given || (wrong != "") != c.wrong {
				t.Errorf("got %q, %v, %q", token, given, wrong)
			}
		})
	}
}
