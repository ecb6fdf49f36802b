package client

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/millrace/millrace/wire"
)

// maxProblem is how much of a refusal's body is read.
const maxProblem = 4096

// refused is the error for an answer that is no success. It reads the body and
// does not close it.
func refused(res *http.Response) *Error {
	body, _ := io.ReadAll(io.LimitReader(res.Body, maxProblem)) // what came of it will do
	e := refusal(res.StatusCode, res.Header, body)
	if isNoEdge(e) && res.Request != nil {
		e.Text = noEdgeText(res, string(body))
	}
	return e
}

// isNoEdge reports whether a refusal comes from a server that is no edge. A status of 500 or more may
// be that of a proxy whose edge is away.
func isNoEdge(e *Error) bool {
	var header tls.RecordHeaderError
	return e.Code == CodeUnreachable && (e.Status > 0 && e.Status < http.StatusInternalServerError || errors.As(e, &header))
}

// noEdgeText says which server answered, and what may be wrong.
func noEdgeText(res *http.Response, body string) string {
	u := res.Request.URL
	server := strings.Replace(u.Scheme, "ws", "http", 1) + "://" + u.Host
	text := fmt.Sprintf("%s answers with HTTP status %d and is not a Millrace edge", server, res.StatusCode)
	to, err := res.Location()
	switch {
	case err == nil && to.Host != "":
		return text + ": it redirects to " + to.Scheme + "://" + to.Host
	case strings.Contains(body, "HTTPS server"):
		return text + ": it expects TLS, so write https://" + u.Host
	}
	return text + ": check host and port, and that its site has the directive pubsub"
}

func refusal(status int, header http.Header, body []byte) *Error {
	var problem struct {
		Code, Detail string
		ConnectionID string `json:"connection_id"`
	}
	_ = json.Unmarshal(body, &problem) // another server's body says nothing
	e := &Error{Code: Code(printable(problem.Code)), Text: printable(problem.Detail), Status: status}
	if id, ok := wire.ParseConnectionID(problem.ConnectionID); ok {
		e.ConnectionID = id.String()
	}
	switch e.Code {
	case "":
		e.Code, e.Text = codeOfStatus(status), "what answers is not a Millrace edge, or a proxy before one"
	case Code(wire.CodeUnauthorized):
		if !strings.HasPrefix(e.Text, "the access token ") { // else it says that it has expired, or was revoked
			e.Text = "the edge does not accept the token: it is incomplete, of another edge, or has ended long ago"
		}
	case "ip_not_allowed":
		e.Text += ": it was issued with IPMasks that do not have the address of this machine, as the edge sees it"
	case "origin_not_allowed":
		e.Text += ": it was issued with Origins, so it is for pages in browsers"
	case "region_not_allowed":
		e.Text += ": it was issued with Regions that do not have the edge's"
	case "protocol_not_allowed":
		e.Text += ": it was issued with Protocols that do not have this transport: use another one, or issue it without"
	case "tls_required":
		e.Text += ": write https://, or have the edge's operator set allow_plaintext"
	case "unavailable":
		e.Text = "a proxy before the edge answers in its place: is the edge running?"
	case "bad_master_token":
		e.Text = "the edge does not accept the master token: it is incomplete, of another edge, or was revoked"
	}
	if seconds, err := strconv.Atoi(header.Get("Retry-After")); err == nil && seconds > 0 {
		e.RetryAfter = time.Duration(min(seconds, 3600)) * time.Second
	}
	return e
}

// codeOfStatus is for answers of something between us and the edge.
func codeOfStatus(status int) Code {
	switch status {
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
	noEdge                      // as tryNext, but it will not get better: this is no edge
	giveUp                      // the token is no good anywhere
)

func judge(err error) verdict {
	e, ok := err.(*Error) //nolint:errorlint // links return nothing else
	switch {
	case ok && isNoEdge(e):
		return noEdge
	case !ok || e.Status == 0:
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
