package tokenstore

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unique"

	"github.com/google/btree"
)

// An Index finds the access tokens of a [Store] by what their records say: those
// that a master token manages, those of a subject among them, and how many one has
// issued. It also knows which issuers there are. It holds some 200 bytes for each record in memory, reads
// the store once, in the background, and follows its changes from then on. All methods may be called concurrently.
//
// It holds its lock for a short time only: work whose cost grows with the number of
// records is done in batches.
type Index struct {
	store Store
	now   func() time.Time
	ready chan struct{} // closed when the store has been read
	close context.CancelFunc
	done  chan struct{} // closed when build has ended

	mu               sync.Mutex
	attempt          *reading                     // of build; a failed one is replaced
	tokens           *btree.BTreeG[*indexedToken] // by id
	byForgetAt       *btree.BTreeG[*indexedToken] // by the time from which the store may forget them
	namespaces       map[string]*namespace        // by prefix, those that were queried
	queries          uint64                       // of namespaces, so far; see namespace.lastQuery
	issuers          map[string]*issuer           // by id of the master token, those with tokens
	reserved         map[string]reservation       // by id of the record; those that the Index does not have yet
	deletedMeanwhile map[string]uint64            // version by id of what was deleted while build runs; nil: build has ended
	masters          map[string]indexedMaster     // by id, those that are deleted too, until all are known

	known       atomic.Pointer[storedIssuers] // never nil; replaced with mu held
	mastersRead chan struct{}                 // closed when all are known
}

// indexedToken is what the Index knows about a token. It never changes.
type indexedToken struct {
	id           string
	version      uint64
	commonPrefix unique.Handle[string] // of the names of all its tenants
	subject      string
	issuer       *issuer
	bytes        int64 // of the record
	forgetAt     int64 // seconds since 1970; 0: never
}

// reading is an attempt of build to read the store.
type reading struct {
	failed chan struct{} // closed after err is set
	err    error
}

const (
	treeDegree = 32
	// batchTokens is how many tokens are visited while the lock is held once.
	batchTokens = 2000
	// rebuildDelay is how long build waits after the store could not be read.
	rebuildDelay = time.Second
)

func byID(a, b *indexedToken) bool { return a.id < b.id }

func byForgetAt(a, b *indexedToken) bool {
	return cmp.Or(cmp.Compare(a.forgetAt, b.forgetAt), strings.Compare(a.id, b.id)) < 0
}

// NewIndex returns an Index of the store and begins to read it. Close it before the
// store.
func NewIndex(store Store) *Index { return newIndex(store, time.Now) }

func newIndex(store Store, now func() time.Time) *Index {
	ctx, cancel := context.WithCancel(context.Background())
	x := &Index{
		store: store, now: now, ready: make(chan struct{}), close: cancel, done: make(chan struct{}), attempt: newReading(),
		tokens: btree.NewG(treeDegree, byID), byForgetAt: btree.NewG(treeDegree, byForgetAt),
		namespaces: map[string]*namespace{}, issuers: map[string]*issuer{}, reserved: map[string]reservation{}, deletedMeanwhile: map[string]uint64{},
		masters: map[string]indexedMaster{}, mastersRead: make(chan struct{}),
	}
	x.known.Store(new(storedIssuers))
	stop := store.Watch(func(c Change) {
		switch c.Record.Kind {
		case KindAccess:
			x.apply(c)
		case KindMaster:
			x.applyMaster(c)
		}
	})
	go func() {
		defer close(x.done)
		x.build(ctx)
		<-ctx.Done()
		stop()
	}()
	return x
}

func newReading() *reading { return &reading{failed: make(chan struct{})} }

// Close ends the Index.
func (x *Index) Close() {
	x.close()
	<-x.done
}

// build reads the store: its master tokens, which are few, and then the others.
func (x *Index) build(ctx context.Context) {
	if !x.read(ctx, KindMaster, x.applyMaster) {
		return
	}
	x.mu.Lock()
	x.publishMasters()
	x.mu.Unlock()
	close(x.mastersRead)
	if !x.read(ctx, KindAccess, x.apply) {
		return
	}
	x.mu.Lock()
	x.deletedMeanwhile = nil
	x.mu.Unlock()
	close(x.ready)
}

// read applies all records of a kind, and reports false if the index is closed meanwhile.
func (x *Index) read(ctx context.Context, kind Kind, apply func(Change)) bool {
	for after := ""; ; {
		n := 0
		err := x.store.Scan(ctx, kind, after, func(rec Record) bool {
			apply(Change{Record: rec})
			after = rec.ID
			n++
			return n < batchTokens
		})
		switch {
		case ctx.Err() != nil:
			return false
		case err != nil:
			x.fail(err)
			select {
			case <-time.After(rebuildDelay):
			case <-ctx.Done():
				return false
			}
		case n < batchTokens:
			return true
		}
	}
}

// fail tells those that wait in await that the store could not be read.
func (x *Index) fail(err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.attempt.err = err
	close(x.attempt.failed)
	x.attempt = newReading()
}

// await waits until the store has been read, or cannot be read: then it returns the error
// of the attempt that ended first, rebuildDelay and what the store takes to fail from now
// at most.
func (x *Index) await(ctx context.Context) error {
	select {
	case <-x.ready:
		return nil
	default:
	}
	x.mu.Lock()
	attempt := x.attempt
	x.mu.Unlock()
	select {
	case <-x.ready:
		return nil
	case <-attempt.failed:
		return attempt.err
	case <-ctx.Done():
		return fmt.Errorf("%w: its tokens are being read", ErrUnavailable)
	}
}

// apply applies a change of the store.
func (x *Index) apply(c Change) {
	next := &indexedToken{id: c.Record.ID, version: c.Record.Version, bytes: int64(len(c.Record.Value))}
	var master string
	if !c.Deleted {
		var ok bool
		if master, ok = next.readFields(c.Record); !ok {
			return // a record that cannot be read belongs to nobody
		}
		if t := c.Record.DeleteAfter; !t.IsZero() {
			next.forgetAt = t.Unix() + 1
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.dropForgotten()
	old, known := x.tokens.Get(next)
	if known && old.version >= next.version || x.deletedMeanwhile[next.id] >= next.version {
		return
	}
	if known {
		x.drop(old)
	}
	if c.Deleted {
		if x.deletedMeanwhile != nil {
			x.deletedMeanwhile[next.id] = next.version
		}
		return
	}
	if next.forgetAt != 0 && next.forgetAt <= x.now().Unix() {
		return
	}
	x.endReservation(next.id) // no token counts twice, not even for a moment: others would be refused
	x.add(next, master)
}

// readFields reads what the Index needs of a record.
func (t *indexedToken) readFields(rec Record) (master string, ok bool) {
	var r struct {
		formatted
		MasterID string `json:"master_id"`
		Subject  string `json:"subject"`
		Right    struct {
			TenantGrants []struct {
				TenantIDs []string `json:"tenant_ids"`
			} `json:"tenant_grants"`
		} `json:"right"`
	}
	if decode(rec, &r) != nil {
		return "", false
	}
	t.subject = r.Subject
	text, first := "", true
	for _, g := range r.Right.TenantGrants {
		for _, tenant := range g.TenantIDs {
			if first {
				text, first = tenant, false
				continue
			}
			n := 0
			for n < len(text) && n < len(tenant) && text[n] == tenant[n] {
				n++
			}
			text = text[:n]
		}
	}
	t.commonPrefix = unique.Make(text)
	return r.MasterID, true
}

// add adds a token to all that the Index has. The caller holds x.mu.
func (x *Index) add(t *indexedToken, master string) {
	t.issuer = x.addUsage(master, t.bytes)
	x.tokens.ReplaceOrInsert(t)
	if t.forgetAt != 0 {
		x.byForgetAt.ReplaceOrInsert(t)
	}
	for prefix, s := range x.namespaces {
		if strings.HasPrefix(t.commonPrefix.Value(), prefix) {
			s.add(t)
		}
	}
}

// drop undoes add. The caller holds x.mu.
func (x *Index) drop(t *indexedToken) {
	x.removeUsage(t.issuer, t.bytes)
	x.tokens.Delete(t)
	x.byForgetAt.Delete(t)
	for prefix, s := range x.namespaces {
		if strings.HasPrefix(t.commonPrefix.Value(), prefix) {
			s.drop(t)
		}
	}
}

// dropForgotten drops tokens that the store may have forgotten: it does not report
// that. The caller holds x.mu.
func (x *Index) dropForgotten() {
	now := x.now().Unix()
	for range batchTokens {
		t, ok := x.byForgetAt.Min()
		if !ok || t.forgetAt > now {
			return
		}
		x.drop(t)
	}
}
