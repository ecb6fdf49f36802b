package client

import (
	"net/http"
	"strings"
	"testing"
)

// The error of a refused handshake has the id by which operators find it, in its text, too; what
// is no such id is not taken.
func TestRefusalHasConnectionID(t *testing.T) {
	body := func(id string) []byte {
		return []byte(`{"code":"unauthorized","detail":"x","connection_id":"` + id + `"}`)
	}
	e := refusal(http.StatusUnauthorized, nil, body("5f3a9c01b2d4e6f8"))
	if e.ConnectionID != "5f3a9c01b2d4e6f8" || !strings.Contains(e.Error(), "(connection id 5f3a9c01b2d4e6f8)") {
		t.Errorf("got %+v: %v", *e, e)
	}
	if e = refusal(http.StatusUnauthorized, nil, body("AT_secret")); e.ConnectionID != "" || strings.Contains(e.Error(), "connection id") {
		t.Errorf("got %+v", *e)
	}
}
