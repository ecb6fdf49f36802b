package integration

import (
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestRefreshToken(t *testing.T) {
	t.Parallel()
	e, m := startRestEdge(t)
	valid := e.issue(allowAll("room"))
	revoked := e.issue(allowAll("room"))
	e.revoke(e.master, revoked.Token).decode(t, http.StatusOK, new(object))
	expired := e.issueExpired()
	nested := e.issueAs(m.nested, tokenRequest(allowAll("room")))

	for _, tc := range []struct {
		name, master, id, expires string
		status                    int
		code                      string
	}{
		{"own", e.master, valid.TokenID, in(2 * time.Hour), 200, ""},
		{"of the twin namespace", m.twin, valid.TokenID, in(2 * time.Hour), 200, ""},
		{"by the whole overlay", m.all, valid.TokenID, in(2 * time.Hour), 200, ""},
		{"of a nested namespace", e.master, nested.TokenID, in(2 * time.Hour), 200, ""},
		{"of the namespace around", m.nested, valid.TokenID, in(time.Hour), 404, "unknown_token"},
		{"of a name with the same letters", m.other, valid.TokenID, in(time.Hour), 404, "unknown_token"},
		{"unknown", e.master, randomHex(), in(time.Hour), 404, "unknown_token"},
		{"expired", e.master, expired.TokenID, in(time.Hour), 409, "token_expired"},
		{"revoked", e.master, revoked.TokenID, in(time.Hour), 409, "token_revoked"},
		{"expired, of another namespace", m.other, expired.TokenID, in(time.Hour), 404, "unknown_token"},
		{"upper case id", e.master, strings.ToUpper(valid.TokenID[:31]) + "A", in(time.Hour), 400, "invalid_body"},
		{"short id", e.master, valid.TokenID[:31], in(time.Hour), 400, "invalid_body"},
		{"empty id", e.master, "", in(time.Hour), 400, "invalid_body"},
		{"whole token for an id", e.master, valid.Token, in(time.Hour), 400, "invalid_body"},
		{"in the past", e.master, valid.TokenID, in(-time.Second), 400, "expires_at_out_of_range"},
		{"too far", e.master, valid.TokenID, in(25 * time.Hour), 400, "expires_at_out_of_range"},
		{"no zone", e.master, valid.TokenID, time.Now().Add(time.Hour).Format("2006-01-02T15:04:05"), 400, "invalid_body"},
		{"the body before the token", e.master, randomHex(), "soon", 400, "invalid_body"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := e.with(t).refresh(tc.master, tc.id, tc.expires)
			checkNoStore(t, got)
			if tc.status != 200 {
				p := got.problem(t, tc.status, tc.code)
				checkSilent(t, p, tc.id, tc.expires)
				return
			}
			body := make(map[string]string)
			got.decode(t, 200, &body)
			want := map[string]string{
				"message": "token refreshed", "token_id": tc.id, "new_expires_at": wholeSeconds(t, tc.expires),
			}
			if !maps.Equal(body, want) {
				t.Errorf("got %v, want %v", body, want)
			}
		})
	}
}

func TestRevokeToken(t *testing.T) {
	t.Parallel()
	e, m := startRestEdge(t)
	first, second, third := e.issue(allowAll("room")), e.issue(allowAll("room")), e.issue(allowAll("room"))
	expired := e.issueExpired()

	for _, tc := range []struct {
		name, master, token string
		status              int
		code                string
	}{
		{"of a name with the same letters", m.other, first.Token, 404, "unknown_token"},
		{"of the namespace around", m.nested, first.Token, 404, "unknown_token"},
		{"wrong secret", e.master, "AT_" + first.TokenID + "_" + randomHex(), 404, "unknown_token"},
		{"unknown", e.master, "AT_" + randomHex() + "_" + randomHex(), 404, "unknown_token"},
		{"own", e.master, first.Token, 200, ""},
		{"again", e.master, first.Token, 200, ""},
		{"by the twin", m.twin, second.Token, 200, ""},
		{"by the whole overlay", m.all, third.Token, 200, ""},
		{"expired", e.master, expired.Token, 200, ""},
		{"id alone", e.master, first.TokenID, 400, "invalid_body"},
		{"upper case", e.master, "AT_" + strings.ToUpper(first.Token[3:]), 400, "invalid_body"},
		{"empty", e.master, "", 400, "invalid_body"},
		{"a master token", e.master, e.master, 400, "invalid_body"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := e.with(t).revoke(tc.master, tc.token)
			checkNoStore(t, got)
			if tc.status != 200 {
				checkSilent(t, got.problem(t, tc.status, tc.code), tc.token)
				return
			}
			body := make(map[string]string)
			got.decode(t, 200, &body)
			want := map[string]string{"message": "token revoked", "token_id": strings.Split(tc.token, "_")[1]}
			if !maps.Equal(body, want) {
				t.Errorf("got %v, want %v", body, want)
			}
		})
	}
	for _, token := range []string{first.Token, second.Token, third.Token, expired.Token} {
		_, refused := e.open(handshake{Token: token})
		refused.problem(t, http.StatusUnauthorized, "")
	}
}

// issueExpired returns a token that has expired.
func (e *edge) issueExpired() issued {
	e.t.Helper()
	request := tokenRequest(allowAll("room"))
	request["right"].(object)["expires_at"] = in(2 * time.Second)
	got := e.issueAs(e.master, request)
	e.poll("the token to expire", func() bool { return e.status(e.master, got.TokenID) == "expired" })
	return got
}
