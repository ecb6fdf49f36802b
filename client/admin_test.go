package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

const masterToken = "MT_s3cret"

// adminEdge answers calls, given as "METHOD path body", and keeps them.
func adminEdge(t *testing.T, answer func(call string) (status int, body string)) (*TokenAdmin, *[]string) {
	t.Helper()
	var calls []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if got := r.Header.Get("Authorization"); got != "Bearer "+masterToken {
			t.Errorf("Authorization: %q", got)
		}
		if got := r.Header.Get("Content-Type"); (got == "application/json") != (len(body) > 0) {
			t.Errorf("Content-Type: %q", got)
		}
		call := strings.TrimSpace(r.Method + " " + r.URL.RequestURI() + " " + string(body))
		calls = append(calls, call)
		status, text := answer(call)
		if status == 302 {
			w.Header().Set("Location", "/elsewhere")
		}
		w.WriteHeader(status)
		fmt.Fprint(w, text)
	}))
	t.Cleanup(server.Close)
	admin, err := NewTokenAdmin(server.URL, masterToken)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(admin.http.CloseIdleConnections)
	return admin, &calls
}

func TestTokenAdmin(t *testing.T) {
	at := time.Date(2030, 1, 31, 12, 0, 0, 0, time.UTC)
	admin, calls := adminEdge(t, func(call string) (int, string) {
		switch {
		case strings.HasPrefix(call, "POST"):
			return 200, `{"token":"AT_1_2","token_id":"1","expires_at":"2030-01-31T12:00:00Z"}`
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
	ctx := patient(t)
	issued, err := admin.Issue(ctx, IssueRequest{
		CreatedBy: "b", Description: "d", Subject: "alice", Info: map[string]string{"name": "Alice"}, ExpiresAt: at, Grants: []Grant{{[]string{"room"}, []string{"a"}, []string{"#"}, []string{"b"}, []string{"p"}}},
		IPMasks: []string{"10.0.0.0/8"}, Regions: []string{"EU"}, Origins: []string{"null"}, Protocols: []Transport{WebSocket},
		IngressKBps: 1, EgressKBps: 2,
	})
	if err != nil || issued != (Issued{"AT_1_2", "1", at}) {
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
	if _, err := admin.RevokeSubject(ctx, ""); !errors.Is(err, ErrBadOption) {
		t.Errorf("got %v", err)
	}
	for _, info := range []any{"alice", []int{1}, 5, json.RawMessage("null"), json.RawMessage("{"), func() {}} {
		if _, err := admin.Issue(ctx, IssueRequest{ExpiresAt: at, Info: info}); !errors.Is(err, ErrBadOption) {
			t.Errorf("%v: got %v", info, err)
		}
	}
	var infos []TokenInfo
	for info, err := range admin.List(ctx, ListOptions{Tenant: "room", Subject: "alice", PageSize: 1}) {
		if err != nil {
			t.Fatal(err)
		}
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
		if err != nil {
			t.Error(err)
		}
		break // no page is fetched after it
	}
	wantCalls := []string{
		`POST /v1/get-token {"created_by":"b","description":"d","subject":"alice","info":{"name":"Alice"},"right":{"tenant_grants":[{"tenant_ids":["room"],"allow_channels_pub":["a"],"allow_channels_sub":["#"],"allow_channels_history":["b"],"allow_channels_presence":["p"]}],"allow_ip_masks":["10.0.0.0/8"],"allow_regions":["EU"],"allowed_ws_origin":["null"],"allow_protocols":["websocket"],"ingress_kb_per_sec":1,"egress_kb_per_sec":2,"expires_at":"2030-01-31T12:00:00Z"}}`,
		`PUT /v1/refresh-token {"token_id":"1","expires_at":"2030-01-31T12:00:00Z"}`,
		`DELETE /v1/revoke-token {"token":"AT_1_2"}`,
		`DELETE /v1/tokens/0123456789abcdef`,
		`DELETE /v1/tokens?subject=Zo%C3%AB+%26+co`,
		`GET /v1/tokens?limit=1&subject=alice&tenant=room`,
		`GET /v1/tokens?cursor=1&limit=1&subject=alice&tenant=room`,
		`GET /v1/tokens`,
	}
	if !reflect.DeepEqual(*calls, wantCalls) {
		t.Errorf("got calls\n%s\nwant\n%s", strings.Join(*calls, "\n"), strings.Join(wantCalls, "\n"))
	}
}

func TestTokenAdminRelative(t *testing.T) {
	now := time.Date(2030, 1, 31, 13, 0, 0, 5e8, time.FixedZone("", 3600))
	for _, test := range []struct {
		e    Expiry
		want string // empty: refused
	}{
		{Expiry{In: time.Hour}, "2030-01-31T13:00:00.5Z"},
		{Expiry{At: now}, "2030-01-31T12:00:00.5Z"},
		{Expiry{In: -time.Hour}, ""},
		{Expiry{In: time.Hour, At: now}, ""},
		{Expiry{}, ""},
	} {
		got, err := test.e.time(now)
		if got != test.want || (err != nil) != (test.want == "") || err != nil && !errors.Is(err, ErrBadOption) {
			t.Errorf("%+v: got %q %v", test.e, got, err)
		}
	}
}

func TestTokenAdminErrors(t *testing.T) {
	for _, test := range []struct {
		status int
		body   string
		want   error
	}{
		{404, `{"code":"unknown_token","detail":"because"}`, ErrUnknownToken},
		{401, `{"code":"bad_master_token","detail":"because"}`, ErrBadMasterToken},
		{409, `{"code":"token_revoked","detail":"because"}`, ErrTokenRevoked},
		{302, ``, ErrUnreachable},
		{200, `<html>`, ErrProtocol},
		{200, `{"expires_at":5,"new_expires_at":5,"tokens":5}`, ErrProtocol},
	} {
		admin, _ := adminEdge(t, func(string) (int, string) { return test.status, test.body })
		_, refresh := admin.Refresh(patient(t), "1", Expiry{In: time.Hour})
		_, issue := admin.Issue(patient(t), IssueRequest{ExpiresIn: time.Hour})
		var list error
		for _, err := range admin.List(patient(t), ListOptions{}) {
			list = err
		}
		for _, err := range []error{refresh, issue, list} {
			if !errors.Is(err, test.want) || strings.Contains(fmt.Sprint(err), "s3cret") {
				t.Errorf("%d: got %v", test.status, err)
			}
		}
	}
	t.Run("no answer", func(t *testing.T) {
		stay := make(chan struct{})
		admin, _ := adminEdge(t, func(string) (int, string) { <-stay; return 200, "" })
		defer close(stay)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if err := admin.Revoke(ctx, "AT_x"); !errors.Is(err, ErrTimeout) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("in the words of this package", func(t *testing.T) {
		admin, _ := adminEdge(t, func(string) (int, string) {
			return 400, `{"code":"invalid_body","detail":"right.tenant_grants[0].allow_channels_sub[2]: is not legal"}`
		})
		_, err := admin.Issue(patient(t), IssueRequest{ExpiresIn: time.Hour})
		if want := "millrace: invalid_body (HTTP status 400): Grants[0].Subscribe[2]: is not legal"; err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	})
	t.Run("of a subject", func(t *testing.T) {
		admin, _ := adminEdge(t, func(string) (int, string) {
			return 400, `{"code":"invalid_body","detail":"subject: must be 1 to 128 bytes of UTF-8 without control characters"}`
		})
		_, err := admin.RevokeSubject(patient(t), "a\x01")
		if want := "millrace: invalid_body (HTTP status 400): Subject: must be 1 to 128 bytes of UTF-8 without control characters"; err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	})
	for name, make := range map[string]func() (*TokenAdmin, error){
		"plain text":    func() (*TokenAdmin, error) { return NewTokenAdmin("http://edge.example", masterToken) },
		"a path":        func() (*TokenAdmin, error) { return NewTokenAdmin("https://edge.example/edges", masterToken) },
		"a broken line": func() (*TokenAdmin, error) { return NewTokenAdmin("https://edge.example", "MT_s3cret\n") },
		"no token":      func() (*TokenAdmin, error) { return NewTokenAdmin("https://edge.example", "") },
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
	closed := httptest.NewServer(nil)
	closed.Close()
	edge := func(t *testing.T, status int, body string) (url string, calls *atomic.Int32) {
		calls = new(atomic.Int32)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			calls.Add(1)
			if status == 0 { // it takes the call, and does not answer
				_, _ = io.Copy(io.Discard, r.Body)
				<-r.Context().Done()
				return
			}
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}))
		t.Cleanup(server.Close)
		return server.URL, calls
	}
	const issued = `{"token":"AT_1_2","token_id":"1","expires_at":"2030-01-31T12:00:00Z"}`
	admin := func(t *testing.T, urls ...string) *TokenAdmin {
		a, err := NewTokenAdmin(urls[0], masterToken, WithFailover(urls[1:]...))
		if err != nil {
			t.Fatal(err)
		}
		a.timeout = 100 * time.Millisecond
		t.Cleanup(a.http.CloseIdleConnections)
		return a
	}
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
		t.Run(test.name, func(t *testing.T) {
			first, calls := edge(t, test.status, test.body)
			second, others := edge(t, 200, issued)
			a := admin(t, closed.URL, first, second)
			for range 2 {
				got, err := a.Issue(patient(t), IssueRequest{ExpiresIn: time.Hour})
				if test.next != (err == nil && got.Token == "AT_1_2") {
					t.Fatalf("got %v %v", got, err)
				}
			}
			if test.next && (calls.Load() != 1 || others.Load() != 2) || !test.next && others.Load() != 0 {
				t.Errorf("%d and %d calls", calls.Load(), others.Load())
			}
		})
	}
	t.Run("none answers", func(t *testing.T) {
		full, _ := edge(t, 503, `{"code":"insufficient_storage","detail":"full"}`)
		a := admin(t, closed.URL, full, closed.URL)
		if err := a.Revoke(patient(t), "AT_x"); !errors.Is(err, &Error{Code: "insufficient_storage"}) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("the context ends", func(t *testing.T) {
		silent, _ := edge(t, 0, "")
		second, others := edge(t, 200, issued)
		a := admin(t, silent, second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if err := a.Revoke(ctx, "AT_x"); !errors.Is(err, ErrTimeout) || others.Load() > 0 {
			t.Errorf("got %v", err)
		}
	})
	if _, err := NewTokenAdmin(closed.URL, masterToken, WithFailover("http://edge.example")); !errors.Is(err, ErrBadOption) {
		t.Errorf("got %v", err)
	}
}
