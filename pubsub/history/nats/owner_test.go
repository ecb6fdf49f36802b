package nats

import (
	"strings"
	"testing"

	client "github.com/nats-io/nats.go"

	"github.com/millrace/millrace/pubsub/history"
)

// Whose a tenant is comes back as it was sent, beside a sender or without; what is no name counts for nobody.
func TestOwnerHeader(t *testing.T) {
	for _, sender := range []string{"", "ann"} {
		for _, owner := range []string{"", "paint.", strings.Repeat("a", 32)} {
			h := headerOf(&history.Message{Sender: []byte(sender), Owner: owner})
			if (h == nil) != (sender == "" && owner == "") {
				t.Errorf("%q of %q: header %v", owner, sender, h)
			}
			got, invalid := parseSender(h)
			if parseOwner(h) != owner || string(got) != sender || invalid {
				t.Errorf("%q of %q comes back as %q of %q, invalid: %v", owner, sender, parseOwner(h), got, invalid)
			}
		}
	}
	for _, bad := range []string{"", "a b", strings.Repeat("a", 200)} {
		if got := parseOwner(client.Header{headerOwner: {bad}}); got != "" {
			t.Errorf("%q counts for %q", bad, got)
		}
	}
}

// An edge that opens a history later knows whose its tenants are.
func TestOwnerIsStored(t *testing.T) {
	a, b, _ := openTwo(t)
	for _, s := range []*Store{a, b} {
		follow(t, s, "h")
	}
	done := make(chan history.Result, 1)
	a.Append(&history.Message{
		History: "h", Tenant: "t", Channel: []byte("c"), Owner: "paint.",
		Stored: func(_ *history.Message, r history.Result) { done <- r },
	})
	r := <-done
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	for _, s := range []*Store{a, b} {
		awaitHead(t, s, "h", r.Position)
		st, err := s.use("h")
		if err != nil {
			t.Fatal(err)
		}
		st.mu.Lock()
		owner := st.index.Owner("t")
		st.mu.Unlock()
		if owner != "paint." {
			t.Errorf("the tenant is %q's", owner)
		}
	}
}
