package credentials

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/dunglas/httpsfv"
)

// Redacted replaces a token.
const Redacted = "[redacted]"

// Inspection is the search of a guard for tokens in one request. It reads each value
// once, and equal long values only once, since HTTP/2 repeats a value with one byte on
// the wire. The zero value is ready for a request. It is not for concurrent use.
type Inspection struct {
	findings map[string]finding // of long values
	steps    int                // bytes that were compared, see [findToken]
}

// longValue is the length in bytes from which looking a value up costs less than reading
// it again.
const longValue = 64

func (in *Inspection) find(text string) finding {
	if strings.IndexByte(text, '_') < 0 && strings.IndexByte(text, '%') < 0 {
		return foundNothing // a token contains a `_`, which may be percent-encoded
	}
	if found, ok := in.findings[text]; ok {
		return found
	}
	found, steps := findToken(text)
	in.steps += steps
	if len(text) >= longValue {
		if in.findings == nil {
			in.findings = map[string]finding{}
		}
		in.findings[text] = found
	}
	return found
}

func (in *Inspection) holdsToken(text string) bool { return in.find(text) >= foundStart }

// Redact returns the text, or [Redacted] if it holds a token.
func (in *Inspection) Redact(text string) string {
	if in.holdsToken(text) {
		return Redacted
	}
	return text
}

// TokenInTarget reports whether the request's first line or host, or the pseudo-header
// fields that replace them in later versions, hold a token.
func (in *Inspection) TokenInTarget(r *http.Request) bool {
	return in.holdsToken(r.RequestURI) || in.holdsToken(r.Host) || in.holdsToken(r.Method) ||
		r.ProtoMajor > 1 && in.holdsToken(r.Proto) // :protocol of an extended CONNECT
}

// The lists in which a browser sends its token (docs/protocol.md, WebSocket).
var subprotocolHeaders = []string{"Sec-Websocket-Protocol", "Wt-Available-Protocols"}

// tokenList is what the guard took from a subprotocol list.
type tokenList struct {
	tokens  []string // of the `at.` entries, in order
	tooLong bool     // more than maxEntries: the list was dropped, and nothing taken
}

// tokensKey is the key of what the guard took in a request's context: a
// map[string]tokenList, by header. A request that has it was inspected.
type tokensKey struct{}

// Inspected reports whether another guard has inspected the request before. An
// inspection that cost almost nothing is not recorded.
func Inspected(r *http.Request) bool { return r.Context().Value(tokensKey{}) != nil }

// TakeTokens moves the `at.` entries of the subprotocol lists from the headers
// into the request's context, where [Offered] finds them. It drops entries that are a
// token by mistake, without `at.`, and redacts tokens in other headers. A list with
// tokens and more than 64 entries is removed, and nothing is taken from it. TakeTokens
// reports whether it changed any header.
func (in *Inspection) TakeTokens(r *http.Request) (*http.Request, bool) {
	var lists map[string]tokenList
	taken := in.redactHeaders(r.Header)
	for _, name := range subprotocolHeaders {
		values := r.Header[name]
		if !slices.ContainsFunc(values, func(v string) bool { return hasEntry(v) || in.holdsToken(v) }) {
			continue
		}
		var list tokenList
		var others string
		var dropped bool
		switch {
		case exceedsEntries(values):
			list.tooLong, dropped = true, true
		case name == "Wt-Available-Protocols":
			list.tokens, others, dropped = in.takeFromStructuredList(values)
		default:
			list.tokens, others, dropped = in.takeFromList(values)
		}
		if len(list.tokens) > 0 || list.tooLong {
			if lists == nil {
				lists = map[string]tokenList{}
			}
			lists[name] = list
		}
		taken = taken || len(list.tokens) > 0 || dropped
		delete(r.Header, name)
		if others != "" {
			r.Header.Set(name, others)
		}
	}
	if !taken && in.steps == 0 {
		return r, false // inspecting again costs less than recording that this was inspected
	}
	return r.WithContext(context.WithValue(r.Context(), tokensKey{}, lists)), taken
}

// hasEntry reports whether an entry of a list may start with `at.`, which also occurs
// within many words.
func hasEntry(list string) bool {
	for rest := list; ; {
		at := strings.Index(rest, "at.")
		if at < 0 {
			return false
		}
		if at == 0 && len(rest) == len(list) || at > 0 && classes[rest[at-1]] == 0 {
			return true
		}
		rest = rest[at+2:] // from the dot on: no entry starts right after it
	}
}

// maxEntries bounds a subprotocol list from which tokens are taken: its members with
// their parameters and the items of inner lists.
const maxEntries = 64

func exceedsEntries(values []string) bool {
	entries := len(values)
	for _, v := range values {
		before := byte(' ')
		for i := range len(v) {
			c := v[i]
			if c == ',' || c == ';' || c == ' ' && before != ' ' && before != ',' && before != ';' {
				entries++
			}
			before = c
		}
	}
	return entries > maxEntries
}

// takeFromList takes the tokens from a list in the syntax of Sec-WebSocket-Protocol, and
// drops those that are there by mistake.
func (in *Inspection) takeFromList(values []string) (tokens []string, others string, dropped bool) {
	var left []string
	for entry := range strings.SplitSeq(strings.Join(values, ","), ",") {
		entry = strings.TrimSpace(entry)
		if token, ok := strings.CutPrefix(strings.Trim(entry, `"`), "at."); ok {
			tokens = append(tokens, token)
		} else if in.holdsToken(entry) {
			dropped = true
		} else if entry != "" {
			left = append(left, entry)
		}
	}
	return tokens, strings.Join(left, ", "), dropped
}

// takeFromStructuredList takes the tokens from WT-Available-Protocols, a list of strings
// as RFC 9651 defines it. A list that does not parse is ignored by servers: if it holds
// tokens, it is removed.
func (in *Inspection) takeFromStructuredList(values []string) (tokens []string, others string, dropped bool) {
	list, err := httpsfv.UnmarshalList(values)
	if err != nil {
		tokens, _, _ = in.takeFromList(values)
		return tokens, "", true
	}
	var left httpsfv.List
	for _, member := range list {
		if token, ok := strings.CutPrefix(protocolName(member), "at."); ok {
			tokens = append(tokens, token)
			continue
		}
		// A token may also be in a parameter, or in an inner list.
		text, err := httpsfv.Marshal(httpsfv.List{member})
		if err != nil || in.holdsToken(text) || strings.Contains(text, `"at.`) {
			dropped = true
			continue
		}
		left = append(left, member)
	}
	if len(left) > 0 {
		if others, err = httpsfv.Marshal(left); err != nil {
			return tokens, "", true
		}
	}
	return tokens, others, dropped
}

// redactHeaders redacts tokens in headers that must not hold any, such as Referer, and
// reports whether there were any. Caddy itself redacts Authorization,
// Proxy-Authorization and Cookie.
func (in *Inspection) redactHeaders(headers http.Header) (found bool) {
	for name, values := range headers {
		if name == "Authorization" || name == "Proxy-Authorization" || name == "Cookie" || slices.Contains(subprotocolHeaders, name) {
			continue
		}
		for i, v := range values {
			if in.find(v) == foundToken {
				values[i], found = Redacted, true
			}
		}
	}
	return found
}
