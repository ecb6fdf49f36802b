package integration

// Messages say who has published them to clients that ask, whatever their payload says, also
// those of a history.
func sdkSenders(s *sdkStage) {
	as := func(subject string) *sdkClient {
		s.t.Helper()
		request := tokenRequest(allowHistory(s.room))
		if subject != "" {
			request["subject"] = subject
		}
		token := s.edges[0].issueAs(s.edges[0].master, request).Token
		return s.connect(sdkOptions{Token: token, Sender: true})
	}
	want := func(sub *sdkSub, payload, sender string) {
		s.t.Helper()
		if m := sub.next(); string(m.Payload) != payload || m.Sender != sender {
			s.t.Errorf("%s: got %q from %q, want %q from %q", s.kind, m.Payload, m.Sender, payload, sender)
		}
	}
	const forged = `{"sender":"ada"}`
	reader, nobody := as("reader"), as("")
	ada, zoë := as("ada"), as("Zoë *.#")
	live := reader.subscribe(s.tenant, "chat.*")
	ada.publish(s.tenant, "chat.a", "hello")
	want(live, "hello", "ada")
	zoë.publish(s.tenant, "chat.a", forged)
	want(live, forged, "Zoë *.#")
	nobody.publish(s.tenant, "chat.a", forged)
	want(live, forged, "")
	zoë.must(sdkCommand{Cmd: "publish", Tenant: s.tenant, Channel: "chat.a", Payload: []byte("to one"), Delivery: "one-nearest"})
	want(live, "to one", "Zoë *.#")

	zoë.confirm(s.tenant, "chat.b", forged, "key")
	want(live, forged, "Zoë *.#")
	stored := ada.from(historyLast{1}, s.tenant, "chat.b")
	want(stored, forged, "Zoë *.#")
	ada.confirm(s.tenant, "chat.b", "mine", "")
	want(stored, "mine", "ada")

	// Who does not ask is told nothing.
	plain := s.connect(sdkOptions{})
	unasked := plain.subscribe(s.tenant, "chat.a")
	ada.publish(s.tenant, "chat.a", "again")
	want(unasked, "again", "")
	reader.never("disconnected", "edgeError", "publishError")
}
