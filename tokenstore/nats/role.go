package nats

import (
	"fmt"

	"github.com/millrace/millrace/tokenstore"
)

// Role says which records a store changes. NATS permissions hold an edge to its role
// even when an attacker has taken it over: the subject of a record begins with its kind
// (see keyOf), so permissions can tell access tokens from master tokens.
type Role uint8

// The roles.
const (
	// Manager changes all records, makes the bucket, and purges old delete markers.
	Manager Role = iota
	// Issuer changes access tokens, and what says that those of a subject are being revoked.
	Issuer
	// Reader changes nothing.
	Reader
)

// changes reports whether the role changes records of a kind.
func (r Role) changes(kind tokenstore.Kind) bool {
	return r == Manager || r == Issuer && (kind == tokenstore.KindAccess || kind == tokenstore.KindClosing)
}

// permit refuses a change of a kind that the role does not change.
func (r Role) permit(kind tokenstore.Kind) error {
	if r.changes(kind) {
		return nil
	}
	return fmt.Errorf("%w: it does not change %s tokens; another edge does", tokenstore.ErrReadOnly, kind)
}
