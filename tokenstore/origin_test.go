package tokenstore_test

import (
	"testing"

	"github.com/millrace/millrace/tokenstore"
)

func TestOriginEntries(t *testing.T) {
	b := newTestbed(t, tokenstore.Config{})
	for _, c := range []struct {
		entry string
		want  string // normalised; empty: refused
	}{
		{"https://example.com", "https://example.com"},
		{"https://example.com:443", "https://example.com"},
		{"http://example.com:80", "http://example.com"},
		{"http://example.com:443", "http://example.com:443"},
		{"https://EXAMPLE.com:08443", "https://example.com:8443"},
		{"HTTPS://example.com", "https://example.com"},
		{"http://127.0.0.1:3000", "http://127.0.0.1:3000"},
		{"http://[::1]:3000", "http://[::1]:3000"},
		{"https://[2001:DB8:0::1]", "https://[2001:db8::1]"},
		{"https://xn--bcher-kva.example", "https://xn--bcher-kva.example"},
		{"capacitor://localhost", "capacitor://localhost"},
		{"chrome-extension://abcdefghijklmnop", "chrome-extension://abcdefghijklmnop"},
		{"null", "null"},
		{"NULL", ""}, {"", ""}, {"*", ""}, {"example.com", ""}, {"//example.com", ""}, {"https://", ""},
		{"https://*.example.com", ""}, {"https://example.com/", ""}, {"https://example.com/a", ""},
		{"https://example.com?a", ""}, {"https://example.com#a", ""}, {"https://me@example.com", ""},
		{"https://example.com:", ""}, {"https://example.com:0", ""}, {"https://example.com:65536", ""},
		{"https://example.com:+1", ""}, {"https://example.com:8o", ""}, {"https://a:1:2", ""},
		{"https://bücher.example", ""}, {"https://\u212aelvin.example", ""}, {"https://a b", ""},
		{"https://[::1", ""}, {"https://[::1]x", ""}, {"https://[1.2.3.4]", ""}, {"https://[fe80::1%25eth0]", ""},
		{"1http://a", ""}, {"ht tp://a", ""}, {"https:/a", ""}, {"null ", ""},
	} {
		right := grantAll("t")
		right.AllowedWSOrigin = []string{"null", c.entry}
		issued, err := b.Issue(t.Context(), b.Overlay(), tokenstore.IssueRequest{CreatedBy: "test", Right: right})
		if c.want == "" {
			wantInvalid(t, err, "right.allowed_ws_origin[1]", tokenstore.CodeInvalidBody)
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", c.entry, err)
			continue
		}
		a, err := b.Lookup(t.Context(), issued.TokenID)
		must(t, err)
		for _, sent := range []string{c.entry, c.want} {
			if err := a.CheckConnection(tokenstore.Connection{Origins: []string{sent}}); err != nil {
				t.Errorf("an entry %q refuses the origin %q", c.entry, sent)
			}
		}
	}
}
