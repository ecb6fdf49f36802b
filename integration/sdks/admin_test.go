package sdks

import (
	"slices"
	"strings"
	"time"

	"github.com/millrace/millrace/integration/sdk"
)

// A backend issues, refreshes, revokes and lists tokens; a browser must not have
// a master token.
func sdkTokenAdmin(s *sdk.Stage) {
	c := s.Client()
	call := func(master string, command sdk.Command) (sdk.Report, *sdk.Error) {
		s.T.Helper()
		command.Addresses, command.Master = s.Addresses(s.Edges[0]), master
		return c.Try(command)
	}
	must := func(command sdk.Command) sdk.Report {
		s.T.Helper()
		r, err := call(s.Edges[0].Master, command)
		if err != nil {
			s.T.Fatalf("%s: %s: %v", s.Kind, command.Cmd, err)
		}
		return r
	}
	issue := sdk.Command{Cmd: "issue", Tenant: s.Room, Rules: []string{"news.#"}, Seconds: 900}
	if s.Kind.InBrowser() {
		if _, err := call(s.Edges[0].Master, issue); err.ErrorCode() != "bad_option" {
			s.T.Errorf("got %v, want bad_option", err)
		}
		return
	}
	var issued []sdk.Report
	for range 3 { // more than a page
		issued = append(issued, must(issue))
	}
	if left := until(s, issued[0].ExpiresAt); left < 14*time.Minute || left > 15*time.Minute+time.Second {
		s.T.Errorf("the token expires in %v, want 15 minutes", left)
	}
	expires := must(sdk.Command{Cmd: "refresh", TokenID: issued[0].TokenID, Seconds: 7200}).ExpiresAt
	if left := until(s, expires); left < 119*time.Minute || left > 2*time.Hour+time.Second {
		s.T.Errorf("the refreshed token expires in %v, want two hours", left)
	}

	live := s.Connect(sdk.Options{Token: issued[0].Token})
	live.Subscribe(s.Tenant, "news.*").C.Publish(s.Tenant, "news.x", "")
	if _, err := live.TrySubscribe("held", s.Tenant, "other", nil); err.ErrorCode() != "permission_denied" {
		s.T.Errorf("got %v, want permission_denied", err)
	}
	must(sdk.Command{Cmd: "revoke", Token: issued[0].Token})
	_ = live.Ended("token_revoked")

	status := map[string]string{}
	for _, token := range must(sdk.Command{Cmd: "list", Tenant: s.Tenant}).Tokens {
		status[token.TokenID] = token.Status
	}
	if len(status) != 3 || status[issued[0].TokenID] != "revoked" || status[issued[1].TokenID] != "valid" {
		s.T.Errorf("got %v, want the three tokens of the tenant, the first revoked", status)
	}

	zeros := strings.Repeat("0", 32)
	for _, row := range []struct {
		master  string
		command sdk.Command
		code    string
		status  int
	}{
		{"MT_" + zeros + "_" + zeros, issue, "bad_master_token", 401},
		{s.Edges[0].Master, sdk.Command{Cmd: "refresh", TokenID: zeros, Seconds: 60}, "unknown_token", 404},
		{s.Edges[0].Master, sdk.Command{Cmd: "refresh", TokenID: issued[0].TokenID, Seconds: 60}, "token_revoked", 409},
		{s.Edges[0].Master, sdk.Command{Cmd: "revoke", Token: "AT_" + zeros + "_" + zeros}, "unknown_token", 404},
		{s.Edges[0].Master, sdk.Command{Cmd: "issue", Tenant: s.Room, Rules: []string{"a..b"}, Seconds: 60}, "invalid_body", 400},
	} {
		_, err := call(row.master, row.command)
		if err.ErrorCode() != row.code || err.Status != row.status {
			s.T.Errorf("%s: got %+v, want %s with %d", row.command.Cmd, err, row.code, row.status)
		}
		secrets := []string{row.master, row.command.Token}
		if err != nil && slices.ContainsFunc(secrets, func(secret string) bool { return secret != "" && strings.Contains(err.Text, secret) }) {
			s.T.Errorf("%s: the error holds a secret: %v", row.command.Cmd, err)
		}
	}
}

// until is how far a time is.
func until(s *sdk.Stage, text string) time.Duration {
	s.T.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		s.T.Fatal(err)
	}
	return time.Until(at)
}
