package rest

import (
	"net/http"
	"strconv"
)

// Code is the machine-readable name of a refusal: the member "code" of a
// problem body (docs/protocol.md, REST). Clients decide by it, not by the detail.
type Code string

// The codes of this package; each one's status is in [Status].
const (
	CodeInvalidBody          Code = "invalid_body"
	CodeExpiresAtOutOfRange  Code = "expires_at_out_of_range"
	CodeBadMasterToken       Code = "bad_master_token"
	CodeIPNotAllowed         Code = "ip_not_allowed"
	CodeTLSRequired          Code = "tls_required"
	CodeNotFound             Code = "not_found"
	CodeUnknownToken         Code = "unknown_token"
	CodeMethodNotAllowed     Code = "method_not_allowed"
	CodeTokenExpired         Code = "token_expired"
	CodeTokenRevoked         Code = "token_revoked"
	CodeBodyTooLarge         Code = "body_too_large"
	CodeUnsupportedMediaType Code = "unsupported_media_type"
	CodeTooEarly             Code = "too_early"
	CodeReadOnly             Code = "read_only"
	CodeTooManyFailures      Code = "too_many_failures"
	CodeInternal             Code = "internal"
	CodeUnavailable          Code = "unavailable"
	CodeInsufficientStorage  Code = "insufficient_storage"
	CodeQuotaExceeded        Code = "quota_exceeded"
	CodeTooManyRequests      Code = "too_many_requests"
)

// Status gives the HTTP status of each code. Nothing writes to it.
var Status = map[Code]int{
	CodeInvalidBody:          http.StatusBadRequest,
	CodeExpiresAtOutOfRange:  http.StatusBadRequest,
	CodeBadMasterToken:       http.StatusUnauthorized,
	CodeIPNotAllowed:         http.StatusForbidden,
	CodeTLSRequired:          http.StatusForbidden,
	CodeNotFound:             http.StatusNotFound,
	CodeUnknownToken:         http.StatusNotFound,
	CodeMethodNotAllowed:     http.StatusMethodNotAllowed,
	CodeTokenExpired:         http.StatusConflict,
	CodeTokenRevoked:         http.StatusConflict,
	CodeBodyTooLarge:         http.StatusRequestEntityTooLarge,
	CodeUnsupportedMediaType: http.StatusUnsupportedMediaType,
	CodeTooEarly:             http.StatusTooEarly,
	CodeReadOnly:             http.StatusForbidden,
	CodeTooManyFailures:      http.StatusTooManyRequests,
	CodeInternal:             http.StatusInternalServerError,
	CodeUnavailable:          http.StatusServiceUnavailable,
	CodeInsufficientStorage:  http.StatusServiceUnavailable,
	CodeQuotaExceeded:        http.StatusForbidden,
	CodeTooManyRequests:      http.StatusTooManyRequests,
}

// Problem is the body of every refusal, as RFC 9457 describes it. Detail says
// what is wrong and what is allowed; it never holds a value of the request.
type Problem struct {
	Type   string `json:"type"`   // empty: "about:blank"
	Title  string `json:"title"`  // empty: the phrase of Status
	Status int    `json:"status"` // the HTTP status code
	Detail string `json:"detail"`
	Code   string `json:"code"`
	// ConnectionID is the id of a handshake that is refused; empty: it is no handshake.
	ConnectionID string `json:"connection_id,omitempty"`
	// retryAfter is after how many seconds trying again may help, for the header
	// Retry-After (RFC 9110, section 10.2.3); 0: no such header.
	retryAfter int
}

// WriteProblem answers with p as application/problem+json that no cache keeps. The
// caller sets other headers of the refusal (Allow, WWW-Authenticate) before.
func WriteProblem(w http.ResponseWriter, p Problem) {
	if p.Type == "" {
		p.Type = "about:blank"
	}
	if p.Title == "" {
		p.Title = http.StatusText(p.Status)
	}
	if p.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(p.retryAfter))
	}
	writeJSON(w, p.Status, "application/problem+json", p)
}

// refusal returns the Problem for a code of the table above.
func refusal(code Code, detail string) *Problem {
	return &Problem{Status: Status[code], Detail: detail, Code: string(code)}
}

func writeJSON(w http.ResponseWriter, status int, contentType string, body any) {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	if page, ok := body.(TokenPage); ok {
		w.WriteHeader(status)
		page.Stream(w)
		return
	}
	b := marshal(body)
	h.Set("Content-Length", strconv.Itoa(len(b)))
	w.WriteHeader(status)
	_, _ = w.Write(b) // a failed write means that the client is gone
}
