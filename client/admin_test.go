package client

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"
)

const masterToken = "MT_s3cret"

// plain starts a server without TLS, and returns its origin.
func (n *internet) plain(handler http.HandlerFunc) (origin string) {
	n.t.Helper()
	listener, err := n.Listen(n.address())
	must(n.t, err)
	server := &http.Server{Handler: handler}
	go func() { _ = server.Serve(listener) }() // until it is closed
	n.t.Cleanup(func() { server.Close() })
	return "http://" + listener.Addr().String()
}

func (n *internet) admin(origins ...string) *TokenAdmin {
	n.t.Helper()
	admin, err := NewTokenAdmin(origins[0], masterToken, WithFailover(origins[1:]...))
	must(n.t, err)
	admin.http = httpClient(dialer{network: n.network(), tls: &tls.Config{}})
	n.t.Cleanup(admin.http.CloseIdleConnections)
	return admin
}

// adminEdge answers calls, given as "METHOD path body", and keeps them.
func adminEdge(t *testing.T, answer func(call string) (status int, body string)) (*TokenAdmin, *[]string) {
	t.Helper()
	var calls []string
	n := newInternet(t)
	return n.admin(n.plain(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		equal(t, "Authorization", r.Header.Get("Authorization"), "Bearer "+masterToken)
		equal(t, "has a type", r.Header.Get("Content-Type") == "application/json", len(body) > 0)
		call := strings.TrimSpace(r.Method + " " + r.URL.RequestURI() + " " + string(body))
		calls = append(calls, call)
		status, text := answer(call)
		if status == 302 {
			w.Header().Set("Location", "/elsewhere")
		}
		w.WriteHeader(status)
		fmt.Fprint(w, text)
	})), &calls
}

func TestTokenAdmin(t *testing.T) {
	bubble(t, "calls", testTokenAdmin)
}

func testTokenAdmin(t *testing.T, _ *world) {
	at := time.Date(2030, 1, 31, 12, 0, 0, 0, time.UTC)
	admin, calls := adminEdge(t, func(call string) (int, string) {
		switch {
		case strings.HasPrefix(call, "POST"):
			return 200, `{"token":"AT_1_2","token_id":"1","expires_at":"2030-01-31T12:00:00Z","expires_in":60}`
		case strings.HasPrefix(call, "PUT"):
			return 200, `{"message":"token refreshed","token_id":"1","new_expires_at":"2030-01-31T12:00:00Z"}`
		case strings.HasPrefix(call, "DELETE /v1/tokens?"):
			return 200, `{"message":"tokens revoked","revoked":3}`
		case strings.HasPrefix(call, "DELETE"):
			return 200, `{"message":"token revoked","token_id":"1"}`
		case strings.Contains(call, "cursor="):
			return 200, `{"tokens":[{"token_id":"2","created_by":"b","created_at":"2030-01-31T12:00:00Z","expires_at":"2030-01-31T12:00:00Z","status":"valid","right":{"tenant_grants":[]}}],"next_cursor":""}`
		default:
			return 200, `{"tokens":[{"token_id":"1","created_by":"b","description":"d","subject":"alice","info":{"name":"Alice"},"created_at":"2030-01-31T12:00:00Z","expires_at":"2030-01-31T12:00:00Z","revoked_at":"2030-01-31T12:00:00Z","status":"revoked","master_id":"m",` +
				`"right":{"tenant_grants":[{"tenant_ids":["room"],"allow_channels_pub":["a"],"allow_channels_sub":["#"],"allow_channels_history":["b"],"allow_channels_presence":["p"]}],"allow_ip_masks":["10.0.0.0/8"],"allow_regions":["EU"],"allowed_ws_origin":["null"],"allow_protocols":["websocket"],"ingress_kb_per_sec":1,"egress_kb_per_sec":2,"expires_at":"2030-01-31T12:00:00Z"}}],"next_cursor":"1"}`
		}
	})
	ctx := t.Context()
	issued, err := admin.Issue(ctx, IssueRequest{
		CreatedBy: "b", Description: "d", Subject: "alice", Info: map[string]string{"name": "Alice"}, ExpiresAt: at, Grants: []Grant{{[]string{"room"}, []string{"a"}, []string{"#"}, []string{"b"}, []string{"p"}}},
		IPMasks: []string{"10.0.0.0/8"}, Regions: []string{"EU"}, Origins: []string{"null"}, Protocols: []Transport{WebSocket},
		IngressKBps: 1, EgressKBps: 2,
	})
	if err != nil || issued != (IssuedToken{"AT_1_2", "1", at, time.Minute, false}) {
		t.Errorf("got %+v %v", issued, err)
	}
	if got, err := admin.Refresh(ctx, "1", Expiry{At: at}); err != nil || !got.Equal(at) {
		t.Errorf("got %v %v", got, err)
	}
	if err := admin.Revoke(ctx, "AT_1_2"); err != nil {
		t.Error(err)
	}
	if err := admin.RevokeByID(ctx, "0123456789abcdef"); err != nil {
		t.Error(err)
	}
	if n, err := admin.RevokeSubject(ctx, "Zoë & co"); n != 3 || err != nil {
		t.Errorf("got %d %v", n, err)
	}
	for _, id := range []string{"", "AT_1_2", "..", "1?subject=x"} {
		if err := admin.RevokeByID(ctx, id); !errors.Is(err, ErrBadOption) {
			t.Errorf("%q: got %v", id, err)
		}
	}
	wantError(t, errorOf(admin.RevokeSubject(ctx, "")), ErrBadOption)
	for _, info := range []any{"alice", []int{1}, 5, json.RawMessage("null"), json.RawMessage("{"), func() {}} {
		wantError(t, errorOf(admin.Issue(ctx, IssueRequest{ExpiresAt: at, Info: info})), ErrBadOption)
	}
	var infos []TokenInfo
	for info, err := range admin.List(ctx, ListOptions{Tenant: "room", Subject: "alice", PageSize: 1}) {
		must(t, err)
		infos = append(infos, info)
	}
	want := []TokenInfo{{
		TokenID: "1", CreatedBy: "b", Description: "d", Subject: "alice", Info: json.RawMessage(`{"name":"Alice"}`), CreatedAt: at, ExpiresAt: at, RevokedAt: at, Status: StatusRevoked, MasterID: "m",
		Grants: []Grant{{[]string{"room"}, []string{"a"}, []string{"#"}, []string{"b"}, []string{"p"}}}, IPMasks: []string{"10.0.0.0/8"}, Regions: []string{"EU"},
		Origins: []string{"null"}, Protocols: []Transport{WebSocket}, IngressKBps: 1, EgressKBps: 2,
	}, {TokenID: "2", CreatedBy: "b", CreatedAt: at, ExpiresAt: at, Status: StatusValid}}
	if !reflect.DeepEqual(infos, want) {
		t.Errorf("got %+v, want %+v", infos, want)
	}
	for _, err := range admin.List(ctx, ListOptions{}) {
		noError(t, err)
		break // no page is fetched after it
	}
	wantCalls := []string{
		`POST /v1/get-token {"created_by":"b","description":"d","subject":"alice","info":{"name":"Alice"},"right":{"tenant_grants":[{"tenant_ids":["room"],"allow_channels_pub":["a"],"allow_channels_sub":["#"],"allow_channels_history":["b"],"allow_channels_presence":["p"]}],"allow_ip_masks":["10.0.0.0/8"],"allow_regions":["EU"],"allowed_ws_origin":["null"],"allow_protocols":["websocket"],"ingress_kb_per_sec":1,"egress_kb_per_sec":2,"expires_at":"2030-01-31T12:00:00Z"}}`,
		`PUT /v1/refresh-token {"token_id":"1","expires_at":"2030-01-31T12:00:00Z"}`,
		`DELETE /v1/revoke-token {"token":"AT_1_2"}`,
		`DELETE /v1/tokens/0123456789abcdef`,
		`DELETE /v1/tokens?subject=Zo%C3%AB%20%26%20co`,
		`GET /v1/tokens?limit=1&subject=alice&tenant=room`,
		`GET /v1/tokens?cursor=1&limit=1&subject=alice&tenant=room`,
		`GET /v1/tokens`,
	}
	if !reflect.DeepEqual(*calls, wantCalls) {
		t.Errorf("got calls\n%s\nwant\n%s", strings.Join(*calls, "\n"), strings.Join(wantCalls, "\n"))
	}
}

func TestTokenAdminRelative(t *testing.T) {
	at := time.Date(2030, 1, 31, 13, 0, 0, 5e8, time.FixedZone("", 3600))
	for _, test := range []struct {
		e    Expiry
		want expiryBody // zero: refused
	}{
		{Expiry{In: time.Hour + time.Millisecond}, expiryBody{In: 3600}},
		{Expiry{At: at}, expiryBody{At: "2030-01-31T12:00:00.5Z"}},
		{Expiry{In: time.Second - 1}, expiryBody{}},
		{Expiry{In: -time.Hour}, expiryBody{}},
		{Expiry{In: time.Hour, At: at}, expiryBody{}},
		{Expiry{}, expiryBody{}},
	} {
		got, err := test.e.body()
		if got != test.want || (err != nil) != (test.want == expiryBody{}) || err != nil && !errors.Is(err, ErrBadOption) {
			t.Errorf("%+v: got %+v %v", test.e, got, err)
		}
	}
}

func TestTokenAdminClamps(t *testing.T) {
	bubble(t, "", func(t *testing.T, _ *world) {
		admin, _ := adminEdge(t, func(string) (int, string) {
			return 200, `{"token":"AT_1_2","token_id":"1","expires_at":"2030-01-31T12:00:00Z","expires_in":86400}`
		})
		for life, clamped := range map[time.Duration]bool{24 * time.Hour: false, 25 * time.Hour: true} {
			issued, err := admin.Issue(t.Context(), IssueRequest{ExpiresIn: life})
			must(t, err)
			equal(t, "clamped", issued.Clamped, clamped)
			equal(t, "lifetime", issued.ExpiresIn, 24*time.Hour)
			var given AccessToken
			text, err := json.Marshal(issued)
			must(t, errors.Join(err, json.Unmarshal(text, &given)))
			equal(t, "handed on", given, AccessToken{"AT_1_2", 24 * time.Hour, issued.ExpiresAt})
		}
	})
}

func TestTokenAdminErrors(t *testing.T) {
	for _, test := range []struct {
		status int
		body   string
		want   error
		text   string // of the error; empty: whatever
	}{
		{404, `{"code":"unknown_token","detail":"because"}`, ErrUnknownToken, ""},
		{401, `{"code":"bad_master_token","detail":"because"}`, ErrBadMasterToken, ""},
		{409, `{"code":"token_revoked","detail":"because"}`, ErrTokenRevoked, ""},
		{302, ``, ErrUnreachable, ""},
		{
			400, `{"code":"expires_at_out_of_range","detail":"right.expires_at: it is noon at this edge"}`, &Error{Code: "expires_at_out_of_range"},
			"millrace: expires_at_out_of_range (HTTP status 400): the expiry: it is noon at this edge; here it is 2000-01-01T00:00:00Z",
		},
		{200, `<html>`, ErrProtocol, ""},
		{200, `{"expires_at":5,"new_expires_at":5,"tokens":5,"revoked":"x"}`, ErrProtocol, ""},
		// In the words of this package.
		{
			400, `{"code":"invalid_body","detail":"right.tenant_grants[0].allow_channels_sub[2]: is not legal"}`,
			&Error{Code: "invalid_body"}, "millrace: invalid_body (HTTP status 400): Grants[0].Subscribe[2]: is not legal",
		},
		{
			400, `{"code":"invalid_body","detail":"subject: must be 1 to 128 bytes"}`,
			&Error{Code: "invalid_body"}, "millrace: invalid_body (HTTP status 400): Subject: must be 1 to 128 bytes",
		},
	} {
		bubble(t, fmt.Sprint(test.status, test.body), func(t *testing.T, _ *world) {
			admin, _ := adminEdge(t, func(string) (int, string) { return test.status, test.body })
			_, refresh := admin.Refresh(t.Context(), "1", Expiry{In: time.Hour})
			_, issue := admin.Issue(t.Context(), IssueRequest{ExpiresIn: time.Hour})
			_, revoke := admin.RevokeSubject(t.Context(), "ann")
			var list error
			for _, err := range admin.List(t.Context(), ListOptions{}) {
				list = err
			}
			for _, err := range []error{refresh, issue, revoke, list} {
				wantError(t, err, test.want)
				if test.text != "" {
					equal(t, "error", err.Error(), test.text)
				}
				equal(t, "shows the token", strings.Contains(fmt.Sprint(err), "s3cret"), false)
			}
		})
	}
	for name, make := range map[string]func() (*TokenAdmin, error){
		"plain text": func() (*TokenAdmin, error) { return NewTokenAdmin("http://edge.example", masterToken) },
		"a path":     func() (*TokenAdmin, error) { return NewTokenAdmin("https://edge.example/edges", masterToken) },
		"a space":    func() (*TokenAdmin, error) { return NewTokenAdmin("https://edge.example", "MT_s3 cret") },
		"no token":   func() (*TokenAdmin, error) { return NewTokenAdmin("https://edge.example", "") },
	} {
		if _, err := make(); !errors.Is(err, ErrBadOption) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := NewTokenAdmin("http://edge.example", masterToken, WithPlaintext()); err != nil {
		t.Error(err)
	}
}

// One edge after the other, until one answers; the next call begins there.
func TestTokenAdminFailover(t *testing.T) {
	const closed = "http://127.0.0.1:999"
	edge := func(n *internet, status int, body string) (origin string, calls *int) {
		calls = new(int)
		return n.plain(func(w http.ResponseWriter, r *http.Request) {
			*calls++
			if status == 0 { // it takes the call, and does not answer
				_, _ = io.Copy(io.Discard, r.Body)
				<-r.Context().Done()
				return
			}
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}), calls
	}
	const issued = `{"token":"AT_1_2","token_id":"1","expires_at":"2030-01-31T12:00:00Z"}`
	for _, test := range []struct {
		name   string
		status int
		body   string
		next   bool // the next one is asked
	}{
		{"no answer", 0, "", true},
		{"502", 502, "a proxy's", true},
		{"503", 503, `{"code":"unavailable"}`, true},
		{"504", 504, "", true},
		{"only reads", 403, `{"code":"read_only"}`, true},
		{"500", 500, `{"code":"internal"}`, false},
		{"refused", 401, `{"code":"bad_master_token"}`, false},
		{"too many", 429, `{"code":"too_many_requests"}`, false},
	} {
		bubble(t, test.name, func(t *testing.T, _ *world) {
			n := newInternet(t)
			first, calls := edge(n, test.status, test.body)
			second, others := edge(n, 200, issued)
			a := n.admin(closed, first, second)
			for range 2 {
				got, err := a.Issue(t.Context(), IssueRequest{ExpiresIn: time.Hour})
				if test.next != (err == nil && got.Token == "AT_1_2") {
					t.Fatalf("got %v %v", got, err)
				}
			}
			if test.next && (*calls != 1 || *others != 2) || !test.next && *others != 0 {
				t.Errorf("%d and %d calls", *calls, *others)
			}
		})
	}
	bubble(t, "none answers", func(t *testing.T, _ *world) {
		n := newInternet(t)
		full, _ := edge(n, 503, `{"code":"insufficient_storage","detail":"full"}`)
		wantError(t, n.admin(closed, full, closed).Revoke(t.Context(), "AT_x"), &Error{Code: "insufficient_storage"})
	})
	bubble(t, "the context ends", func(t *testing.T, _ *world) {
		n := newInternet(t)
		silent, _ := edge(n, 0, "")
		second, others := edge(n, 200, issued)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		wantError(t, n.admin(silent, second).Revoke(ctx, "AT_x"), ErrTimeout)
		equal(t, "calls of the second", *others, 0)
	})
	_, err := NewTokenAdmin(closed, masterToken, WithFailover("http://edge.example"))
	wantError(t, err, ErrBadOption)
}
