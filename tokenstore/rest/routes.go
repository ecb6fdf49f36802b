package rest

import (
	"context"
	"net/http"
	"slices"

	"github.com/millrace/millrace/tokenstore"
)

// A Route is one row of the table of calls in docs/protocol.md, REST.
type Route struct {
	Path      string   // exact
	Methods   []string // more than one only for GET and HEAD
	Operation string   // the name of what it does, for metrics and Operation.Name
	// Refusals are the codes that a request with one of the Methods can get.
	Refusals []Code

	// call answers for an authenticated caller. Its input is the body, or the
	// raw query of a route that takes none. It notes in the Operation which token
	// the call is about, and what became of it.
	call func(context.Context, *tokenstore.Service, *tokenstore.Master, []byte, *Operation) (any, error)
}

// TakesBody reports whether the route reads a JSON body.
func (r Route) TakesBody() bool { return r.Methods[0] != http.MethodGet }

// Routes are the calls of the handler. Nothing writes to them. The tests of
// this package and of the OpenAPI document iterate over them.
var Routes = []Route{
	{"/v1/get-token", []string{http.MethodPost}, "issue",
		with(changeRefusals, CodeExpiresAtOutOfRange, CodeQuotaExceeded), issueToken},
	{"/v1/refresh-token", []string{http.MethodPut}, "refresh",
		with(changeRefusals, CodeExpiresAtOutOfRange, CodeUnknownToken, CodeTokenExpired, CodeTokenRevoked), refreshToken},
	{"/v1/revoke-token", []string{http.MethodDelete}, "revoke",
		with(changeRefusals, CodeUnknownToken), revokeToken},
	{"/v1/tokens", []string{http.MethodGet, http.MethodHead}, "list",
		with(refusals), listTokens},
}

var (
	refusals = []Code{
		CodeTooEarly, CodeTLSRequired, CodeBadMasterToken, CodeTooManyFailures, CodeIPNotAllowed,
		CodeInvalidBody, CodeInternal, CodeUnavailable, CodeTooManyRequests,
	}
	changeRefusals = with(refusals, CodeUnsupportedMediaType, CodeBodyTooLarge, CodeReadOnly, CodeInsufficientStorage)
)

func with(codes []Code, more ...Code) []Code { return slices.Concat(codes, more) }
