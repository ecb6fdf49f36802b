package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/millrace/millrace/wire"
)

// Code says what went wrong: a code of the protocol, one of a refused handshake
// or REST call, or one of the Code constants of this package. Later edges may
// send others.
type Code string

// The codes of the SDKs; docs/errors.md has them with all others.
const (
	CodeBadOption     Code = "bad_option"     // an address, option or argument is not legal
	CodeUnreachable   Code = "unreachable"    // no edge answers
	CodeDisconnected  Code = "disconnected"   // there is no connection now
	CodeTimeout       Code = "timeout"        // no answer in time
	CodeQueueFull     Code = "queue_full"     // a subscription with the policy EndOnFull has ended
	CodeTokenProvider Code = "token_provider" // the token provider failed, and there is no token
	CodeLoggedOut     Code = "logged_out"     // the token provider says that there will be no token
	CodeProtocol      Code = "protocol"       // the edge sent what this client does not understand
	CodeClosed        Code = "closed"         // the client or the subscription has been closed

	CodeOutcomeUnknown Code = "outcome_unknown" // a publish may have been stored, or not
)

// The sentinels for [errors.Is], which compares codes.
var (
	ErrBadOption            error = &Error{Code: CodeBadOption}
	ErrUnreachable          error = &Error{Code: CodeUnreachable}
	ErrDisconnected         error = &Error{Code: CodeDisconnected}
	ErrTimeout              error = &Error{Code: CodeTimeout}
	ErrQueueFull            error = &Error{Code: CodeQueueFull}
	ErrTokenProvider        error = &Error{Code: CodeTokenProvider}
	ErrLoggedOut            error = &Error{Code: CodeLoggedOut} // of a TokenProvider: ends the client
	ErrProtocol             error = &Error{Code: CodeProtocol}
	ErrClosed               error = &Error{Code: CodeClosed}
	ErrUnauthorized         error = &Error{Code: Code(wire.CodeUnauthorized)}
	ErrTokenExpired         error = &Error{Code: Code(wire.CodeTokenExpired)}
	ErrTokenRevoked         error = &Error{Code: Code(wire.CodeTokenRevoked)}
	ErrPermissionDenied     error = &Error{Code: Code(wire.CodePermissionDenied)}
	ErrPayloadTooLarge      error = &Error{Code: Code(wire.CodePayloadTooLarge)}
	ErrTooManySubscriptions error = &Error{Code: Code(wire.CodeTooManySubscriptions)}
	ErrTooManyPatterns      error = &Error{Code: Code(wire.CodeTooManyPatterns)}
	ErrNoHistory            error = &Error{Code: Code(wire.CodeNoHistory)}
	ErrTooManyChannels      error = &Error{Code: Code(wire.CodeTooManyChannels)}
	ErrNoPresence           error = &Error{Code: Code(wire.CodeNoPresence)}
	ErrNoSubject            error = &Error{Code: Code(wire.CodeNoSubject)}
	ErrTooManyMembers       error = &Error{Code: Code(wire.CodeTooManyMembers)}
	ErrHistoryUnavailable   error = &Error{Code: Code(wire.CodeHistoryUnavailable)}
	ErrNoSubscriber         error = &Error{Code: Code(wire.CodeNoSubscriber)}    // of a publish to one: nobody has got it
	ErrSubscribersBusy      error = &Error{Code: Code(wire.CodeSubscribersBusy)} // likewise
	ErrUnconfirmed          error = &Error{Code: Code(wire.CodeUnconfirmed)}
	ErrOutcomeUnknown       error = &Error{Code: CodeOutcomeUnknown}
	ErrBadTenant            error = &Error{Code: Code(wire.CodeBadTenant)}
	ErrBadChannel           error = &Error{Code: Code(wire.CodeBadChannel)}
	ErrBadPattern           error = &Error{Code: Code(wire.CodeBadPattern)}
	ErrIPNotAllowed         error = &Error{Code: "ip_not_allowed"}
	ErrOriginNotAllowed     error = &Error{Code: "origin_not_allowed"}
	ErrRegionNotAllowed     error = &Error{Code: "region_not_allowed"}
	ErrProtocolNotAllowed   error = &Error{Code: "protocol_not_allowed"}
	ErrClientNotAllowed     error = &Error{Code: "client_not_allowed"}            // Text is the reason that the edge gives
	ErrTryLater             error = &Error{Code: Code(wire.CodeTryLater)}         // the edge may allow it at another time
	ErrClosedByOperator     error = &Error{Code: Code(wire.CodeClosedByOperator)} // of Disconnected: the client connects again
	ErrTLSRequired          error = &Error{Code: "tls_required"}
	ErrDraining             error = &Error{Code: "draining"}
	ErrUnknownToken         error = &Error{Code: "unknown_token"}
	ErrBadMasterToken       error = &Error{Code: "bad_master_token"}
)

// Error is what the functions of this package return, except for an error of
// a context that was cancelled. It holds no token.
type Error struct {
	Code Code
	Text string // for people; may change

	// What it concerns; empty or zero if it does not.
	Tenant, Channel, Pattern string
	Status                   int           // of the HTTP answer that refused
	Close                    int           // the code with which the edge closed the connection
	RetryAfter               time.Duration // how long the edge asks to wait
	ConnectionID             string        // of the handshake that was refused, for support: operators of the edge find by it why

	Err error // the cause, for [errors.Unwrap]; may be nil
}

// Error implements error.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("millrace: ")
	b.WriteString(string(e.Code))
	for _, part := range []struct{ name, value string }{
		{"tenant", e.Tenant}, {"channel", e.Channel}, {"pattern", e.Pattern},
	} {
		if part.value != "" {
			fmt.Fprintf(&b, " (%s %q)", part.name, part.value)
		}
	}
	if e.Status != 0 {
		fmt.Fprintf(&b, " (HTTP status %d)", e.Status)
	}
	if e.ConnectionID != "" {
		fmt.Fprintf(&b, " (connection id %s)", e.ConnectionID)
	}
	if e.Close != 0 {
		fmt.Fprintf(&b, " (close %d)", e.Close)
	}
	if e.Text != "" {
		b.WriteString(": " + e.Text)
	}
	if same, ok := e.Err.(*Error); e.Err != nil && !(ok && *same == Error{Code: e.Code}) { //nolint:errorlint // a bare sentinel of the same code says nothing more
		b.WriteString(": " + e.Err.Error())
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is an [*Error] with the same code.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

func badOption(format string, args ...any) *Error {
	return &Error{Code: CodeBadOption, Text: fmt.Sprintf(format, args...)}
}

// ended is the error for a wait that the context ended.
func ended(ctx context.Context, what string) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &Error{Code: CodeTimeout, Text: what, Err: ctx.Err()}
	}
	return ctx.Err()
}

// nameError is for a name that is not legal, which about has. Of a very long one the
// error has the beginning.
func nameError(err error, about Error) *Error {
	const most = 256
	for _, name := range []*string{&about.Tenant, &about.Channel, &about.Pattern} {
		*name = (*name)[:min(len(*name), most)]
	}
	var reason *wire.Error
	if errors.As(err, &reason) {
		about.Code, about.Text = Code(reason.Code), reason.Reason+hint(about)
	}
	return &about
}

// ended is the error for a wait of a subscription that the context ended.
func (k key) ended(ctx context.Context, what string) error {
	err := ended(ctx, what)
	var e *Error
	if errors.As(err, &e) {
		e.Tenant, e.Pattern = k.tenant, k.pattern
	}
	return err
}

// hint says what is probably meant by a name that is not legal.
func hint(of Error) string {
	name, kind := of.Pattern, "pattern"
	switch {
	case of.Channel != "":
		name, kind = of.Channel, "channel"
	case name == "":
		name, kind = of.Tenant, "tenant"
	}
	switch {
	case kind == "tenant" && strings.ContainsAny(name, "*#>+"):
		return ": a tenant has no wildcards; subscribe in each tenant"
	case kind == "channel" && strings.ContainsAny(name, "*#>+"):
		return ": wildcards are for subscribing; name one channel"
	case strings.ContainsAny(name, "/:"):
		return ": write " + strings.NewReplacer("/", ".", ":", ".").Replace(name)
	case strings.Contains(name, "+"):
		return ": write " + strings.ReplaceAll(name, "+", "*")
	case strings.Contains(name, ".."):
		return ": write " + strings.ReplaceAll(name, "..", ".")
	case strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c > '~' }):
		return ": ChannelToken makes one token of any text"
	}
	return ""
}
