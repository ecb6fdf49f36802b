package client

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/millrace/millrace/wire"
)

// maxProblem is how much of a refusal's body is read.
const maxProblem = 4096

// refused is the error for an answer that is no success. It reads the body and
// does not close it.
func refused(res *http.Response) *Error {
	body, _ := io.ReadAll(io.LimitReader(res.Body, maxProblem)) // what came of it will do
	return refusal(res.StatusCode, res.Header, body)
}

func refusal(status int, header http.Header, body []byte) *Error {
	var problem struct {
		Code, Detail string
		ConnectionID string `json:"connection_id"`
	}
	_ = json.Unmarshal(body, &problem) // another server's body says nothing
	e := &Error{Code: Code(problem.Code), Text: problem.Detail, Status: status}
	if id, ok := wire.ParseConnectionID(problem.ConnectionID); ok {
		e.ConnectionID = id.String()
	}
	switch e.Code {
	case "":
		e.Code, e.Text = codeOfStatus(status), "the answer is no edge's: is the address right?"
	case Code(wire.CodeUnauthorized): // its detail is about headers
		e.Text = "the edge does not accept the token"
	case "bad_master_token":
		e.Text = "the edge does not accept the master token"
	}
	if seconds, err := strconv.Atoi(header.Get("Retry-After")); err == nil && seconds > 0 {
		e.RetryAfter = time.Duration(min(seconds, 3600)) * time.Second
	}
	return e
}

// codeOfStatus is for answers of something between us and the edge.
func codeOfStatus(status int) Code {
	switch status {
	case http.StatusUnauthorized:
		return Code(wire.CodeUnauthorized)
	case http.StatusServiceUnavailable, http.StatusBadGateway, http.StatusGatewayTimeout, http.StatusTooManyRequests:
		return "unavailable"
	default:
		return CodeUnreachable
	}
}

// verdict says what follows a failed attempt to connect.
type verdict uint8

const (
	tryNext      verdict = iota // another edge, or later; no other transport of this one
	tryTransport                // another transport of this edge
	notHere                     // as tryNext, but it will not get better: this token is not for this edge
	notThis                     // as tryTransport, but this token is not for this transport
	giveUp                      // the token is no good anywhere
)

func judge(err error) verdict {
	e, ok := err.(*Error) //nolint:errorlint // links return nothing else
	if !ok || e.Status == 0 {
		return tryTransport
	}
	switch e.Code {
	case Code(wire.CodeUnauthorized), "region_not_allowed":
		return notHere
	case "protocol_not_allowed":
		return notThis
	case "ip_not_allowed", "origin_not_allowed", "client_not_allowed", "tls_required", Code(wire.CodeTokenRevoked):
		return giveUp
	}
	if e.Status == http.StatusServiceUnavailable || e.Status == http.StatusTooManyRequests {
		return tryNext
	}
	return tryTransport
}
