package demo

import (
	"encoding/json"
	"net/http"
	"slices"

	"go.uber.org/zap"

	"github.com/millrace/millrace/caddymodule/remote"
	"github.com/millrace/millrace/tokenstore/rest"
)

// An answer is the body of POST /demo/token.
type answer struct {
	Token     string            `json:"token"`
	ExpiresIn int64             `json:"expires_in"` // seconds from now
	Tenant    string            `json:"tenant"`
	Hashes    []certificateHash `json:"certificate_hashes"`
	HTTPSPort int               `json:"https_port"`
}

// A certificateHash is an entry of a browser's serverCertificateHashes.
type certificateHash struct {
	Algorithm string `json:"algorithm"`
	Value     []byte `json:"value"` // base64 in JSON
}

// serveToken gives a token only to the page. No other page in a browser gets one:
// Sec-Fetch-Site, which no script can set, stops pages of other origins, and the check
// of Host stops pages whose own name resolves to loopback. There are no CORS headers, so
// no other page can read the answer either.
func (h *Handler) serveToken(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	switch {
	case rest.TooEarly(r): // it can be replayed
		refuse(w, http.StatusTooEarly, string(rest.CodeTooEarly), "not in TLS early data; try again")
		return
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		refuse(w, http.StatusMethodNotAllowed, string(rest.CodeMethodNotAllowed), "allowed: POST")
		return
	case !remote.IsLocalName(r.Host):
		refuse(w, http.StatusForbidden, "local_only", localNames)
		return
	case !slices.Equal(r.Header.Values("Sec-Fetch-Site"), []string{"same-origin"}):
		refuse(w, http.StatusForbidden, "cross_site", "only the demo page gets a token, in a browser that sends Sec-Fetch-Site: same-origin")
		return
	}
	leaf, err := h.edge.Certificate(r.Context())
	if err != nil {
		h.unavailable(w, "the HTTPS port serves no certificate", err)
		return
	}
	token, expiresIn, err := h.edge.Issue(r.Context())
	if err != nil {
		h.unavailable(w, "no token can be issued", err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer{ // if this fails, the page is gone
		Token: token, ExpiresIn: expiresIn, Tenant: Tenant,
		Hashes:    []certificateHash{{"sha-256", hash(leaf)}},
		HTTPSPort: h.edge.HTTPSPort,
	})
}

func (h *Handler) unavailable(w http.ResponseWriter, what string, err error) {
	h.log.Error(what, zap.Error(err))
	refuse(w, http.StatusServiceUnavailable, string(rest.CodeUnavailable), what+"; try again")
}

const localNames = "the demo is at localhost, 127.0.0.1 or [::1]"
