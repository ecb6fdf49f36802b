package credentials

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/dunglas/httpsfv"
	"github.com/gorilla/websocket"

	"github.com/millrace/millrace/wire"
)

// protocolName returns the name in a member of a structured list, whether or not it is
// quoted as it should be; empty: there is none.
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

// WebSocketOffers reports whether a WebSocket client offers the subprotocol `llps.v1`.
func WebSocketOffers(r *http.Request) bool {
	return !exceedsEntries(r.Header["Sec-Websocket-Protocol"]) && slices.Contains(websocket.Subprotocols(r), wire.Subprotocol)
}

// WebSocketTakesRefusals reports whether a WebSocket client that offers `llps.v1` has refusals told inside
// the connection, with the entry `refusal.v1`.
func WebSocketTakesRefusals(r *http.Request) bool {
	return WebSocketOffers(r) && slices.Contains(websocket.Subprotocols(r), wire.SubprotocolRefusal)
}

// WebTransportOffers reports whether a WebTransport client offers it, in quotes.
func WebTransportOffers(r *http.Request) bool {
	values := r.Header["Wt-Available-Protocols"]
	if exceedsEntries(values) {
		return false
	}
	list, err := httpsfv.UnmarshalList(values)
	return err == nil && slices.ContainsFunc(list, func(member httpsfv.Member) bool {
		item, ok := member.(httpsfv.Item)
		return ok && item.Value == wire.Subprotocol
	})
}

// takenTokens returns what the guard took from a subprotocol list.
func takenTokens(r *http.Request, header string) tokenList {
	lists, _ := r.Context().Value(tokensKey{}).(map[string]tokenList)
	return lists[header]
}

// Offered returns the token of a handshake, unverified, and whether there is one: that of
// the header Authorization, or else that of the subprotocol list in the header list.
// withSubprotocol says whether that list also offers `llps.v1`. malformed says why the
// handshake is malformed; empty: it is not.
func Offered(r *http.Request, list string, withSubprotocol bool) (token string, given bool, malformed string) {
	fromList := takenTokens(r, http.CanonicalHeaderKey(list))
	entries := fromList.tokens
	headers := r.Header.Values("Authorization")
	switch {
	case fromList.tooLong:
		return "", false, fmt.Sprintf("%s has a token among more than %d entries", list, maxEntries)
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
