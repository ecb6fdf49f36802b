package tokens

import (
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
)

func TestRefreshToken(t *testing.T) {
	t.Parallel()
	e, m := startRestEdge(t)
	valid := e.Issue(harness.AllowAll("room"))
	revoked := e.Issue(harness.AllowAll("room"))
	e.Revoke(e.Master, revoked.Token).Decode(t, http.StatusOK, new(harness.Object))
	expired := e.IssueExpired()
	nested := e.IssueAs(m.nested, harness.TokenRequest(harness.AllowAll("room")))

	for _, tc := range []struct {
		name, master, id, expires string
		status                    int
		code                      string
	}{
		{"own", e.Master, valid.TokenID, harness.In(2 * time.Hour), 200, ""},
		{"of the twin namespace", m.twin, valid.TokenID, harness.In(2 * time.Hour), 200, ""},
		{"by the whole overlay", m.all, valid.TokenID, harness.In(2 * time.Hour), 200, ""},
		{"of a nested namespace", e.Master, nested.TokenID, harness.In(2 * time.Hour), 200, ""},
		{"of the namespace around", m.nested, valid.TokenID, harness.In(time.Hour), 404, "unknown_token"},
		{"of a name with the same letters", m.other, valid.TokenID, harness.In(time.Hour), 404, "unknown_token"},
		{"unknown", e.Master, harness.RandomHex(), harness.In(time.Hour), 404, "unknown_token"},
		{"expired", e.Master, expired.TokenID, harness.In(time.Hour), 409, "token_expired"},
		{"revoked", e.Master, revoked.TokenID, harness.In(time.Hour), 409, "token_revoked"},
		{"expired, of another namespace", m.other, expired.TokenID, harness.In(time.Hour), 404, "unknown_token"},
		{"upper case id", e.Master, strings.ToUpper(valid.TokenID[:31]) + "A", harness.In(time.Hour), 400, "invalid_body"},
		{"short id", e.Master, valid.TokenID[:31], harness.In(time.Hour), 400, "invalid_body"},
		{"empty id", e.Master, "", harness.In(time.Hour), 400, "invalid_body"},
		{"whole token for an id", e.Master, valid.Token, harness.In(time.Hour), 400, "invalid_body"},
		{"in the past", e.Master, valid.TokenID, harness.In(-time.Second), 400, "expires_at_out_of_range"},
		{"too far", e.Master, valid.TokenID, harness.In(25 * time.Hour), 400, "expires_at_out_of_range"},
		{"no zone", e.Master, valid.TokenID, time.Now().Add(time.Hour).Format("2006-01-02T15:04:05"), 400, "invalid_body"},
		{"the body before the token", e.Master, harness.RandomHex(), "soon", 400, "invalid_body"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := e.With(t).Refresh(tc.master, tc.id, tc.expires)
			harness.CheckNoStore(t, got)
			if tc.status != 200 {
				p := got.Problem(t, tc.status, tc.code)
				harness.CheckSilent(t, p, tc.id, tc.expires)
				return
			}
			body := make(map[string]string)
			got.Decode(t, 200, &body)
			want := map[string]string{
				"message": "token refreshed", "token_id": tc.id, "new_expires_at": harness.WholeSeconds(t, tc.expires),
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
	first, second, third := e.Issue(harness.AllowAll("room")), e.Issue(harness.AllowAll("room")), e.Issue(harness.AllowAll("room"))
	expired := e.IssueExpired()

	for _, tc := range []struct {
		name, master, token string
		status              int
		code                string
	}{
		{"of a name with the same letters", m.other, first.Token, 404, "unknown_token"},
		{"of the namespace around", m.nested, first.Token, 404, "unknown_token"},
		{"wrong secret", e.Master, "AT_" + first.TokenID + "_" + harness.RandomHex(), 404, "unknown_token"},
		{"unknown", e.Master, "AT_" + harness.RandomHex() + "_" + harness.RandomHex(), 404, "unknown_token"},
		{"own", e.Master, first.Token, 200, ""},
		{"again", e.Master, first.Token, 200, ""},
		{"by the twin", m.twin, second.Token, 200, ""},
		{"by the whole overlay", m.all, third.Token, 200, ""},
		{"expired", e.Master, expired.Token, 200, ""},
		{"id alone", e.Master, first.TokenID, 400, "invalid_body"},
		{"upper case", e.Master, "AT_" + strings.ToUpper(first.Token[3:]), 400, "invalid_body"},
		{"empty", e.Master, "", 400, "invalid_body"},
		{"a master token", e.Master, e.Master, 400, "invalid_body"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := e.With(t).Revoke(tc.master, tc.token)
			harness.CheckNoStore(t, got)
			if tc.status != 200 {
				harness.CheckSilent(t, got.Problem(t, tc.status, tc.code), tc.token)
				return
			}
			body := make(map[string]string)
			got.Decode(t, 200, &body)
			want := map[string]string{"message": "token revoked", "token_id": strings.Split(tc.token, "_")[1]}
			if !maps.Equal(body, want) {
				t.Errorf("got %v, want %v", body, want)
			}
		})
	}
	for _, token := range []string{first.Token, second.Token, third.Token, expired.Token} {
		_, refused := e.Open(harness.Handshake{Token: token})
		refused.Problem(t, http.StatusUnauthorized, "")
	}
}
