package integration

import (
	"slices"
	"strings"
	"time"
)

// A backend issues, refreshes, revokes and lists tokens; a browser must not have
// a master token.
func sdkTokenAdmin(s *sdkStage) {
	c := s.client()
	call := func(master string, command sdkCommand) (sdkReport, *sdkError) {
		s.t.Helper()
		command.Addresses, command.Master = s.addresses(s.edges[0]), master
		return c.try(command)
	}
	must := func(command sdkCommand) sdkReport {
		s.t.Helper()
		r, err := call(s.edges[0].master, command)
		if err != nil {
			s.t.Fatalf("%s: %s: %v", s.kind, command.Cmd, err)
		}
		return r
	}
	issue := sdkCommand{Cmd: "issue", Tenant: s.room, Rules: []string{"news.#"}, Seconds: 900}
	if s.kind.inBrowser() {
		if _, err := call(s.edges[0].master, issue); err.ErrorCode() != "bad_option" {
			s.t.Errorf("got %v, want bad_option", err)
		}
		return
	}
	var issued []sdkReport
	for range 3 { // more than a page
		issued = append(issued, must(issue))
	}
	if left := until(s, issued[0].ExpiresAt); left < 14*time.Minute || left > 15*time.Minute+time.Second {
		s.t.Errorf("the token expires in %v, want 15 minutes", left)
	}
	expires := must(sdkCommand{Cmd: "refresh", TokenID: issued[0].TokenID, Seconds: 7200}).ExpiresAt
	if left := until(s, expires); left < 119*time.Minute || left > 2*time.Hour+time.Second {
		s.t.Errorf("the refreshed token expires in %v, want two hours", left)
	}

	live := s.connect(sdkOptions{Token: issued[0].Token})
	live.subscribe(s.tenant, "news.*").c.publish(s.tenant, "news.x", "")
	if _, err := live.trySubscribe("held", s.tenant, "other", nil); err.ErrorCode() != "permission_denied" {
		s.t.Errorf("got %v, want permission_denied", err)
	}
	must(sdkCommand{Cmd: "revoke", Token: issued[0].Token})
	_ = live.ended("token_revoked")

	status := map[string]string{}
	for _, token := range must(sdkCommand{Cmd: "list", Tenant: s.tenant}).Tokens {
		status[token.TokenID] = token.Status
	}
	if len(status) != 3 || status[issued[0].TokenID] != "revoked" || status[issued[1].TokenID] != "valid" {
		s.t.Errorf("got %v, want the three tokens of the tenant, the first revoked", status)
	}

	zeros := strings.Repeat("0", 32)
	for _, row := range []struct {
		master  string
		command sdkCommand
		code    string
		status  int
	}{
		{"MT_" + zeros + "_" + zeros, issue, "bad_master_token", 401},
		{s.edges[0].master, sdkCommand{Cmd: "refresh", TokenID: zeros, Seconds: 60}, "unknown_token", 404},
		{s.edges[0].master, sdkCommand{Cmd: "refresh", TokenID: issued[0].TokenID, Seconds: 60}, "token_revoked", 409},
		{s.edges[0].master, sdkCommand{Cmd: "revoke", Token: "AT_" + zeros + "_" + zeros}, "unknown_token", 404},
		{s.edges[0].master, sdkCommand{Cmd: "issue", Tenant: s.room, Rules: []string{"a..b"}, Seconds: 60}, "invalid_body", 400},
	} {
		_, err := call(row.master, row.command)
		if err.ErrorCode() != row.code || err.Status != row.status {
			s.t.Errorf("%s: got %+v, want %s with %d", row.command.Cmd, err, row.code, row.status)
		}
		secrets := []string{row.master, row.command.Token}
		if err != nil && slices.ContainsFunc(secrets, func(secret string) bool { return secret != "" && strings.Contains(err.Text, secret) }) {
			s.t.Errorf("%s: the error holds a secret: %v", row.command.Cmd, err)
		}
	}
}

// until is how far a time is.
func until(s *sdkStage, text string) time.Duration {
	s.t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		s.t.Fatal(err)
	}
	return time.Until(at)
}
