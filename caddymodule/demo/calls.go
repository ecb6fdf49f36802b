package demo

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"go.uber.org/zap"

	"github.com/millrace/millrace/caddymodule/remote"
	"github.com/millrace/millrace/tokenstore/rest"
)

// maxBody is how long the body of a call may be, in bytes.
const maxBody = 1024

// A call is the body of POST /demo/token, which has a subject, and of POST /demo/revoke.
type call struct {
	Subject string `json:"subject"`
	TokenID string `json:"token_id"`
}

// An answer is the body that POST /demo/token is answered with.
type answer struct {
	Token     string            `json:"token"`
	TokenID   string            `json:"token_id"`
	ExpiresIn int64             `json:"expires_in"` // seconds from now
	Tenant    string            `json:"tenant"`
	Hashes    []certificateHash `json:"certificate_hashes"`
	HTTPPort  int               `json:"http_port"`
	HTTPSPort int               `json:"https_port"`
}

// A certificateHash is an entry of a browser's serverCertificateHashes.
type certificateHash struct {
	Algorithm string `json:"algorithm"`
	Value     []byte `json:"value"` // base64 in JSON
}

// serveCall carries out a call of the page alone. No other page in a browser gets a token:
// Sec-Fetch-Site, which no script can set, stops pages of other origins, and the check
// of Host stops pages whose own name resolves to loopback. There are no CORS headers, so
// no other page can read the answer either.
func (h *Handler) serveCall(w http.ResponseWriter, r *http.Request, serve func(http.ResponseWriter, *http.Request, call)) {
	w.Header().Set("Cache-Control", "no-store")
	var c call
	switch {
	case rest.TooEarly(r): // it can be replayed
		refuse(w, http.StatusTooEarly, string(rest.CodeTooEarly), "not in TLS early data; try again")
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		refuse(w, http.StatusMethodNotAllowed, string(rest.CodeMethodNotAllowed), "allowed: POST")
	case !remote.IsLocalName(r.Host):
		refuse(w, http.StatusForbidden, "local_only", localNames)
	case !slices.Equal(r.Header.Values("Sec-Fetch-Site"), []string{"same-origin"}):
		refuse(w, http.StatusForbidden, "cross_site", "only the demo page may call this, in a browser that sends Sec-Fetch-Site: same-origin")
	case json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&c) != nil:
		refuse(w, http.StatusBadRequest, string(rest.CodeInvalidBody), "the body must be a JSON object of at most 1,024 bytes")
	default:
		serve(w, r, c)
	}
}

// issue answers with a token of one of the subjects, and with what the page needs to connect.
func (h *Handler) issue(w http.ResponseWriter, r *http.Request, c call) {
	if !slices.Contains(subjects, c.Subject) {
		refuse(w, http.StatusBadRequest, string(rest.CodeInvalidBody), "subject must be one of: "+strings.Join(subjects, ", "))
		return
	}
	leaf, err := h.edge.Certificate(r.Context())
	if err != nil {
		h.unavailable(w, "the HTTPS port serves no certificate", err)
		return
	}
	token, err := h.edge.Issue(r.Context(), c.Subject)
	if err != nil {
		h.unavailable(w, "no token can be issued", err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer{ // if this fails, the page is gone
		Token: token.Secret, TokenID: token.ID, ExpiresIn: token.ExpiresIn, Tenant: Tenant,
		Hashes:   []certificateHash{{"sha-256", hash(leaf)}},
		HTTPPort: h.edge.HTTPPort, HTTPSPort: h.edge.HTTPSPort,
	})
}

// revoke revokes a token that the page was given.
func (h *Handler) revoke(w http.ResponseWriter, r *http.Request, c call) {
	switch err := h.edge.Revoke(r.Context(), c.TokenID); {
	case errors.Is(err, ErrNotGiven):
		refuse(w, http.StatusForbidden, "not_given", "token_id must be that of a token which this page was given, and which is valid")
	case err != nil:
		h.unavailable(w, "the token cannot be revoked", err)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

func (h *Handler) unavailable(w http.ResponseWriter, what string, err error) {
	h.log.Error(what, zap.Error(err))
	refuse(w, http.StatusServiceUnavailable, string(rest.CodeUnavailable), what+"; try again")
}

const localNames = "the demo is at localhost, 127.0.0.1 or [::1]"
