package credentials

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/dunglas/httpsfv"
)

// headersByDefinition is what a guard makes of headers, but for the structured
// list: with the definition of what a token is, and without regard to the cost.
func headersByDefinition(headers http.Header) (left http.Header, tokens []string) {
	left = headers.Clone()
	for name, values := range left {
		if slices.Contains([]string{"Authorization", "Proxy-Authorization", "Cookie", wsList, wtList}, name) {
			continue
		}
		for i, v := range values {
			if findByDefinition(v) == foundToken {
				values[i] = Redacted
			}
		}
	}
	entries := slices.DeleteFunc(entriesOf(left[wsList]), func(entry string) bool {
		token, ok := strings.CutPrefix(strings.Trim(entry, `"`), "at.")
		if ok {
			tokens = append(tokens, token)
		}
		return ok || findByDefinition(entry) > foundNothing
	})
	left[wsList] = entries
	return left, tokens
}

const (
	wsList = "Sec-Websocket-Protocol"
	wtList = "Wt-Available-Protocols"
)

// entriesOf is a subprotocol list without what is only its writing.
func entriesOf(values []string) []string {
	var entries []string
	for entry := range strings.SplitSeq(strings.Join(values, ","), ",") {
		if entry = strings.TrimSpace(entry); entry != "" {
			entries = append(entries, entry)
		}
	}
	return entries
}

// checkHeaders has a guard take the tokens of a request, and compares.
func checkHeaders(t *testing.T, headers http.Header) {
	t.Helper()
	length := 0
	for name, values := range headers {
		for _, v := range values {
			length += len(name) + len(v)
		}
	}
	want, wantTokens := headersByDefinition(headers)
	wantStructured, parses := structuredTokens(headers[wtList])

	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header = headers.Clone()
	var in Inspection
	clean, changed := in.TakeTokens(r)
	if in.steps > 16*length {
		t.Errorf("%d steps for %d bytes", in.steps, length)
	}
	got := clean.Header.Clone()
	if text := strings.Join(got[wtList], ","); findByDefinition(text) > foundNothing || strings.Contains(text, `"at.`) {
		t.Errorf("a token was left in %s: %q", wtList, text)
	}
	switch tooLong := exceedsEntries(headers[wtList]); {
	case tooLong && len(wantStructured) > 0 && !takenTokens(clean, wtList).tooLong:
		t.Error("the structured list is too long, and was not called so")
	case parses && !tooLong && !slices.Equal(takenTokens(clean, wtList).tokens, wantStructured):
		t.Errorf("took %q from %s, want %q", takenTokens(clean, wtList).tokens, wtList, wantStructured)
	}
	if exceedsEntries(headers[wsList]) {
		if len(wantTokens) > 0 && (!takenTokens(clean, wsList).tooLong || got[wsList] != nil) {
			t.Error("the list is too long, and was not dropped")
		}
		wantTokens, want[wsList], got[wsList] = nil, nil, nil
	}
	if tokens := takenTokens(clean, wsList).tokens; !slices.Equal(tokens, wantTokens) {
		t.Errorf("took %q, want %q", tokens, wantTokens)
	}
	got[wsList] = entriesOf(got[wsList])
	delete(got, wtList)
	delete(want, wtList)
	for name, values := range want {
		if !slices.Equal(got[name], values) {
			t.Errorf("left %s: %q, want %q", name, got[name], values)
		}
	}
	if !changed && takenTokens(clean, wsList).tokens != nil {
		t.Error("took tokens, and said that it changed nothing")
	}
	// What one guard leaves the next finds clean.
	again := httptest.NewRequest(http.MethodGet, "/", nil)
	again.Header = clean.Header.Clone()
	if _, changed := new(Inspection).TakeTokens(again); changed {
		t.Errorf("of what was left something was taken: %q, %q", clean.Header, again.Header)
	}
}

// structuredTokens returns what a list of RFC 9651 has in its `at.` strings.
func structuredTokens(values []string) (tokens []string, parses bool) {
	list, err := httpsfv.UnmarshalList(values)
	for _, member := range list {
		if token, ok := strings.CutPrefix(protocolName(member), "at."); ok {
			tokens = append(tokens, token)
		}
	}
	return tokens, err == nil
}

var headerSeeds = [][4]string{ // a name and its value, and both lists
	{"Referer", "https://localhost/?t=AT_" + someID + "_" + someID, "", ""},
	{"X-Escaped", "AT%5F" + someID, "llps.v1, at.AT_00_11", `"llps.v1", "at.AT_00_11"`},
	{"Authorization", "Bearer AT_" + someID + "_" + someID, "chat, what.ever", `"chat.v1", "unclosed`},
	{"Cookie", "a=AT_" + someID, "at.a,,at.b , \"at.c\"", `("at.x" "AT_1");q=1, at.y;z="MT_1"`},
	{"User-Agent", "LOOK_AT_ME FORMAT_1", "AT_00112233", `%"%41T_1", :YXQu:, ?1, 12`},
	{"X-Many", "%2541T%255F" + someID, strings.Repeat("a,", 100) + "at.x", strings.Repeat("a;", 70) + `b, "at.x"`},
	{"X-Few", "%", "x-at.y,flat.z,at.\u00a0", `"x\"at.y", "\\at.z", "at.\\"`},
}

func TestHeadersByDefinition(t *testing.T) {
	for _, s := range headerSeeds {
		checkHeaders(t, headersOf(s[0], s[1], s[2], s[3]))
	}
}

func headersOf(name, value, list, structured string) http.Header {
	headers := http.Header{}
	for name, value := range map[string]string{name: value, wsList: list, wtList: structured} {
		if value != "" {
			headers.Add(name, value)
		}
	}
	return headers
}

// FuzzHeaders sends headers through a guard.
func FuzzHeaders(f *testing.F) {
	for _, s := range headerSeeds {
		f.Add(s[0], s[1], s[2], s[3])
	}
	f.Fuzz(func(t *testing.T, name, value, list, structured string) {
		if len(value)+len(list)+len(structured) > maxFuzzed {
			return
		}
		checkHeaders(t, headersOf(http.CanonicalHeaderKey(name), value, list, structured))
	})
}
