package tokenstore

import "time"

// The limits of requests (docs/protocol.md, REST).
const (
	MaxLifetime = 24 * time.Hour // of an access token, from now
	// KeepExpired is how long the record of an expired token stays, so that
	// it is still listed and answered as expired.
	KeepExpired = 24 * time.Hour

	MaxGrants      = 64   // grants of a right
	MaxTenants     = 256  // tenants of a grant
	MaxRules       = 256  // rules of a list; masks, regions and origins of a list, too
	MaxCreatedBy   = 256  // bytes
	MaxDescription = 512  // characters
	MaxSubject     = 128  // bytes
	MaxInfo        = 1024 // bytes of JSON without insignificant space
	MaxInfoDepth   = 16   // objects and lists inside each other
	MaxMasterName  = 64   // characters
	MaxPrefix      = 127  // bytes

	// MaxRecord bounds the stored form of an access token in bytes. Only a
	// right with thousands of prefixed tenants comes near it.
	MaxRecord = 512 << 10

	DefaultMaxKBPerSec = 16384
	DefaultListLimit   = 100
	MaxListLimit       = 1000
)

// Config configures a [Service]. The zero value is usable.
type Config struct {
	Now           func() time.Time // the clock; nil: time.Now
	Regions       []string         // that a token may be limited to; empty: US, EU
	MaxKBPerSec   int              // highest cap that a token may ask for, KB/s; 0: 16384
	StaticMasters []StaticMaster   // master tokens of the configuration; they win over stored ones
	Quota         Quota            // of master tokens that have none of their own
	// Index of the store: quotas of tokens and bytes need it, and with it a list
	// takes no time in the order of all tokens. Nil: none.
	Index *Index
}
