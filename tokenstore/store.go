package tokenstore

import (
	"context"
	"errors"
	"time"
)

// Kind says what a record is about. Ids of different kinds never meet.
type Kind uint8

// The kinds. Their numbers are stored: never change them.
const (
	KindAccess Kind = 1
	KindMaster Kind = 2
	// KindClosing are subjects whose tokens are being revoked. Such records exist only
	// while [Service.RevokeSubject] runs, and are in no backup.
	KindClosing Kind = 3
)

// String returns the name of the kind for messages.
func (k Kind) String() string {
	switch k {
	case KindAccess:
		return "access"
	case KindMaster:
		return "master"
	case KindClosing:
		return "closing"
	}
	return "unknown"
}

// The errors of a [Store]. Stores may wrap them; test with errors.Is.
var (
	ErrNotFound = errors.New("tokenstore: no such record")
	ErrExists   = errors.New("tokenstore: the record exists already")
	ErrConflict = errors.New("tokenstore: the record was changed in the meantime")
	ErrClosed   = errors.New("tokenstore: the store is closed")
)

// A Record is what a [Store] keeps under a kind and an id.
type Record struct {
	Kind Kind
	ID   string // 1–128 bytes of printable ASCII
	// Value is opaque to the store, at most MaxRecord bytes. The receiver of a Record
	// owns its Value, except that the watchers of one change share it and must not
	// modify it.
	Value []byte
	// Version grows with every write to this kind and id, and is never used
	// twice for it: not after a restart, and not after Delete and Create.
	// It is never 0.
	Version uint64
	// DeleteAfter allows the store to forget the record from this time on, in
	// whole seconds (a fraction is rounded up). Forgetting is not a Change: no
	// watcher is told. Zero: keep.
	DeleteAfter time.Time
}

// A Change is one durable write.
type Change struct {
	Record  Record // of a deleted record the last state, with a new Version
	Deleted bool
}

// A Store keeps records. All methods may be called concurrently. The package
// storetest holds the suite that every Store must pass.
//
// A write that returned nil survives kill -9 and power loss. A write that returned
// an error that is not named at its method may have happened.
// Writes to one kind and id are totally ordered, and a Get or Scan that starts
// after a write returned sees it. The store copies what it is given.
//
// A store that its operator has configured only to read a kind of record returns
// [ErrReadOnly] from Create, Update and Delete.
//
// A store on a disk without room refuses changes with [ErrInsufficientStorage], and
// can still be read.
//
// After Close every method that can fail returns [ErrClosed], except that
// another Close does nothing.
type Store interface {
	// Get returns the record, or ErrNotFound.
	Get(ctx context.Context, kind Kind, id string) (Record, error)

	// Create writes a record that does not exist yet, or returns ErrExists.
	// It ignores rec.Version and returns the record's first version.
	Create(ctx context.Context, rec Record) (version uint64, err error)

	// Update replaces the record if its version is still rec.Version, and returns the
	// new version. Otherwise it returns ErrConflict, or ErrNotFound.
	Update(ctx context.Context, rec Record) (version uint64, err error)

	// Delete removes the record if its version is still version. Otherwise it returns
	// ErrConflict, or ErrNotFound.
	Delete(ctx context.Context, kind Kind, id string, version uint64) error

	// Scan calls fn for the records of a kind with an id above after, in
	// ascending bytewise order, until fn returns false. It sees every write
	// that returned before Scan began, and may see later ones. fn must not
	// call the Store.
	Scan(ctx context.Context, kind Kind, after string, fn func(Record) bool) error

	// Watch calls fn for every change that becomes durable from now on; for
	// one kind and id in the order of versions, for different ids possibly
	// at the same time. When a write returns to its caller, fn has run for it.
	// fn must not block, and must not call the Store. stop may be called repeatedly
	// and anywhere, also in fn. It does not wait: a call of fn that is under way may
	// end after stop has returned.
	Watch(fn func(Change)) (stop func())

	// Close releases the store after the running calls have ended.
	Close() error
}

// A Replica is a [Store] that several processes share, where this process has
// a copy. Its Watch may skip a change by another process if a later change to the same
// record followed. When the copy could not be confirmed for too long, methods return
// [ErrUnavailable].
type Replica interface {
	Store
	// WatchStale calls fn whenever the copy has become too old to be used. It
	// must not block. See Watch about stop.
	WatchStale(fn func()) (stop func())
	// GetLocal is Get from the copy only: it asks no other machine. ErrNotFound may
	// mean that the record has not arrived yet.
	GetLocal(ctx context.Context, kind Kind, id string) (Record, error)
	// GetLatest is Get from the machine that orders the changes: its result includes
	// all calls that returned before it began, in any process.
	GetLatest(ctx context.Context, kind Kind, id string) (Record, error)
	// CatchUp returns when the copy, and so Scan, includes all calls that returned
	// before it began, in any process.
	CatchUp(ctx context.Context) error
}

// A Linker is a [Replica] whose processes can also tell each other of revocations by a link of
// their own, for the time when the store itself is slow to. A notice is only a reason to
// ask the store: neither it nor who sent it is trusted, and each may be lost.
type Linker interface {
	// Link adds a link. send hands a notice to the other processes; it must not block, and
	// must not call the store. doubt is called with the id of an access token that was changed
	// elsewhere, as far as is known, where the store does not say within half a second how:
	// connections with it should end. It must not block either. take takes a notice of
	// another process; it does not block, keeps nothing of it, and returns an error if it is
	// not one. unlink removes the link; a call of send or doubt may still be under way then.
	Link(send func(notice []byte), doubt func(tokenID string)) (take func(notice []byte) error, unlink func())
}

// Optional interfaces of a [Store] that report its state. Their methods do not block,
// and may be called concurrently.
type (
	// A SpaceReporter is a [Store] that knows whether its disk has room.
	SpaceReporter interface {
		// Writable reports whether the store accepts changes now, and does not refuse
		// them with [ErrInsufficientStorage].
		Writable() bool
	}

	// A HealthReporter is a [Store] that may be out of reach.
	HealthReporter interface {
		// Usable returns nil if tokens can be checked now, or why not.
		Usable() error
	}

	// An UnreadableReporter is a [Store] that may have records whose format it does not
	// know. Get returns the same error for one of them, and Scan leaves them out; no method
	// changes or deletes them.
	UnreadableReporter interface {
		// Unreadable returns nil if there are none, or an [ErrFormat] about one of them
		// that says how many there are.
		Unreadable() error
	}

	// A ReplicaReporter is a [Store] that is replicated on several servers.
	ReplicaReporter interface {
		// Replicas returns how many servers have all tokens, and how many should; both
		// zero: not known.
		Replicas() (current, all int)
	}
)
