package tokenstore

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
	"unique"

	"github.com/google/btree"
)

// An Index finds the access tokens of a [Store] by what their records say: those
// that a master token manages, and how many one has issued. It holds some 200
// bytes for each record in memory, reads the store once, in the background, and
// follows its changes from then on. All methods may be called concurrently.
//
// The locks are short: what takes time in the order of the records is done in
// parts.
type Index struct {
	store Store
	now   func() time.Time
	ready chan struct{} // closed when the store has been read
	close context.CancelFunc
	done  chan struct{} // closed when build has ended

	mu       sync.Mutex
	tokens   *btree.BTreeG[*indexed] // by id
	due      *btree.BTreeG[*indexed] // by the time from which on the store may forget them
	spaces   map[string]*namespace   // by prefix, those that were asked for
	asked    uint64                  // number of the last question
	issuers  map[string]*issuer      // by id of the master token, those with tokens
	building map[string]uint64       // what was deleted meanwhile, by id: version; nil: it is built
}

// indexed is what the Index knows of a token. It never changes.
type indexed struct {
	id      string
	version uint64
	common  unique.Handle[string] // what all its tenants begin with
	issuer  *issuer
	bytes   int64 // of the record
	forget  int64 // seconds since 1970; 0: never
}

// issuer counts what a master token has issued and the store keeps, with what is
// being written.
type issuer struct {
	master string
	tokens int
	bytes  int64
}

const (
	treeDegree = 32
	// stepTokens are looked at in one go.
	stepTokens = 2000
	// rebuildPause is before the store is asked again that could not be read.
	rebuildPause = time.Second
)

func byID(a, b *indexed) bool { return a.id < b.id }

func byForget(a, b *indexed) bool {
	return cmp.Or(cmp.Compare(a.forget, b.forget), strings.Compare(a.id, b.id)) < 0
}

// NewIndex returns an Index of the store and begins to read it. Close it before the
// store.
func NewIndex(store Store) *Index { return newIndex(store, time.Now) }

func newIndex(store Store, now func() time.Time) *Index {
	ctx, cancel := context.WithCancel(context.Background())
	x := &Index{
		store: store, now: now, ready: make(chan struct{}), close: cancel, done: make(chan struct{}),
		tokens: btree.NewG(treeDegree, byID), due: btree.NewG(treeDegree, byForget),
		spaces: map[string]*namespace{}, issuers: map[string]*issuer{}, building: map[string]uint64{},
	}
	stop := store.Watch(func(c Change) {
		if c.Record.Kind == KindAccess {
			x.apply(c)
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

// Close ends the Index.
func (x *Index) Close() {
	x.close()
	<-x.done
}

// build reads the store.
func (x *Index) build(ctx context.Context) {
	for after := ""; ; {
		n := 0
		err := x.store.Scan(ctx, KindAccess, after, func(rec Record) bool {
			x.apply(Change{Record: rec})
			after = rec.ID
			n++
			return n < stepTokens
		})
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			select {
			case <-time.After(rebuildPause):
			case <-ctx.Done():
				return
			}
		case n < stepTokens:
			x.mu.Lock()
			x.building = nil
			x.mu.Unlock()
			close(x.ready)
			return
		}
	}
}

// await waits until the store has been read.
func (x *Index) await(ctx context.Context) error {
	select {
	case <-x.ready:
		return nil
	default:
	}
	select {
	case <-x.ready:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: its tokens are being read", ErrUnavailable)
	}
}

// apply takes a record, or its end.
func (x *Index) apply(c Change) {
	next := &indexed{id: c.Record.ID, version: c.Record.Version, bytes: int64(len(c.Record.Value))}
	var master string
	if !c.Deleted {
		var ok bool
		if next.common, master, ok = indexFields(c.Record); !ok {
			return // what cannot be read belongs to nobody
		}
		if t := c.Record.DeleteAfter; !t.IsZero() {
			next.forget = t.Unix() + 1
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.forget()
	old, known := x.tokens.Get(next)
	if known && old.version >= next.version || x.building[next.id] >= next.version {
		return
	}
	if known {
		x.drop(old)
	}
	if c.Deleted {
		if x.building != nil {
			x.building[next.id] = next.version
		}
		return
	}
	if next.forget != 0 && next.forget <= x.now().Unix() {
		return
	}
	x.add(next, master)
}

// indexFields reads what the Index needs of a record.
func indexFields(rec Record) (common unique.Handle[string], master string, ok bool) {
	var r struct {
		MasterID string `json:"master_id"`
		Right    struct {
			TenantGrants []struct {
				TenantIDs []string `json:"tenant_ids"`
			} `json:"tenant_grants"`
		} `json:"right"`
	}
	if decode(rec, &r) != nil {
		return common, "", false
	}
	text, first := "", true
	for _, g := range r.Right.TenantGrants {
		for _, t := range g.TenantIDs {
			if first {
				text, first = t, false
				continue
			}
			n := 0
			for n < len(text) && n < len(t) && text[n] == t[n] {
				n++
			}
			text = text[:n]
		}
	}
	return unique.Make(text), r.MasterID, true
}

// add and drop change all that the Index has of a token. The caller holds x.mu.
func (x *Index) add(t *indexed, master string) {
	t.issuer = x.take(master, t.bytes)
	x.tokens.ReplaceOrInsert(t)
	if t.forget != 0 {
		x.due.ReplaceOrInsert(t)
	}
	for prefix, s := range x.spaces {
		if strings.HasPrefix(t.common.Value(), prefix) {
			s.tokens.ReplaceOrInsert(t)
		}
	}
}

func (x *Index) drop(t *indexed) {
	x.giveBack(t.issuer, t.bytes)
	x.tokens.Delete(t)
	x.due.Delete(t)
	for prefix, s := range x.spaces {
		if strings.HasPrefix(t.common.Value(), prefix) {
			s.tokens.Delete(t)
		}
	}
}

// take counts a token more for a master token.
func (x *Index) take(master string, bytes int64) *issuer {
	i := x.issuers[master]
	if i == nil {
		i = &issuer{master: master}
		x.issuers[master] = i
	}
	i.tokens++
	i.bytes += bytes
	return i
}

// giveBack is the end of a take. Master tokens come and go for as long as the edge
// runs, so the last one drops the entry.
func (x *Index) giveBack(i *issuer, bytes int64) {
	i.tokens--
	i.bytes -= bytes
	if i.tokens == 0 {
		delete(x.issuers, i.master)
	}
}

// forget drops what the store may have forgotten, which it does without a word.
// The caller holds x.mu.
func (x *Index) forget() {
	now := x.now().Unix()
	for range stepTokens {
		t, ok := x.due.Min()
		if !ok || t.forget > now {
			return
		}
		x.drop(t)
	}
}

// reserve admits a record of a master token under its quota. The caller calls
// release when the record is written, or was refused.
func (x *Index) reserve(ctx context.Context, master string, q Quota, bytes int64) (release func(), err error) {
	if err := x.await(ctx); err != nil {
		return nil, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.forget()
	var i issuer
	if known := x.issuers[master]; known != nil {
		i = *known
	}
	switch {
	case q.MaxTokens > 0 && i.tokens >= q.MaxTokens:
		return nil, fmt.Errorf("%w: at most %d tokens, with those that are kept for a day after they expire", ErrQuotaExceeded, q.MaxTokens)
	case q.MaxBytes > 0 && i.bytes+bytes > q.MaxBytes:
		return nil, fmt.Errorf("%w: at most %d bytes of tokens, with those that are kept for a day after they expire", ErrQuotaExceeded, q.MaxBytes)
	}
	reserved := x.take(master, bytes)
	return func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.giveBack(reserved, bytes)
	}, nil
}
