package integration

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/quic-go/webtransport-go"

	"github.com/millrace/millrace/wire"
)

// dialAuth opens a session as a browser does that can set no header: the token
// is the first message.
func (e *edge) dialAuth(token string) *socket {
	e.t.Helper()
	s := e.mustOpenWebTransport(handshake{})
	s.sendLine("AUTH:" + token)
	s.expectText("OK:AUTH")
	return s
}

// The three ways in which a token comes.
func TestWebTransportAuthentication(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	token := e.issue(allowAll("room")).Token
	wrong := token[:len(token)-32] + strings.Repeat("0", 32)
	header := func(pairs ...string) http.Header {
		h := http.Header{}
		for i := 0; i < len(pairs); i += 2 {
			h.Add(pairs[i], pairs[i+1])
		}
		return h
	}
	const list = "WT-Available-Protocols"
	for _, row := range []struct {
		name     string
		header   http.Header
		protocol string // WT-Protocol of the answer
		auth     bool   // the token follows as a line
	}{
		{"header", header("Authorization", "Bearer "+token), "", false},
		{"header in lower case", header("Authorization", "bearer "+token), "", false},
		{"header with llps.v1", header("Authorization", "Bearer "+token, list, `"llps.v1"`), `"llps.v1"`, false},
		{"header with another protocol", header("Authorization", "Bearer "+token, list, `"chat"`), "", false},
		{"header wins", header("Authorization", "Bearer "+token, list, `"llps.v1", "at.`+wrong+`"`), `"llps.v1"`, false},
		{"subprotocol", header(list, `"llps.v1", "at.`+token+`"`), `"llps.v1"`, false},
		{"subprotocol, token first", header(list, `"at.`+token+`","llps.v1"`), `"llps.v1"`, false},
		{"subprotocol with others between", header(list, `"chat", "at.`+token+`", "mqtt", "llps.v1"`), `"llps.v1"`, false},
		{"subprotocol in two headers", header(list, `"at.`+token+`"`, list, `"llps.v1"`), `"llps.v1"`, false},
		{"another scheme is ignored", header("Authorization", "Basic eDp5", list, `"llps.v1", "at.`+token+`"`), `"llps.v1"`, false},
		{"line", nil, "", true},
		{"line with llps.v1", header(list, `"llps.v1"`), `"llps.v1"`, true},
		{"line, another scheme in the header", header("Authorization", "Basic eDp5"), "", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			e := e.with(t)
			conn := e.dialQUIC(nil)
			// The library wants to have offered what is chosen; the row says how.
			transport := new(webtransport.Transport)
			if row.protocol != "" {
				transport.ApplicationProtocols = []string{"llps.v1"}
			}
			t.Cleanup(func() { transport.Close() })
			client, err := transport.NewClientConn(conn)
			if err != nil {
				t.Fatal(err)
			}
			session, a, err := dialSession(client, handshake{URL: e.httpsURL("/wt"), Header: row.header})
			if session == nil {
				t.Fatalf("got %d %s, %v; want a session", a.Status, a.Body, err)
			}
			if got := a.Header.Get("WT-Protocol"); got != row.protocol {
				t.Errorf("got WT-Protocol %q, want %q", got, row.protocol)
			}
			if all := fmt.Sprint(a.Header); strings.Contains(all, token[:len(token)-33]) {
				t.Errorf("the answer repeats the token: %s", all)
			}
			s := e.onSession(conn, session)
			if row.auth {
				s.sendLine("AUTH:" + token)
				s.expectText("OK:AUTH")
			}
			s.subscribe("paint.room", "x")
			s.publish("paint.room", "x", "hello")
			s.expectDeliver("paint.room", "x", "hello", "x")
			s.sendLine("AUTH:" + token) // not a second time
			s.expectText("ERR:bad_request")
			s.close()
		})
	}
	t.Run("what follows the line waits", func(t *testing.T) {
		s := e.with(t).mustOpenWebTransport(handshake{})
		s.sendLine("AUTH:" + token)
		s.sendLine("SUB:paint.room:x")
		s.publish("paint.room", "x", "early")
		s.expectText("OK:AUTH")
		s.expectText("OK:SUB:paint.room:x")
		s.expectDeliver("paint.room", "x", "early", "x")
	})
}

// What is no handshake of WebTransport, or a malformed one.
func TestWebTransportHandshakeShape(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	token := e.issue(allowAll("room")).Token
	good := "Bearer " + token
	const list = "Wt-Available-Protocols"
	for _, row := range []struct {
		name   string
		header http.Header
	}{
		{"two Authorization", http.Header{"Authorization": {good, good}}},
		{"two Authorization of different schemes", http.Header{"Authorization": {"Basic eDp5", good}}},
		{"at. alone", http.Header{list: {`"at.` + token + `"`}}},
		{"at. beside another protocol", http.Header{list: {`"chat", "at.` + token + `"`}}},
		{"at. alone beside a good header", http.Header{"Authorization": {good}, list: {`"at.` + token + `"`}}},
		{"two at.", http.Header{list: {`"llps.v1", "at.` + token + `", "at.` + token + `"`}}},
		{"two at. in two headers", http.Header{list: {`"llps.v1", "at.` + token + `"`, `"at.x"`}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			e := e.with(t)
			_, refused := e.openWebTransport(handshake{Header: row.header})
			refused.problem(t, http.StatusBadRequest, "bad_handshake")
			checkNoStore(t, refused)
		})
	}
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"} {
		t.Run(method, func(t *testing.T) {
			e := e.with(t)
			for _, l := range []http.RoundTripper{e.http3(), e.http2()} {
				got := e.roundTrip(l, method, "/wt", http.Header{"Authorization": {good}})
				if got.Status != http.StatusMethodNotAllowed || method == "HEAD" && len(got.Body) != 0 {
					t.Errorf("got %d %s, want 405", got.Status, got.Body)
				}
				checkAllow(t, got, "CONNECT")
				if method != "HEAD" {
					got.problem(t, http.StatusMethodNotAllowed, "method_not_allowed")
				}
			}
		})
	}
	t.Run("another path", func(t *testing.T) {
		_, refused := e.with(t).openWebTransport(handshake{URL: e.httpsURL("/wtx"), Token: token})
		if refused.Status != 404 || string(refused.Body) != "no such page" {
			t.Errorf("got %d %q, want the site's own answer", refused.Status, refused.Body)
		}
	})
	t.Run("the token in the URL", func(t *testing.T) {
		_, refused := e.with(t).openWebTransport(handshake{URL: e.httpsURL("/wt?token=" + token), Token: token})
		refused.problem(t, http.StatusBadRequest, "token_in_url")
	})
}

// An AUTH line is refused by an ERR line, which says little, and a close code,
// which says as much.
func TestWebTransportAuthRefused(t *testing.T) {
	t.Parallel()
	e := startEdge(t, regionalCaddyfile)
	valid, revoked := e.issue(allowAll("room")).Token, e.issue(allowAll("room")).Token
	e.revoke(e.master, revoked).decode(t, http.StatusOK, new(object))
	expired := e.issueExpired().Token
	id, zeros := valid[3:35], strings.Repeat("0", 32)
	const unauthorized = "ERR:unauthorized"
	for _, row := range []struct {
		name    string
		message string
		header  http.Header
		want    string
		code    wire.CloseCode
	}{
		{"malformed", "AUTH:AT_x", nil, unauthorized, wire.CloseUnauthorized},
		{"empty", "AUTH:", nil, unauthorized, wire.CloseUnauthorized},
		{"a master token", "AUTH:" + e.master, nil, unauthorized, wire.CloseUnauthorized},
		{"unknown", "AUTH:AT_" + zeros + "_" + zeros, nil, unauthorized, wire.CloseUnauthorized},
		{"wrong secret", "AUTH:AT_" + id + "_" + zeros, nil, unauthorized, wire.CloseUnauthorized},
		{"expired", "AUTH:" + expired, nil, unauthorized, wire.CloseUnauthorized},
		{"revoked", "AUTH:" + revoked, nil, unauthorized, wire.CloseUnauthorized},
		{"another line first", "PING", nil, unauthorized, wire.CloseUnauthorized},
		{"another command first", "SUB:paint.room:x", nil, unauthorized, wire.CloseUnauthorized},
		{"a frame first", string(rawPublish("paint.room", "x", "")), nil, unauthorized, wire.CloseUnauthorized},
		{"an empty message first", "", nil, unauthorized, wire.CloseUnauthorized},
		{"a message over 4 KiB first", "AUTH:" + strings.Repeat("A", 4096), nil, unauthorized, wire.CloseUnauthorized},
		{"address", "AUTH:" + e.limited(object{"allow_ip_masks": []string{"203.0.113.0/24"}}), nil, "ERR:forbidden:ip", wire.CloseForbidden},
		{"origin", "AUTH:" + e.limited(object{"allowed_ws_origin": []string{"https://app.example"}}), nil, "ERR:forbidden:origin", wire.CloseForbidden},
		{"another origin", "AUTH:" + e.limited(object{"allowed_ws_origin": []string{"https://app.example"}}), http.Header{"Origin": {"https://evil.example"}}, "ERR:forbidden:origin", wire.CloseForbidden},
		{"region", "AUTH:" + e.limited(object{"allow_regions": []string{"US"}}), nil, "ERR:forbidden:region", wire.CloseForbidden},
		{"protocol", "AUTH:" + e.limited(object{"allow_protocols": []string{"websocket"}}), nil, "ERR:forbidden:protocol", wire.CloseForbidden},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := e.with(t).mustOpenWebTransport(handshake{Header: row.header})
			kind := asText
			if wire.IsFrame([]byte(row.message)) {
				kind = asFrame
			}
			s.send(kind, []byte(row.message))
			s.expectText(row.want)
			s.expectClose(row.code)
		})
	}
	t.Run("address and origin that are allowed", func(t *testing.T) {
		s := e.with(t).mustOpenWebTransport(handshake{Header: http.Header{
			"X-Forwarded-For": {"203.0.113.5"}, "Origin": {"https://app.example"},
		}})
		s.sendLine("AUTH:" + e.limited(object{
			"allow_ip_masks": []string{"203.0.113.0/24"}, "allowed_ws_origin": []string{"https://app.example"},
			"allow_regions": []string{"EU"}, "allow_protocols": []string{"webtransport"},
		}))
		s.expectText("OK:AUTH")
		s.ping()
	})
}

// A client that does not authenticate has 5 s.
func TestWebTransportAuthTimeout(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	begin := time.Now()
	silent := e.mustOpenWebTransport(handshake{})
	slow := e.mustOpenWebTransport(handshake{})
	slow.must(slow.wt().writeBytes([]byte{0, 0, 0, 70, 'A', 'U', 'T', 'H', ':'})) // and no more
	streamless, _ := e.openSession(e.dialQUIC(nil), handshake{})
	for _, s := range []*socket{silent, slow} {
		s.expectText("ERR:unauthorized")
		s.expectClose(wire.CloseUnauthorized)
	}
	select {
	case <-streamless.Context().Done():
	case <-time.After(waitTimeout):
		t.Fatal("a session without a stream stays")
	}
	var end *closed
	if err := sessionEnd(streamless); !errors.As(err, &end) || end.code != wire.CloseUnauthorized {
		t.Errorf("the session without a stream ended with %v, want close code %d", err, wire.CloseUnauthorized)
	}
	if took := time.Since(begin); took < 4500*time.Millisecond || took > waitTimeout/2 {
		t.Errorf("the sessions were closed after %v, want 5s", took)
	}
}

// 16 sessions from one address may be unauthenticated; authenticated ones do
// not count, and the end of a session makes room.
func TestWebTransportUnauthenticatedLimit(t *testing.T) {
	t.Parallel()
	e := startEdge(t, racingCaddyfile)
	token := e.issue(allowAll("room")).Token
	at := func(address string) handshake { return handshake{Header: http.Header{"X-Forwarded-For": {address}}} }
	here := at("203.0.113.5")
	var waiting []*socket
	for range 16 {
		waiting = append(waiting, e.mustOpenWebTransport(here))
	}
	_, refused := e.openWebTransport(here)
	refused.problem(t, http.StatusTooManyRequests, "too_many_unauthenticated")
	if refused.Header.Get("Retry-After") == "" {
		t.Error("the refusal has no Retry-After")
	}
	checkNoStore(t, refused)
	e.mustOpenWebTransport(at("203.0.113.6"))
	here.Token = token
	e.mustOpenWebTransport(here).ping()

	here.Token = ""
	waiting[0].sendLine("AUTH:" + token)
	waiting[0].expectText("OK:AUTH")
	waiting[1].sendLine("AUTH:AT_x")
	waiting[1].expectText("ERR:unauthorized")
	waiting[1].expectClose(wire.CloseUnauthorized)
	e.mustOpenWebTransport(here)
	e.poll("the session that was refused to make room", func() bool {
		s, _ := e.openWebTransport(here)
		return s != nil
	})
	waiting[0].ping()
}

// Whoever guesses tokens is held up, in the handshake and with AUTH lines.
func TestWebTransportFailuresAreLimited(t *testing.T) {
	t.Parallel()
	e := startEdge(t, racingCaddyfile)
	token := e.issue(allowAll("room")).Token
	conn := e.dialQUIC(nil)
	transport := &webtransport.Transport{}
	defer transport.Close()
	client, err := transport.NewClientConn(conn) // one for all: the guesses must be quick
	if err != nil {
		t.Fatal(err)
	}
	here := http.Header{"X-Forwarded-For": {"203.0.113.77"}}
	attempt := func(token string, header http.Header) answer {
		t.Helper()
		session, a, err := dialSession(client, handshake{URL: e.httpsURL("/wt"), Token: token, Header: header})
		if err != nil {
			t.Fatal(err)
		}
		if session != nil {
			if err := session.CloseWithError(0, ""); err != nil {
				t.Fatal(err)
			}
		}
		return a
	}
	guess := func() answer { return attempt("AT_x", here) }
	held, failures := guessUntilLimited(t, guess)
	held.problem(t, http.StatusTooManyRequests, "too_many_failures")
	if failures < 20 || held.Header.Get("Retry-After") != "1" {
		t.Errorf("held up after %d failures with Retry-After %q, want 20 to be answered, and 1", failures, held.Header.Get("Retry-After"))
	}
	if got := attempt(token, http.Header{"X-Forwarded-For": {"203.0.113.78"}}); got.Status != http.StatusOK {
		t.Errorf("another address got %d %s, want 200", got.Status, got.Body)
	}
	guessUntilLimited(t, guess) // a second may have passed
	if got := attempt(token, here); got.Status != http.StatusOK {
		t.Fatalf("a valid token from where somebody guesses got %d %s, want 200", got.Status, got.Body)
	}
	e.poll("the address to be heard again", func() bool { return guess().Status == http.StatusUnauthorized })
}

// An edge that cannot take the client now closes with 1013, and no line.
func TestWebTransportAuthTryLater(t *testing.T) {
	t.Parallel()
	e := startEdge(t, narrowCaddyfile)
	token := e.issue(allowAll("room")).Token
	e.dialAuth(token)
	e.dialAuth(token)
	s := e.mustOpenWebTransport(handshake{})
	s.sendLine("AUTH:" + token) // a third of the token
	s.expectClose(wire.CloseTryLater)
}

// Whoever waits for an AUTH line when the edge drains is told that the edge
// goes away.
func TestWebTransportAuthWhileDraining(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	s := e.mustOpenWebTransport(handshake{})
	e.adminCall("POST", "/pubsub/drain", object{}).decode(t, http.StatusOK, new(object))
	_, refused := e.openWebTransport(handshake{})
	refused.problem(t, http.StatusServiceUnavailable, "draining")
	s.expectClose(wire.CloseGoingAway)
}

// A connection may have several sessions, which end one by one.
func TestWebTransportSessionsOfOneConnection(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	one, two := e.issue(allowAll("room")).Token, e.issue(allowAll("room")).Token
	conn := e.dialQUIC(nil)
	transport := &webtransport.Transport{Config: &webtransport.Config{ // without it there is one
		MaxIncomingStreams: 4, MaxIncomingUniStreams: 32, MaxIncomingData: 1 << 20,
	}}
	defer transport.Close()
	client, err := transport.NewClientConn(conn)
	if err != nil {
		t.Fatal(err)
	}
	var sockets []*socket
	for _, token := range []string{one, two, one} {
		session, a, err := dialSession(client, handshake{URL: e.httpsURL("/wt"), Token: token})
		if session == nil {
			t.Fatalf("got %d %s, %v; want a session", a.Status, a.Body, err)
		}
		s := e.onSession(conn, session)
		s.subscribe("paint.room", "x")
		sockets = append(sockets, s)
	}
	e.revoke(e.master, two).decode(t, http.StatusOK, new(object))
	sockets[1].expectText("ERR:token_revoked")
	sockets[1].expectClose(wire.CloseForbidden)
	sockets[2].close()
	sockets[0].publish("paint.room", "x", "still here")
	sockets[0].expectDeliver("paint.room", "x", "still here", "x")
	if got := e.roundTrip(client, "GET", "/ping", nil); string(got.Body) != "pong" {
		t.Errorf("GET /ping on the same connection: got %d %q", got.Status, got.Body)
	}
}
