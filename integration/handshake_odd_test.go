package integration

import (
	"net/http"
	"strings"
	"testing"
)

// Handshakes that are almost right.
func TestHandshakeOddities(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	token := e.issue(allowAll("room")).Token
	for _, c := range []struct {
		name   string
		u      upgrade
		status int
		code   string
	}{
		{"a path with an escape", upgrade{Path: "/%77s", Header: []string{bearer(token)}}, http.StatusNotFound, ""},
		{"a body that is announced and never comes", upgrade{Header: []string{bearer(token), "Content-Length: 3"}}, http.StatusBadRequest, "bad_handshake"},
		{"the token in WebTransport's header", upgrade{Header: []string{offer("llps.v1"), `WT-Available-Protocols: "llps.v1", "at.` + token + `"`}}, http.StatusUnauthorized, "unauthorized"},
		{"the token in both headers", upgrade{Header: []string{offer("llps.v1, at." + token), `WT-Available-Protocols: "at.` + token + `"`}}, http.StatusSwitchingProtocols, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := e.with(t).upgrade(c.u)
			if c.code != "" {
				a.problem(t, c.status, c.code)
			} else if a.Status != c.status {
				t.Errorf("got status %d, want %d: %s", a.Status, c.status, a.Body)
			}
		})
	}
}

// Trusting proxies with whatever X-Forwarded-For they pass on is worth a warning.
func TestForgeableAddressWarning(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, servers string
		want          bool
	}{
		{"not strict", "trusted_proxies static 10.0.0.0/8", true},
		{"strict", "trusted_proxies static 10.0.0.0/8\n\t\ttrusted_proxies_strict", false},
		{"none", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := startEdge(t, "{\n\tservers {\n\t\t"+c.servers+"\n\t}\n"+strings.TrimPrefix(defaultCaddyfile, "{"))
			if got := strings.Contains(e.output(), "a client can forge the address"); got != c.want {
				t.Errorf("warned: %v, want %v", got, c.want)
			}
		})
	}
}
