// Package demo is the page on which to try the edge of `pubsub dev` in a
// browser. It gives access tokens to whoever opens the page, so no
// configuration may name it: its module exists in a process only after
// [Register], which only the command dev calls.
package demo

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/millrace/millrace/caddymodule/remote"
	"github.com/millrace/millrace/tokenstore/rest"
)

// Where the page with two clients is, the one to explore patterns, transports and deliveries,
// and the calls of both. OldPath, which leads to the first one, has their files below it.
const (
	PagePath    = "/"
	OldPath     = "/demo"
	ExplorePath = "/demo/explore"
	TokenPath   = "/demo/token"
	RevokePath  = "/demo/revoke"
)

// The tenant and the lifetime of the page's tokens.
const (
	Tenant   = "demo"
	Lifetime = time.Hour
)

// subjects are whose tokens the page may ask for: those of its two clients, and those of its
// visitor, for code to copy and for exploring.
var subjects = []string{"ada", "ben", "you"}

// ErrNotGiven is the error of [Edge.Revoke] for a token that Issue has not issued.
var ErrNotGiven = errors.New("the token was not issued by the demo page")

// A Token is what Issue issues.
type Token struct {
	Secret    string // the whole token
	ID        string
	ExpiresIn int64 // seconds from now
}

// An Edge is what the page connects to.
type Edge struct {
	HTTPPort, HTTPSPort int // on localhost

	// Issue issues an access token of a subject for all channels of [Tenant] that is valid
	// for [Lifetime]. It may be called concurrently.
	Issue func(ctx context.Context, subject string) (Token, error)

	// Revoke revokes a token that Issue has issued, by its id, also in an earlier process.
	// The error for any other is ErrNotGiven. It may be called concurrently.
	Revoke func(ctx context.Context, id string) error

	// Certificate returns the leaf that the HTTPS port serves at this moment.
	// It may be called concurrently.
	Certificate func(context.Context) (*x509.Certificate, error)
}

// Register registers the handler `pubsub_demo` and its directive with Caddy, in this
// process. It must be called at most once, before a configuration names them.
func Register(edge Edge) {
	caddy.RegisterModule(newHandler(edge))
	httpcaddyfile.RegisterHandlerDirective("pubsub_demo", func(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
		demo := newHandler(edge)
		return demo, demo.UnmarshalCaddyfile(h.Dispenser)
	})
	httpcaddyfile.RegisterDirectiveOrder("pubsub_demo", httpcaddyfile.Before, "handle")
}

// Handler serves the page at `/`, and its files and calls below `/demo`. It has no
// options. It answers only on loopback, whatever listener it is put behind.
type Handler struct {
	edge   Edge
	files  map[string]file
	policy string // Content-Security-Policy
	log    *zap.Logger
}

func newHandler(edge Edge) *Handler {
	return &Handler{edge: edge, files: files(), policy: edge.contentSecurityPolicy(), log: zap.NewNop()}
}

// contentSecurityPolicy lets the page load its own files and connect to this
// edge. The sockets are spelled out: not every browser counts them to 'self',
// and WebTransport goes from the HTTP page to the HTTPS port. The origins are
// for /ping, from a page at 127.0.0.1.
func (e Edge) contentSecurityPolicy() string {
	return fmt.Sprintf("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "+
		"connect-src 'self' http://localhost:%[1]d ws://localhost:%[1]d https://localhost:%[2]d wss://localhost:%[2]d; "+
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
		e.HTTPPort, e.HTTPSPort)
}

// CaddyModule implements [caddy.Module].
func (h *Handler) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{
		ID:  "http.handlers.pubsub_demo",
		New: func() caddy.Module { return newHandler(h.edge) },
	}
}

// UnmarshalCaddyfile implements [caddyfile.Unmarshaler]. Syntax:
//
//	pubsub_demo
func (h *Handler) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // consume the directive's name
	if d.NextArg() || d.NextBlock(0) {
		return d.Err("pubsub_demo takes neither arguments nor a block")
	}
	return nil
}

// Provision implements [caddy.Provisioner].
func (h *Handler) Provision(ctx caddy.Context) error {
	h.log = ctx.Logger()
	return nil
}

// ServeHTTP implements [caddyhttp.MiddlewareHandler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	path := r.URL.EscapedPath()
	if path != PagePath && path != OldPath && !strings.HasPrefix(path, OldPath+"/") {
		return next.ServeHTTP(w, r)
	}
	header := w.Header()
	header.Set("Content-Security-Policy", h.policy)
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Content-Type-Options", "nosniff")
	switch {
	case !remote.OnLoopback(r):
		refuse(w, http.StatusForbidden, "local_only", "the demo answers only on loopback")
	case path == TokenPath:
		h.serveCall(w, r, h.issue)
	case path == RevokePath:
		h.serveCall(w, r, h.revoke)
	default:
		h.serveFile(w, r, path)
	}
	return nil
}

// serveFile answers GET and HEAD of the page and its files.
func (h *Handler) serveFile(w http.ResponseWriter, r *http.Request, path string) {
	f, found := h.files[path]
	switch {
	case !remote.IsLocalName(r.Host):
		refuse(w, http.StatusForbidden, "local_only", localNames)
	case path == OldPath:
		http.Redirect(w, r, PagePath, http.StatusFound)
	case !found:
		refuse(w, http.StatusNotFound, string(rest.CodeNotFound), "there is nothing at this path; paths are exact, without a trailing slash")
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		refuse(w, http.StatusMethodNotAllowed, string(rest.CodeMethodNotAllowed), "allowed: GET, HEAD")
	default:
		f.serve(w, r)
	}
}

// refuse answers with a problem body (docs/protocol.md, REST).
func refuse(w http.ResponseWriter, status int, code, detail string) {
	rest.WriteProblem(w, rest.Problem{Status: status, Code: code, Detail: detail})
}

// hash returns the SHA-256 of a certificate, for a browser's serverCertificateHashes.
func hash(leaf *x509.Certificate) []byte {
	sum := sha256.Sum256(leaf.Raw)
	return sum[:]
}

var (
	_ caddy.Provisioner           = (*Handler)(nil)
	_ caddyfile.Unmarshaler       = (*Handler)(nil)
	_ caddyhttp.MiddlewareHandler = (*Handler)(nil)
)
