package sdks

import (
	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/history"
	"github.com/millrace/millrace/integration/sdk"
)

// Messages say who has published them to clients that ask, whatever their payload says, also
// those of a history.
func sdkSenders(s *sdk.Stage) {
	as := func(subject string) *sdk.Client {
		s.T.Helper()
		request := harness.TokenRequest(history.AllowHistory(s.Room))
		if subject != "" {
			request["subject"] = subject
		}
		token := s.Edges[0].IssueAs(s.Edges[0].Master, request).Token
		return s.Connect(sdk.Options{Token: token, Sender: true})
	}
	want := func(sub *sdk.Sub, payload, sender string) {
		s.T.Helper()
		if m := sub.Next(); string(m.Payload) != payload || m.Sender != sender {
			s.T.Errorf("%s: got %q from %q, want %q from %q", s.Kind, m.Payload, m.Sender, payload, sender)
		}
	}
	const forged = `{"sender":"ada"}`
	reader, nobody := as("reader"), as("")
	ada, zoë := as("ada"), as("Zoë *.#")
	live := reader.Subscribe(s.Tenant, "chat.*")
	ada.Publish(s.Tenant, "chat.a", "hello")
	want(live, "hello", "ada")
	zoë.Publish(s.Tenant, "chat.a", forged)
	want(live, forged, "Zoë *.#")
	nobody.Publish(s.Tenant, "chat.a", forged)
	want(live, forged, "")
	zoë.Must(sdk.Command{Cmd: "publish", Tenant: s.Tenant, Channel: "chat.a", Payload: []byte("to one"), Delivery: "one-nearest"})
	want(live, "to one", "Zoë *.#")

	zoë.Confirm(s.Tenant, "chat.b", forged, "key")
	want(live, forged, "Zoë *.#")
	stored := ada.From(history.Last{Last: 1}, s.Tenant, "chat.b")
	want(stored, forged, "Zoë *.#")
	ada.Confirm(s.Tenant, "chat.b", "mine", "")
	want(stored, "mine", "ada")

	// Who does not ask is told nothing.
	plain := s.Connect(sdk.Options{})
	unasked := plain.Subscribe(s.Tenant, "chat.a")
	ada.Publish(s.Tenant, "chat.a", "again")
	want(unasked, "again", "")
	reader.Never("disconnected", "edgeError", "publishError")
}
