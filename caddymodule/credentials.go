package caddymodule

import (
	"context"
	"github.com/millrace/millrace/wire"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dunglas/httpsfv"
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

// tokenInTarget reports whether the request's first line or host, or what stands
// for them in later versions, holds a token.
func tokenInTarget(r *http.Request) bool {
	return holdsToken(r.RequestURI) || holdsToken(r.Host) || holdsToken(r.Method) ||
		r.ProtoMajor > 1 && holdsToken(r.Proto) // :protocol of an extended CONNECT
}

// holdsToken reports whether a token is in the text, as it stands or
// percent-encoded, even twice or beside codes that are none.
func holdsToken(text string) bool { return holds(text, tokenLike) }

func holds(text string, shape *regexp.Regexp) bool {
	if !strings.ContainsAny(text, "_%") {
		return false // a token has one, or a code for it: no need for regular expressions
	}
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
		if !slices.ContainsFunc(values, func(v string) bool { return strings.Contains(v, "at.") || holdsToken(v) }) {
			continue
		}
		take := takeFromList
		if name == "Wt-Available-Protocols" {
			take = takeFromStructuredList
		}
		found, others, dropped := take(values)
		if len(found) > 0 {
			tokens[name] = found
		}
		taken = taken || len(found) > 0 || dropped
		delete(r.Header, name)
		if others != "" {
			r.Header.Set(name, others)
		}
	}
	if !taken {
		return r, false
	}
	return r.WithContext(context.WithValue(r.Context(), tokensKey{}, tokens)), true
}

// takeFromList takes the tokens from a list as Sec-WebSocket-Protocol has it, and
// drops those that stand there by mistake.
func takeFromList(values []string) (tokens []string, others string, dropped bool) {
	var left []string
	for _, entry := range strings.Split(strings.Join(values, ","), ",") {
		entry = strings.TrimSpace(entry)
		if token, ok := strings.CutPrefix(strings.Trim(entry, `"`), "at."); ok {
			tokens = append(tokens, token)
		} else if holdsToken(entry) {
			dropped = true
		} else if entry != "" {
			left = append(left, entry)
		}
	}
	return tokens, strings.Join(left, ", "), dropped
}

// takeFromStructuredList takes them from WT-Available-Protocols, a list of strings
// in the sense of RFC 9651. A list that does not parse counts for nothing there:
// of one that holds tokens, nothing is left.
func takeFromStructuredList(values []string) (tokens []string, others string, dropped bool) {
	list, err := httpsfv.UnmarshalList(values)
	if err != nil {
		tokens, _, _ = takeFromList(values)
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
		if err != nil || holdsToken(text) || strings.Contains(text, `"at.`) {
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

// protocolName returns what a member of a structured list names, quoted as it
// should be or not; empty: nothing.
func protocolName(member httpsfv.Member) string {
	item, ok := member.(httpsfv.Item)
	if !ok {
		return ""
	}
	switch name := item.Value.(type) {
	case string:
		return name
	case httpsfv.Token:
		return string(name)
	}
	return ""
}

// offersSubprotocol reports whether a WebTransport client offers ours, in quotes.
func offersSubprotocol(r *http.Request) bool {
	list, err := httpsfv.UnmarshalList(r.Header["Wt-Available-Protocols"])
	return err == nil && slices.ContainsFunc(list, func(member httpsfv.Member) bool {
		item, ok := member.(httpsfv.Item)
		return ok && item.Value == wire.Subprotocol
	})
}

// offeredTokens returns the tokens that the guard took from a subprotocol list.
func offeredTokens(r *http.Request, header string) []string {
	tokens, _ := r.Context().Value(tokensKey{}).(map[string][]string)
	return tokens[header]
}

// offeredToken returns the token of a handshake, as it came, and whether there is
// one: that of the header Authorization, or else that of the subprotocol list.
// wrong says what makes the handshake malformed; empty: nothing.
func offeredToken(r *http.Request, list string, withSubprotocol bool) (token string, given bool, wrong string) {
	entries := offeredTokens(r, http.CanonicalHeaderKey(list))
	headers := r.Header.Values("Authorization")
	switch {
	case len(entries) > 1:
		return "", false, "more than one at. entry in " + list
	case len(entries) == 1 && !withSubprotocol:
		return "", false, "an at. entry in " + list + " needs " + wire.Subprotocol + " beside it"
	case len(headers) > 1:
		return "", false, "more than one Authorization header"
	case len(entries) == 1:
		token, given = entries[0], true
	}
	if len(headers) == 1 {
		if scheme, bearer, _ := strings.Cut(headers[0], " "); strings.EqualFold(scheme, "Bearer") {
			token, given = strings.Trim(bearer, " "), true
		}
	}
	return token, given, ""
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
			if holds(v, tokenPart) {
				values[i], found = redacted, true
			}
		}
	}
	return found
}
