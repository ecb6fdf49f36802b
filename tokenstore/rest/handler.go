// Package rest is the token administration over HTTP: the routes below /v1/ of
// docs/protocol.md, section REST. It knows net/http and package tokenstore, but
// no web server.
//
// A request is checked in this order, and the first check that fails gives the
// answer: 425 (early data), 404 (no such path), 405, 429 too_many_failures, 401,
// 403 ip_not_allowed, 403 tls_required, 429 too_many_requests, 415, 413, 400, 404,
// 409, 403 quota_exceeded or read_only, 503. No byte of the body is read before
// the second 429 is ruled out.
package rest

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"strings"

	"go.uber.org/zap"

	"github.com/millrace/millrace/tokenstore"
)

// Options are what the handler needs from its surroundings. Every function may
// be called concurrently.
type Options struct {
	// Service returns the service to ask, once per request. If it returns nil, there
	// is none at the moment: 503.
	Service func() *tokenstore.Service
	// Authenticate returns the master token of a caller, as the service's
	// AuthenticateMaster does, or [tokenstore.ErrTooManyFailures]. Nil: it is
	// AuthenticateMaster.
	Authenticate func(context.Context, *tokenstore.Service, string, netip.Addr) (*tokenstore.Master, error)
	// ClientIP returns the caller's address, or false when it is not known; a master
	// token with masks is refused then. Nil: it is never known.
	ClientIP func(*http.Request) (netip.Addr, bool)
	// Secure reports whether a token may travel on this request's connection; if not,
	// the answer is 403 tls_required. Nil: only over TLS.
	Secure func(*http.Request) bool
	// Observe is called for each call of one of the Routes, once, when its outcome is
	// known and before the answer is written; also of a call that was refused, but
	// not of an unknown path or method. The answer waits for it. Nil:
	// nobody is told.
	Observe func(Operation)
	// Log gets faults of the edge, never a part of a request. Nil: nothing is
	// logged.
	Log *zap.Logger
}

// NewHandler returns the handler of the /v1/ routes. Any other path is answered with
// 404; paths are compared exactly as they were sent.
func NewHandler(o Options) http.Handler {
	if o.ClientIP == nil {
		o.ClientIP = func(*http.Request) (netip.Addr, bool) { return netip.Addr{}, false }
	}
	if o.Authenticate == nil {
		o.Authenticate = func(ctx context.Context, s *tokenstore.Service, token string, ip netip.Addr) (*tokenstore.Master, error) {
			return s.AuthenticateMaster(ctx, token, ip)
		}
	}
	if o.Secure == nil {
		o.Secure = func(r *http.Request) bool { return r.TLS != nil }
	}
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	if o.Observe == nil {
		o.Observe = func(Operation) {}
	}
	return &handler{o}
}

type handler struct{ Options }

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := &requestBody{ReadCloser: r.Body}
	r = r.WithContext(r.Context()) // a copy: net/http reads the Body of its own request
	r.Body = body
	answer, problem := h.serve(w, r)
	if page, ok := answer.(TokenPage); ok {
		defer page.written()
	}
	mustClose := body.mustClose(r)
	if mustClose {
		w.Header().Set("Connection", "close")
	}
	if problem != nil {
		WriteProblem(w, *problem)
	} else {
		writeJSON(w, http.StatusOK, "application/json", answer)
	}
	if a, ok := answer.(SubjectRevoked); ok {
		_ = http.NewResponseController(w).Flush() // one that cannot has sent it
		a.Reopen()
	}
	if mustClose {
		body.linger(w, r)
	}
}

// serve finds the route, answers, and tells the observer.
func (h *handler) serve(w http.ResponseWriter, r *http.Request) (any, *Problem) {
	// The escaped path, so that /v1/get%2Dtoken is another path.
	path := r.URL.EscapedPath()
	route, methods := find(r.Method, path)
	if route == nil {
		switch {
		case TooEarly(r):
			return nil, tooEarly()
		case len(methods) == 0:
			return nil, refusal(CodeNotFound, "there is nothing at this path; paths are exact, without a trailing slash")
		}
		allow := strings.Join(methods, ", ")
		w.Header().Set("Allow", allow)
		return nil, refusal(CodeMethodNotAllowed, "allowed: "+allow)
	}
	op := Operation{Name: route.Operation, Status: http.StatusOK}
	if ip, known := h.ClientIP(r); known {
		op.IP = ip
	}
	answer, problem := h.answer(w, r, route, &op)
	if problem != nil {
		op.Status, op.Code = problem.Status, Code(problem.Code)
	}
	h.Observe(op)
	return answer, problem
}

// answer answers a call of a route. It notes in op who called, and what about.
func (h *handler) answer(w http.ResponseWriter, r *http.Request, route *Route, op *Operation) (any, *Problem) {
	if TooEarly(r) {
		return nil, tooEarly()
	}
	service := h.Service()
	if service == nil {
		return nil, unavailable()
	}
	master, err := h.Authenticate(r.Context(), service, credential(r), op.IP)
	if err != nil {
		return nil, h.problem(w, r, err)
	}
	op.Master = master.ID
	if !h.Secure(r) {
		return nil, refusal(CodeTLSRequired, "tokens are accepted over HTTPS only")
	}
	if err := service.Allow(master); err != nil {
		return nil, h.problem(w, r, err)
	}
	input, refused := route.read(r)
	if refused != nil {
		return nil, refused
	}
	answer, err := route.call(r.Context(), service, master, input, op)
	if err != nil {
		return nil, h.problem(w, r, err)
	}
	return answer, nil
}

// read returns the input of the route's call.
func (r *Route) read(req *http.Request) ([]byte, *Problem) {
	switch r.input {
	case query:
		return []byte(req.URL.RawQuery), nil
	case subject:
		var content []byte
		if req.ContentLength != 0 {
			var refused *Problem
			if content, refused = readBody(req); refused != nil && req.URL.RawQuery == "" {
				return nil, refused
			}
		}
		subject, err := SubjectOf(req.URL.RawQuery, content)
		if err != nil {
			return nil, refusal(CodeInvalidBody, err.Error())
		}
		return []byte(subject), nil
	case lastOfURL:
		if req.URL.RawQuery != "" {
			return nil, refusal(CodeInvalidBody, "query: must be empty")
		}
		path := req.URL.EscapedPath()
		return []byte(path[strings.LastIndexByte(path, '/')+1:]), nil
	}
	return readBody(req)
}

func tooEarly() *Problem {
	return refusal(CodeTooEarly, "not in TLS early data, which can be replayed; send it again after the handshake")
}

// TooEarly reports whether a request came in TLS early data, which can be replayed:
// to this server, or to a proxy in front of it, which says so in the header Early-Data.
// An invalid value of that header means the same (RFC 8470, section 5.1).
func TooEarly(r *http.Request) bool {
	return r.TLS != nil && !r.TLS.HandshakeComplete || len(r.Header["Early-Data"]) > 0
}

// credential returns the master token of the request, empty if there is none. Two
// Authorization headers count as none: a proxy in front may have checked the other one.
func credential(r *http.Request) string {
	headers := r.Header.Values("Authorization")
	if len(headers) != 1 {
		return ""
	}
	scheme, token, _ := strings.Cut(headers[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.Trim(token, " ")
}

// problem is the refusal for an error of the service.
func (h *handler) problem(w http.ResponseWriter, r *http.Request, err error) *Problem {
	switch {
	case errors.Is(err, tokenstore.ErrBadMasterToken):
		w.Header().Set("WWW-Authenticate", "Bearer")
	case errors.Is(err, tokenstore.ErrTooManyFailures):
		w.Header().Set("Retry-After", "1")
	}
	p := ProblemFor(err, h.Log.With(zap.String("route", r.URL.Path)))
	return &p
}

// ProblemFor returns the refusal for an error of a [tokenstore.Service]. It logs errors
// that the caller cannot repair, without anything that the caller sent.
func ProblemFor(err error, log *zap.Logger) Problem {
	var invalid *tokenstore.InvalidError
	switch {
	case errors.As(err, &invalid):
		return *refusal(Code(invalid.Code), invalid.Error())
	case errors.Is(err, tokenstore.ErrBadMasterToken):
		return *refusal(CodeBadMasterToken, "needs one header Authorization: Bearer with a valid master token")
	case errors.Is(err, tokenstore.ErrTooManyFailures):
		return *refusal(CodeTooManyFailures, err.Error())
	case errors.Is(err, tokenstore.ErrIPNotAllowed):
		return *refusal(CodeIPNotAllowed, err.Error())
	case errors.Is(err, tokenstore.ErrUnknownToken):
		return *refusal(CodeUnknownToken, err.Error())
	case errors.Is(err, tokenstore.ErrTokenExpired):
		return *refusal(CodeTokenExpired, err.Error())
	case errors.Is(err, tokenstore.ErrTokenRevoked):
		return *refusal(CodeTokenRevoked, err.Error())
	case errors.Is(err, tokenstore.ErrReadOnly):
		return *refusal(CodeReadOnly, err.Error())
	case errors.Is(err, tokenstore.ErrQuotaExceeded):
		return *refusal(CodeQuotaExceeded, err.Error())
	case errors.Is(err, tokenstore.ErrTooManyRequests):
		p := *refusal(CodeTooManyRequests, err.Error())
		p.retryAfter = 1
		return p
	case errors.Is(err, tokenstore.ErrSubjectClosing):
		p := *refusal(CodeUnavailable, err.Error()+"; try again")
		p.retryAfter = 1
		return p
	case errors.Is(err, tokenstore.ErrInsufficientStorage): // the store has logged it, once
		p := *refusal(CodeInsufficientStorage, "the token store has no room for changes; what it has goes on working")
		p.retryAfter = storageRetryAfter
		return p
	case errors.Is(err, context.Canceled):
		return *unavailable() // the client is gone, or the edge stops: nothing to report
	}
	log.Error("token administration failed", zap.Error(err))
	if errors.Is(err, tokenstore.ErrFormat) {
		return *refusal(CodeUnavailable, "a token is stored in a format that this edge does not read, as a newer version writes it: try another edge; the log says more")
	}
	if errors.Is(err, tokenstore.ErrClosed) || errors.Is(err, tokenstore.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) {
		return *unavailable()
	}
	return *refusal(CodeInternal, "a fault of the server; its log says more")
}

// storageRetryAfter is after how many seconds to try again when a disk is full: somebody
// has to make room first.
const storageRetryAfter = 30

func unavailable() *Problem {
	return refusal(CodeUnavailable, "the token store is out of reach; try again")
}
