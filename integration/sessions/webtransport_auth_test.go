package sessions

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/quic-go/webtransport-go"

	"github.com/millrace/millrace/integration/conformance"
	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/wire"
)

// dialAuth opens a session as a browser does that can set no header: the token
// is the first message.
func dialAuth(e *harness.Edge, token string) *harness.Socket {
	e.T.Helper()
	s := e.MustOpenWebTransport(harness.Handshake{})
	s.SendLine("AUTH:" + token)
	s.ExpectText("OK:AUTH")
	return s
}

// The three ways in which a token comes.
func TestWebTransportAuthentication(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	token := e.Issue(harness.AllowAll("room")).Token
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
			e := e.With(t)
			conn := e.DialQUIC(nil)
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
			session, a, err := harness.DialSession(client, harness.Handshake{URL: e.HttpsURL("/wt"), Header: row.header})
			if session == nil {
				t.Fatalf("got %d %s, %v; want a session", a.Status, a.Body, err)
			}
			if got := a.Header.Get("WT-Protocol"); got != row.protocol {
				t.Errorf("got WT-Protocol %q, want %q", got, row.protocol)
			}
			if all := fmt.Sprint(a.Header); strings.Contains(all, token[:len(token)-33]) {
				t.Errorf("the answer repeats the token: %s", all)
			}
			s := e.OnSession(conn, session)
			if row.auth {
				s.SendLine("AUTH:" + token)
				s.ExpectText("OK:AUTH")
			}
			s.Subscribe("paint.room", "x")
			s.Publish("paint.room", "x", "hello")
			s.ExpectDeliver("paint.room", "x", "hello", "x")
			s.SendLine("AUTH:" + token) // not a second time
			s.ExpectText("ERR:bad_request")
			s.Close()
		})
	}
	t.Run("what follows the line waits", func(t *testing.T) {
		s := e.With(t).MustOpenWebTransport(harness.Handshake{})
		s.SendLine("AUTH:" + token)
		s.SendLine("SUB:paint.room:x")
		s.Publish("paint.room", "x", "early")
		s.ExpectText("OK:AUTH")
		s.ExpectText("OK:SUB:paint.room:x")
		s.ExpectDeliver("paint.room", "x", "early", "x")
	})
}

// What is no handshake of WebTransport, or a malformed one.
func TestWebTransportHandshakeShape(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	token := e.Issue(harness.AllowAll("room")).Token
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
			e := e.With(t)
			_, refused := e.OpenWebTransport(harness.Handshake{Header: row.header})
			refused.Problem(t, http.StatusBadRequest, "bad_handshake")
			harness.CheckNoStore(t, refused)
		})
	}
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"} {
		t.Run(method, func(t *testing.T) {
			e := e.With(t)
			for _, l := range []http.RoundTripper{e.Http3(), e.Http2()} {
				got := roundTrip(e, l, method, "/wt", http.Header{"Authorization": {good}})
				if got.Status != http.StatusMethodNotAllowed || method == "HEAD" && len(got.Body) != 0 {
					t.Errorf("got %d %s, want 405", got.Status, got.Body)
				}
				harness.CheckAllow(t, got, "CONNECT")
				if method != "HEAD" {
					got.Problem(t, http.StatusMethodNotAllowed, "method_not_allowed")
				}
			}
		})
	}
	t.Run("another path", func(t *testing.T) {
		_, refused := e.With(t).OpenWebTransport(harness.Handshake{URL: e.HttpsURL("/wtx"), Token: token})
		if refused.Status != 404 || string(refused.Body) != "no such page" {
			t.Errorf("got %d %q, want the site's own answer", refused.Status, refused.Body)
		}
	})
	t.Run("the token in the URL", func(t *testing.T) {
		_, refused := e.With(t).OpenWebTransport(harness.Handshake{URL: e.HttpsURL("/wt?token=" + token), Token: token})
		refused.Problem(t, http.StatusBadRequest, "token_in_url")
	})
}

// An AUTH line is refused by an ERR line, which says little, and a close code,
// which says as much.
func TestWebTransportAuthRefused(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, conformance.RegionalCaddyfile)
	valid, revoked := e.Issue(harness.AllowAll("room")).Token, e.Issue(harness.AllowAll("room")).Token
	e.Revoke(e.Master, revoked).Decode(t, http.StatusOK, new(harness.Object))
	expired := e.IssueExpired().Token
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
		{"a master token", "AUTH:" + e.Master, nil, unauthorized, wire.CloseUnauthorized},
		{"unknown", "AUTH:AT_" + zeros + "_" + zeros, nil, unauthorized, wire.CloseUnauthorized},
		{"wrong secret", "AUTH:AT_" + id + "_" + zeros, nil, unauthorized, wire.CloseUnauthorized},
		{"expired", "AUTH:" + expired, nil, unauthorized, wire.CloseUnauthorized},
		{"revoked", "AUTH:" + revoked, nil, unauthorized, wire.CloseUnauthorized},
		{"another line first", "PING", nil, unauthorized, wire.CloseUnauthorized},
		{"another command first", "SUB:paint.room:x", nil, unauthorized, wire.CloseUnauthorized},
		{"a frame first", string(harness.RawPublish("paint.room", "x", "")), nil, unauthorized, wire.CloseUnauthorized},
		{"an empty message first", "", nil, unauthorized, wire.CloseUnauthorized},
		{"a message over 4 KiB first", "AUTH:" + strings.Repeat("A", 4096), nil, unauthorized, wire.CloseUnauthorized},
		{"address", "AUTH:" + e.Limited(harness.Object{"allow_ip_masks": []string{"203.0.113.0/24"}}), nil, "ERR:forbidden:ip", wire.CloseForbidden},
		{"origin", "AUTH:" + e.Limited(harness.Object{"allowed_ws_origin": []string{"https://app.example"}}), nil, "ERR:forbidden:origin", wire.CloseForbidden},
		{"another origin", "AUTH:" + e.Limited(harness.Object{"allowed_ws_origin": []string{"https://app.example"}}), http.Header{"Origin": {"https://evil.example"}}, "ERR:forbidden:origin", wire.CloseForbidden},
		{"region", "AUTH:" + e.Limited(harness.Object{"allow_regions": []string{"US"}}), nil, "ERR:forbidden:region", wire.CloseForbidden},
		{"protocol", "AUTH:" + e.Limited(harness.Object{"allow_protocols": []string{"websocket"}}), nil, "ERR:forbidden:protocol", wire.CloseForbidden},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := e.With(t).MustOpenWebTransport(harness.Handshake{Header: row.header})
			kind := harness.AsText
			if wire.IsFrame([]byte(row.message)) {
				kind = harness.AsFrame
			}
			s.Send(kind, []byte(row.message))
			s.ExpectText(row.want)
			s.ExpectClose(row.code)
		})
	}
	t.Run("address and origin that are allowed", func(t *testing.T) {
		s := e.With(t).MustOpenWebTransport(harness.Handshake{Header: http.Header{
			"X-Forwarded-For": {"203.0.113.5"}, "Origin": {"https://app.example"},
		}})
		s.SendLine("AUTH:" + e.Limited(harness.Object{
			"allow_ip_masks": []string{"203.0.113.0/24"}, "allowed_ws_origin": []string{"https://app.example"},
			"allow_regions": []string{"EU"}, "allow_protocols": []string{"webtransport"},
		}))
		s.ExpectText("OK:AUTH")
		s.Ping()
	})
}

// A client that does not authenticate has 5 s.
func TestWebTransportAuthTimeout(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	begin := time.Now()
	silent := e.MustOpenWebTransport(harness.Handshake{})
	slow := e.MustOpenWebTransport(harness.Handshake{})
	slow.Must(slow.Wt().WriteBytes([]byte{0, 0, 0, 70, 'A', 'U', 'T', 'H', ':'})) // and no more
	streamless, _ := e.OpenSession(e.DialQUIC(nil), harness.Handshake{})
	for _, s := range []*harness.Socket{silent, slow} {
		s.ExpectText("ERR:unauthorized")
		s.ExpectClose(wire.CloseUnauthorized)
	}
	select {
	case <-streamless.Context().Done():
	case <-time.After(harness.WaitTimeout):
		t.Fatal("a session without a stream stays")
	}
	var end *harness.Closed
	if err := harness.SessionEnd(streamless); !errors.As(err, &end) || end.Code != wire.CloseUnauthorized {
		t.Errorf("the session without a stream ended with %v, want close code %d", err, wire.CloseUnauthorized)
	}
	if took := time.Since(begin); took < 4500*time.Millisecond || took > harness.WaitTimeout/2 {
		t.Errorf("the sessions were closed after %v, want 5s", took)
	}
}

// 16 sessions from one address may be unauthenticated; authenticated ones do
// not count, and the end of a session makes room.
func TestWebTransportUnauthenticatedLimit(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, conformance.RacingCaddyfile)
	token := e.Issue(harness.AllowAll("room")).Token
	at := func(address string) harness.Handshake {
		return harness.Handshake{Header: http.Header{"X-Forwarded-For": {address}}}
	}
	here := at("203.0.113.5")
	var waiting []*harness.Socket
	for range 16 {
		waiting = append(waiting, e.MustOpenWebTransport(here))
	}
	_, refused := e.OpenWebTransport(here)
	refused.Problem(t, http.StatusTooManyRequests, "too_many_unauthenticated")
	if refused.Header.Get("Retry-After") == "" {
		t.Error("the refusal has no Retry-After")
	}
	harness.CheckNoStore(t, refused)
	e.MustOpenWebTransport(at("203.0.113.6"))
	here.Token = token
	e.MustOpenWebTransport(here).Ping()

	here.Token = ""
	waiting[0].SendLine("AUTH:" + token)
	waiting[0].ExpectText("OK:AUTH")
	waiting[1].SendLine("AUTH:AT_x")
	waiting[1].ExpectText("ERR:unauthorized")
	waiting[1].ExpectClose(wire.CloseUnauthorized)
	e.MustOpenWebTransport(here)
	e.Poll("the session that was refused to make room", func() bool {
		s, _ := e.OpenWebTransport(here)
		return s != nil
	})
	waiting[0].Ping()
}

// Whoever guesses tokens is held up, in the handshake and with AUTH lines.
func TestWebTransportFailuresAreLimited(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, conformance.RacingCaddyfile)
	token := e.Issue(harness.AllowAll("room")).Token
	conn := e.DialQUIC(nil)
	transport := &webtransport.Transport{}
	defer transport.Close()
	client, err := transport.NewClientConn(conn) // one for all: the guesses must be quick
	if err != nil {
		t.Fatal(err)
	}
	here := http.Header{"X-Forwarded-For": {"203.0.113.77"}}
	attempt := func(token string, header http.Header) harness.Answer {
		t.Helper()
		session, a, err := harness.DialSession(client, harness.Handshake{URL: e.HttpsURL("/wt"), Token: token, Header: header})
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
	guess := func() harness.Answer { return attempt("AT_x", here) }
	held, failures := harness.GuessUntilLimited(t, guess)
	held.Problem(t, http.StatusTooManyRequests, "too_many_failures")
	if failures < 20 || held.Header.Get("Retry-After") != "1" {
		t.Errorf("held up after %d failures with Retry-After %q, want 20 to be answered, and 1", failures, held.Header.Get("Retry-After"))
	}
	if got := attempt(token, http.Header{"X-Forwarded-For": {"203.0.113.78"}}); got.Status != http.StatusOK {
		t.Errorf("another address got %d %s, want 200", got.Status, got.Body)
	}
	harness.GuessUntilLimited(t, guess) // a second may have passed
	if got := attempt(token, here); got.Status != http.StatusOK {
		t.Fatalf("a valid token from where somebody guesses got %d %s, want 200", got.Status, got.Body)
	}
	e.Poll("the address to be heard again", func() bool { return guess().Status == http.StatusUnauthorized })
}

// An edge that cannot take the client now closes with 1013, and no line.
func TestWebTransportAuthTryLater(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, conformance.NarrowCaddyfile)
	token := e.Issue(harness.AllowAll("room")).Token
	dialAuth(e, token)
	dialAuth(e, token)
	s := e.MustOpenWebTransport(harness.Handshake{})
	s.SendLine("AUTH:" + token) // a third of the token
	s.ExpectClose(wire.CloseTryLater)
}

// Whoever waits for an AUTH line when the edge drains is told that the edge
// goes away.
func TestWebTransportAuthWhileDraining(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	s := e.MustOpenWebTransport(harness.Handshake{})
	e.AdminCall("POST", "/pubsub/drain", harness.Object{}).Decode(t, http.StatusOK, new(harness.Object))
	_, refused := e.OpenWebTransport(harness.Handshake{})
	refused.Problem(t, http.StatusServiceUnavailable, "draining")
	s.ExpectClose(wire.CloseGoingAway)
}

// A connection may have several sessions, which end one by one.
func TestWebTransportSessionsOfOneConnection(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	one, two := e.Issue(harness.AllowAll("room")).Token, e.Issue(harness.AllowAll("room")).Token
	conn := e.DialQUIC(nil)
	transport := &webtransport.Transport{Config: &webtransport.Config{ // without it there is one
		MaxIncomingStreams: 4, MaxIncomingUniStreams: 32, MaxIncomingData: 1 << 20,
	}}
	defer transport.Close()
	client, err := transport.NewClientConn(conn)
	if err != nil {
		t.Fatal(err)
	}
	var sockets []*harness.Socket
	for _, token := range []string{one, two, one} {
		session, a, err := harness.DialSession(client, harness.Handshake{URL: e.HttpsURL("/wt"), Token: token})
		if session == nil {
			t.Fatalf("got %d %s, %v; want a session", a.Status, a.Body, err)
		}
		s := e.OnSession(conn, session)
		s.Subscribe("paint.room", "x")
		sockets = append(sockets, s)
	}
	e.Revoke(e.Master, two).Decode(t, http.StatusOK, new(harness.Object))
	sockets[1].ExpectText("ERR:token_revoked")
	sockets[1].ExpectClose(wire.CloseForbidden)
	sockets[2].Close()
	sockets[0].Publish("paint.room", "x", "still here")
	sockets[0].ExpectDeliver("paint.room", "x", "still here", "x")
	if got := roundTrip(e, client, "GET", "/ping", nil); string(got.Body) != "pong" {
		t.Errorf("GET /ping on the same connection: got %d %q", got.Status, got.Body)
	}
}
