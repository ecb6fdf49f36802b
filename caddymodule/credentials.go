package caddymodule

import (
	"context"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const redacted = "[redacted]"

func redact(text string) string {
	if holdsToken(text) {
		return redacted
	}
	return text
}

var (
	// tokenLike finds a token, or the start of one, but not FORMAT_1 or LOOK_AT_ME.
	tokenLike = regexp.MustCompile(`(^|[^A-Za-z0-9_])(AT|MT)_|` + tokenPart.String())
	// tokenPart finds a token, or so much of one that it is no accident.
	tokenPart = regexp.MustCompile(`(AT|MT)_[0-9A-Fa-f]{8}|` + tokenShape.String())
	// tokenShape finds a whole token, whatever letters it starts with.
	tokenShape  = regexp.MustCompile(`[0-9A-Fa-f]{32}_[0-9A-Fa-f]{32}`)
	percentCode = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)
)

// tokenInTarget reports whether the request's first line or host holds a token.
func tokenInTarget(r *http.Request) bool {
	return holdsToken(r.RequestURI) || holdsToken(r.Host) || holdsToken(r.Method)
}

// holdsToken reports whether a token is in the text, as it stands or
// percent-encoded, even twice or beside codes that are none.
func holdsToken(text string) bool { return holds(text, tokenLike) }

func holds(text string, shape *regexp.Regexp) bool {
	for range 3 {
		if shape.MatchString(text) {
			return true
		}
		decoded := percentCode.ReplaceAllStringFunc(text, func(code string) string {
			c, _ := strconv.ParseUint(code[1:], 16, 8) // two hex digits parse
			return string([]byte{byte(c)})
		})
		if decoded == text {
			break
		}
		text = decoded
	}
	return false
}

// The lists in which a browser's token travels (docs/protocol.md, WebSocket).
var subprotocolHeaders = []string{"Sec-Websocket-Protocol", "Wt-Available-Protocols"}

// tokensKey is where a request's context keeps the tokens that the guard took:
// a map from the header to its entries.
type tokensKey struct{}

// takeTokens moves the `at.` entries of the subprotocol lists from the headers
// into the request's context, where [offeredTokens] finds them. Entries that are
// a token by mistake, without `at.`, are dropped, and tokens in other headers are
// redacted. It reports whether it changed anything.
func takeTokens(r *http.Request) (*http.Request, bool) {
	tokens := map[string][]string{}
	taken := redactHeaders(r.Header)
	for _, name := range subprotocolHeaders {
		values := r.Header[name]
		if !slices.ContainsFunc(values, func(v string) bool { return strings.Contains(v, "at.") || tokenLike.MatchString(v) }) {
			continue
		}
		var others []string
		for _, entry := range strings.Split(strings.Join(values, ","), ",") {
			entry = strings.TrimSpace(entry)
			if token, ok := strings.CutPrefix(strings.Trim(entry, `"`), "at."); ok {
				tokens[name] = append(tokens[name], token)
				taken = true
			} else if tokenLike.MatchString(entry) {
				taken = true
			} else if entry != "" {
				others = append(others, entry)
			}
		}
		delete(r.Header, name)
		if len(others) > 0 {
			r.Header.Set(name, strings.Join(others, ", "))
		}
	}
	if !taken {
		return r, false
	}
	return r.WithContext(context.WithValue(r.Context(), tokensKey{}, tokens)), true
}

// offeredTokens returns the tokens that the guard took from a subprotocol list.
func offeredTokens(r *http.Request, header string) []string {
	tokens, _ := r.Context().Value(tokensKey{}).(map[string][]string)
	return tokens[header]
}

// redactHeaders redacts tokens that stand where they have no business, such as a
// Referer, and reports whether there were any. Caddy redacts these itself:
// Authorization, Proxy-Authorization, Cookie.
func redactHeaders(headers http.Header) (found bool) {
	for name, values := range headers {
		if name == "Authorization" || name == "Proxy-Authorization" || name == "Cookie" || slices.Contains(subprotocolHeaders, name) {
			continue
		}
		for i, v := range values {
			if strings.ContainsAny(v, "_%") && holds(v, tokenPart) { // most have neither
				values[i], found = redacted, true
			}
		}
	}
	return found
}
