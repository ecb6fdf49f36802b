package nats

import (
	"fmt"

	"github.com/millrace/millrace/tokenstore"
)

// Role is which records a store changes. NATS permissions hold an edge to its own,
// also when it is taken over: the subjects of the records begin with their kind (see
// keyOf), so that access tokens and master tokens are told apart.
type Role uint8

// The roles.
const (
	// Manager changes all records, makes the bucket, and takes old deletions out.
	Manager Role = iota
	// Issuer changes access tokens.
	Issuer
	// Reader changes nothing.
	Reader
)

// changes reports whether the role changes records of a kind.
func (r Role) changes(kind tokenstore.Kind) bool {
	return r == Manager || r == Issuer && kind == tokenstore.KindAccess
}

// permit refuses what the role does not change.
func (r Role) permit(kind tokenstore.Kind) error {
	if r.changes(kind) {
		return nil
	}
	return fmt.Errorf("%w: it does not change %s tokens; another edge does", tokenstore.ErrReadOnly, kind)
}
