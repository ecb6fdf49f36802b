package rest

import (
	"net/netip"
	"time"
)

// An Operation is one call of the REST API and its outcome, for an audit log. It
// never holds a secret, and nothing else that the caller sent except the id of a
// token and a subject.
type Operation struct {
	Name   string     // of the route: issue, refresh, revoke, revoke_subject or list
	Master string     // id of the master token that called; empty: it did not authenticate
	IP     netip.Addr // of the caller; not valid: unknown
	Status int        // HTTP status of the answer
	Code   Code       // of the refusal; empty: the call succeeded

	// TokenID is the id of the token that was issued, refreshed or revoked. When a
	// refresh or a revocation was refused, it is the id that the caller sent, which
	// may belong to no token, or to another master's; it is empty where the request
	// did not get so far, or the id or token does not have the right form.
	TokenID string
	// Tenants are the physical names of the tenants that an issued token grants, each
	// once, in the order of its right.
	Tenants []string
	// ExpiresAt is the new end of a token that was issued or refreshed.
	ExpiresAt time.Time
	// Subject is that of an issued token, or the one whose tokens were to be revoked; empty
	// for what is no subject.
	Subject string
	// Revoked is how many valid tokens of Subject were revoked, also where the call failed.
	Revoked int
}
