package tokenstore

import (
	"errors"
	"fmt"
)

// The refusals of a [Service] that are not about one value of a request. Test them
// with errors.Is. Any other error that is not an [InvalidError] comes from the store:
// the service could not do its work.
var (
	// ErrBadMasterToken answers a malformed or unknown master token and a
	// wrong secret alike.
	ErrBadMasterToken = errors.New("the master token is not valid")
	// ErrIPNotAllowed: the master token has masks and the caller's address is
	// outside of them, or not known.
	ErrIPNotAllowed = errors.New("the master token may not be used from this address")
	// ErrUnknownMaster: no master token has this id.
	ErrUnknownMaster = errors.New("there is no master token with this id")
	// ErrStaticMaster: the master token is part of the configuration and can only
	// be changed there.
	ErrStaticMaster = errors.New("this master token is part of the configuration: change it there")

	// ErrUnknownToken answers an unknown token id, a wrong secret and a token
	// of another namespace alike.
	ErrUnknownToken = errors.New("there is no such access token")
	// ErrTokenExpired: an expired token cannot be refreshed.
	ErrTokenExpired = errors.New("the access token has expired")
	// ErrTokenRevoked: a revoked token cannot be refreshed.
	ErrTokenRevoked = errors.New("the access token has been revoked")

	// ErrSubjectClosing: the tokens of the subject are being revoked, and none is issued
	// until that is done. Trying again after a second may help.
	ErrSubjectClosing = errors.New("the tokens of this subject are being revoked")

	// ErrUnavailable: the store is on another machine, and out of reach.
	ErrUnavailable = errors.New("the token store is out of reach")

	// ErrReadOnly: the role of this edge does not let it change such tokens.
	ErrReadOnly = errors.New("this edge only reads these tokens")
	// ErrQuotaExceeded: the master token has issued as much as it may.
	ErrQuotaExceeded = errors.New("the quota of the master token is exceeded")
	// ErrTooManyRequests: the master token has made as many calls as it may.
	ErrTooManyRequests = errors.New("the master token makes too many calls")

	// ErrInsufficientStorage: the store can be read, but has no room for a change.
	ErrInsufficientStorage = errors.New("the token store has no room for changes")

	// ErrUnauthorized is the one answer for an access token that cannot be
	// used: malformed, unknown, wrong secret, expired or revoked.
	ErrUnauthorized = errors.New("the access token is not valid")
	// ErrTokenEnded is an [ErrUnauthorized] for a caller who has the secret of a
	// token that is expired or revoked. Such a caller does not guess tokens, and may
	// see which of the two it is.
	ErrTokenEnded = fmt.Errorf("%w: it is expired or revoked", ErrUnauthorized)
	// ErrTooManyFailures refuses credentials that would fail, from an address
	// from which too many did. The service itself does not return it.
	ErrTooManyFailures = errors.New("too many failed authentications from this address")
)

// An UnauthorizedError is an [ErrUnauthorized], or an [ErrTokenEnded], that says for operators why.
// Its text is that of the sentinel: a client must not be told more, but for Ended.
type UnauthorizedError struct {
	Reason  string  // never holds the secret
	Rule    string  // what of the token decided; empty: nothing did
	TokenID string  // that the token names; empty: it has not the form of a token
	Access  *Access // of the token with this id; nil: there is none

	// Ended says how the token has ended, to a caller who has its secret: [EndedExpired] or
	// [EndedRevoked]; empty: the caller has not.
	Ended string
}

// Error is the text of the sentinel.
func (e *UnauthorizedError) Error() string { return e.sentinel().Error() }

// Unwrap returns the sentinel.
func (e *UnauthorizedError) Unwrap() error { return e.sentinel() }

func (e *UnauthorizedError) sentinel() error {
	if e.Ended != "" {
		return ErrTokenEnded
	}
	return ErrUnauthorized
}

// How a token has ended.
const (
	EndedExpired = "expired"
	EndedRevoked = "revoked"
)

// The problem codes of an [InvalidError] (docs/protocol.md, REST).
const (
	CodeInvalidBody         = "invalid_body"
	CodeExpiresAtOutOfRange = "expires_at_out_of_range"
)

// An InvalidError refuses a value of a request.
type InvalidError struct {
	Path   string // JSON path of the place, e.g. right.tenant_grants[0].tenant_ids[2]
	Reason string // what is allowed there; never quotes the request
	Code   string // CodeInvalidBody or CodeExpiresAtOutOfRange
}

// Error returns the path and the reason.
func (e *InvalidError) Error() string {
	if e.Path == "" {
		return e.Reason
	}
	return e.Path + ": " + e.Reason
}

func invalid(path, reason string) *InvalidError {
	return &InvalidError{Path: path, Reason: reason, Code: CodeInvalidBody}
}

// A ForbiddenError refuses a connection that the token does not allow.
type ForbiddenError struct {
	What   string // "ip", "origin", "protocol" or "region"
	Reason string // with what the connection has, and what is allowed: for operators
	Rule   string // that decided, by JSON path and text, e.g. right.allow_regions [EU]
}

// Error names what was outside of the token's right.
func (e *ForbiddenError) Error() string {
	return "the access token does not allow this " + e.What
}
