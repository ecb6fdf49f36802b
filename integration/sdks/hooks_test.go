package sdks

import (
	"strings"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/sdk"
)

// What an SDK makes of the refusals of hooks; see docs/clients.md.
func sdkHooks(s *sdk.Stage) {
	b := s.Backend
	c := s.Connect(sdk.Options{})
	c.Subscribe(s.Tenant, "fine")
	for pattern, want := range map[string]string{"denied": "permission_denied", "silent": "try_later"} {
		if _, err := c.TrySubscribe("iterate", s.Tenant, pattern, nil); err.ErrorCode() != want || err.Pattern != pattern {
			s.T.Errorf("subscribing to %s: %v, want %s", pattern, err, want)
		}
	}
	closed := s.Connect(sdk.Options{Token: s.Edges[0].Issue(harness.AllowAll("closed")).Token})
	closed.Publish("paint.closed", "a", "x")
	if e := closed.Event("publishError"); e.Code != "permission_denied" || e.Channel != "a" {
		s.T.Errorf("got %v, want permission_denied for the channel a", e)
	}

	token := s.Edges[0].Issue(harness.AllowAll(s.Room))
	b.Refuse(token.TokenID, harness.HookReason)
	refused := s.Client()
	_, err := refused.Try(s.Connecting(s.Kind, sdk.Options{Token: token.Token}))
	want, text := "client_not_allowed", harness.HookReason
	if s.Kind.Blind() {
		want, text = "refused", ""
	}
	if err.ErrorCode() != want || !strings.Contains(err.Text, text) {
		s.T.Errorf("connecting: %v, want %s with the reason %q", err, want, text)
	}
	refused.Never("connected", "reconnecting")
	c.Never("disconnected", "subscriptionError", "edgeError")
}
