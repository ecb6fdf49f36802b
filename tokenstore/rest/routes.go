package rest

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/millrace/millrace/tokenstore"
)

// A Route is one row of the table of calls in docs/protocol.md, REST.
type Route struct {
	Path      string   // exact, except that a last element {token_id} stands for any
	Methods   []string // more than one only for GET and HEAD
	Operation string   // the name of what it does, for metrics and Operation.Name
	// Refusals are the codes that a request with one of the Methods can get.
	Refusals []Code

	input input
	// call answers for an authenticated caller. It notes in the Operation which token
	// the call is about, and what became of it.
	call func(context.Context, *tokenstore.Service, *tokenstore.Master, []byte, *Operation) (any, error)
}

// input is what a call of a route gets of the request.
type input int

const (
	body      input = iota
	query           // raw
	subject         // of the query or a body, see SubjectOf
	lastOfURL       // the last element of the path, escaped as it was sent; there is no query
)

// TakesBody reports whether the route reads a JSON body.
func (r Route) TakesBody() bool { return r.input == body || r.input == subject }

// matches reports whether the route has a path, which is escaped.
func (r Route) matches(path string) bool {
	fixed, variable := strings.CutSuffix(r.Path, "{token_id}")
	if !variable {
		return path == r.Path
	}
	last, ok := strings.CutPrefix(path, fixed)
	return ok && last != "" && !strings.Contains(last, "/")
}

// find returns the route for a request; if there is none, the methods that the path has.
func find(method, path string) (found *Route, methods []string) {
	for i := range Routes {
		if !Routes[i].matches(path) {
			continue
		}
		methods = append(methods, Routes[i].Methods...)
		if slices.Contains(Routes[i].Methods, method) {
			return &Routes[i], nil
		}
	}
	return nil, methods
}

// OperationOf returns the name of what a request does whose path, escaped, has routes; empty:
// it has none. For a method that no route has it is that of the first one.
func OperationOf(method, path string) string {
	route, _ := find(method, path)
	for i := 0; route == nil && i < len(Routes); i++ {
		if Routes[i].matches(path) {
			route = &Routes[i]
		}
	}
	if route == nil {
		return ""
	}
	return route.Operation
}

// Routes are the calls of the handler. Nothing writes to them. The tests of
// this package and of the OpenAPI document iterate over them.
var Routes = []Route{
	{"/v1/get-token", []string{http.MethodPost}, "issue",
		with(changeRefusals, CodeExpiresAtOutOfRange, CodeQuotaExceeded), body, issueToken},
	{"/v1/refresh-token", []string{http.MethodPut}, "refresh",
		with(changeRefusals, CodeExpiresAtOutOfRange, CodeUnknownToken, CodeTokenExpired, CodeTokenRevoked), body, refreshToken},
	{"/v1/revoke-token", []string{http.MethodDelete}, "revoke",
		with(changeRefusals, CodeUnknownToken), body, revokeToken},
	{"/v1/tokens", []string{http.MethodGet, http.MethodHead}, "list",
		with(refusals), query, listTokens},
	{"/v1/tokens", []string{http.MethodDelete}, "revoke_subject",
		changeRefusals, subject, revokeSubject},
	{"/v1/tokens/{token_id}", []string{http.MethodDelete}, "revoke",
		with(refusals, CodeReadOnly, CodeInsufficientStorage, CodeUnknownToken), lastOfURL, revokeTokenByID},
}

var (
	refusals = []Code{
		CodeTooEarly, CodeTLSRequired, CodeBadMasterToken, CodeTooManyFailures, CodeIPNotAllowed,
		CodeInvalidBody, CodeInternal, CodeUnavailable, CodeTooManyRequests,
	}
	changeRefusals = with(refusals, CodeUnsupportedMediaType, CodeBodyTooLarge, CodeReadOnly, CodeInsufficientStorage)
)

func with(codes []Code, more ...Code) []Code { return slices.Concat(codes, more) }
