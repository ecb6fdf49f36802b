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
			h := headerOf(&history.Message{Sender: []byte(sender)}, owner)
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

// An edge that opens a history later knows whose its tenants are, also where another issuer stored what is
// left.
func TestOwnerIsStored(t *testing.T) {
	a, b, by := openTwo(t)
	for _, s := range []*Store{a, b} {
		follow(t, s, "h")
	}
	at := putOf(t, a, "paint.", "t", "c", "1")
	awaitHead(t, b, "h", at)
	putOf(t, b, "guest.", "t", "d", "2")
	if _, err := a.Purge("h", "t", "c"); err != nil {
		t.Fatal(err)
	}
	at = putOf(t, a, "paint.", "t", "d", "3")
	later := open(t, by)
	define(t, later, definition("h"))
	for _, s := range []*Store{a, b, later} {
		awaitHead(t, s, "h", at)
		st := s.find("h")
		st.mu.Lock()
		owner := st.index.Owner("t")
		st.mu.Unlock()
		if owner != "paint." {
			t.Errorf("the tenant is %q's", owner)
		}
	}
}
