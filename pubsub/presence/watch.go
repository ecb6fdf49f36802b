package presence

import (
	"time"

	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

// Receiver takes presence frames for one client.
type Receiver interface {
	// PushPresence queues a frame, which is shared and never changed, or reports that there
	// is no room now. It does not block, and does not call the [Registry].
	PushPresence(frame []byte) bool
}

// Watcher is a WHO. Its fields are guarded by Registry.mu.
type Watcher struct {
	audience *audience
	out      Receiver
	at       uint64    // everything up to this number has been told
	anew     bool      // the next frame begins anew
	syncing  bool      // it has begun anew, and is not at target yet
	target   uint64    // how far it has to come to have all that there was when it began
	countsAt time.Time // when it was told counts, since it is far behind
	counted  uint64    // up to where these say more than its pages; 0: nowhere
	left     bool
}

// audience is the watchers of one pattern in one mode.
type audience struct {
	tenant   *tenant
	key      audienceKey
	pattern  pattern.Pattern
	channel  *channel // that is its pattern; nil: it has a wildcard
	watchers map[*Watcher]struct{}
	nextAt   time.Time // of counts: not before then
}

type audienceKey struct {
	pattern string
	count   bool
}

// Watch begins to tell a receiver who is present in the channels that a pattern matches, or
// with count how many are.
func (r *Registry) Watch(tenant string, p pattern.Pattern, count bool, out Receiver) (*Watcher, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.set.Contains(tenant, p) {
		return nil, ErrNoPresence
	}
	t := r.tenant(tenant)
	if _, known := t.wild[audienceKey{p.String(), count}]; !known && p.Shape() != 0 && len(t.wild) >= maxWild {
		return nil, ErrTooManyPatterns
	}
	a := t.audience(p, count)
	w := &Watcher{audience: a, out: out, anew: true}
	a.watchers[w] = struct{}{}
	r.dirty[a] = struct{}{}
	r.wake()
	return w, nil
}

// Unwatch ends a watcher: nothing is pushed for it once Unwatch has returned. It may be
// called repeatedly.
func (r *Registry) Unwatch(w *Watcher) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w.left {
		return
	}
	w.left = true
	a := w.audience
	delete(a.watchers, w)
	if len(a.watchers) > 0 {
		return
	}
	delete(r.dirty, a)
	if a.channel == nil {
		delete(a.tenant.wild, a.key)
		r.wake() // the tenant may have nothing left
		return
	}
	a.channel.audience[a.key.index()] = nil
	a.channel.forgetIfUnused()
	r.wake()
}

func (k audienceKey) index() int {
	if k.count {
		return 1
	}
	return 0
}

// audience returns the watchers of a pattern.
func (t *tenant) audience(p pattern.Pattern, count bool) *audience {
	key := audienceKey{p.String(), count}
	if p.Shape() == 0 {
		c := t.channel(key.pattern)
		if c.audience[key.index()] == nil {
			c.audience[key.index()] = &audience{t, key, p, c, map[*Watcher]struct{}{}, time.Time{}}
		}
		return c.audience[key.index()]
	}
	if t.wild[key] == nil {
		t.wild[key] = &audience{t, key, p, nil, map[*Watcher]struct{}{}, time.Time{}}
	}
	return t.wild[key]
}

// markDirty notes that a channel has changed. The caller holds r.mu.
func (r *Registry) markDirty(c *channel) {
	for _, a := range c.audience {
		if a != nil {
			r.dirty[a] = struct{}{}
		}
	}
	for _, a := range c.tenant.wild {
		r.dirty[a] = struct{}{}
	}
}

const (
	// maxWild is how many patterns with wildcards are watched in a tenant: each of them costs
	// something with each change.
	maxWild = 256
	// pageBytes is how large a frame may be, and maxScanned how many entries are looked at
	// for one.
	pageBytes  = 16 << 10
	maxScanned = 4096
	// farBehind is how many changes a watcher may be behind before it is told counts.
	farBehind = 2000
	// countsEvery is how often a watcher is told counts at most.
	countsEvery = time.Second
)

// page is a frame that brings a watcher from one number to another.
type page struct {
	frame   []byte // nil: nothing is to be said
	through uint64
}

// pageKey is what a page depends on, of one audience in one tick.
type pageKey struct {
	at, target    uint64
	anew, syncing bool
	counted       uint64
}

// serve gives the watchers of an audience their next pages, within a budget of bytes, of which
// it returns what is left. Done reports whether none is behind any more. The caller holds r.mu.
func (a *audience) serve(now time.Time, budget int) (left int, done bool) {
	if a.key.count {
		if now.Before(a.nextAt) {
			return budget, false
		}
		a.nextAt = now.Add(countsEvery)
	}
	pages, done := map[pageKey]page{}, true
	var counts []byte
	for w := range a.watchers {
		if w.at == a.head() && !w.anew {
			continue
		}
		if budget <= 0 {
			return budget, false
		}
		if !w.anew && a.begins(w.at) {
			w.anew, w.at = true, 0
		}
		if w.anew {
			w.syncing, w.target = true, a.head()
		}
		key := pageKey{w.at, w.target, w.anew, w.syncing, w.counted}
		p, known := pages[key]
		if !known {
			p = a.page(key)
			pages[key] = p
		}
		if p.frame != nil && !w.push(p.frame, &budget) {
			done = false
			continue
		}
		w.at, w.anew, w.syncing = p.through, false, w.syncing && p.through < w.target
		if w.at >= w.counted {
			w.counted = 0
		}
		if w.at == a.head() {
			continue
		}
		done = false
		if !a.key.count && a.head()-w.at > farBehind && now.Sub(w.countsAt) >= countsEvery {
			if counts == nil {
				counts = a.newestCounts()
			}
			if w.push(counts, &budget) {
				w.countsAt, w.counted = now, a.head()
			}
		}
	}
	return budget, done
}

func (w *Watcher) push(frame []byte, budget *int) bool {
	if !w.out.PushPresence(frame) {
		return false
	}
	*budget -= len(frame)
	return true
}

// head is the number of the last change that may concern the audience.
func (a *audience) head() uint64 {
	switch {
	case a.channel != nil && a.key.count:
		return a.channel.counted
	case a.channel != nil:
		return a.channel.log.head
	case a.key.count:
		return a.tenant.counts.head
	}
	return a.tenant.log.head
}

// begins reports whether a watcher at this number has to begin anew.
func (a *audience) begins(at uint64) bool {
	switch {
	case a.channel != nil && a.key.count:
		return false // it has a single entry, which is never dropped while it is watched
	case a.channel != nil:
		return a.channel.log.begins(at)
	case a.key.count:
		return a.tenant.counts.begins(at)
	}
	return a.tenant.log.begins(at)
}

// page makes the page behind a number.
func (a *audience) page(k pageKey) page {
	f := frameOf(a, k)
	switch {
	case a.channel != nil && a.key.count:
		f.addCount(a.channel)
	case a.channel != nil:
		a.channel.log.after(k.at, new(entry), func(e *entry) bool { return f.add(e.channelNumber, e) })
	case a.key.count:
		a.tenant.counts.after(k.at, new(channel), func(c *channel) bool {
			if a.pattern.Match(c.name) {
				f.addCount(c)
			}
			return f.step(c.counted)
		})
	default:
		a.tenant.log.after(k.at, new(entry), func(e *entry) bool {
			if !a.pattern.Match(e.channel.name) {
				return f.step(e.number)
			}
			return f.add(e.number, e)
		})
	}
	return f.finish(k, a.head())
}

// newestCounts makes a frame of the counts that changed last, for watchers of members that
// are far behind.
func (a *audience) newestCounts() []byte {
	f := frameOf(a, pageKey{})
	f.presence.Counts = true
	if a.channel != nil {
		f.addCount(a.channel)
	} else {
		a.tenant.counts.tree.Descend(func(c *channel) bool {
			if a.pattern.Match(c.name) {
				f.addCount(c)
			}
			return f.step(0)
		})
	}
	return f.bytes()
}

// frame is a presence frame that is being made.
type frame struct {
	presence wire.Presence
	key      pageKey
	entries  []byte
	n        int
	scanned  int
	through  uint64
	full     bool
}

func frameOf(a *audience, k pageKey) *frame {
	return &frame{key: k, through: k.at, presence: wire.Presence{Tenant: a.tenant.name, Pattern: a.key.pattern, Counts: a.key.count}}
}

// step notes that everything up to a number has been looked at, and reports whether the page
// has room for more.
func (f *frame) step(number uint64) bool {
	f.through = number
	f.scanned++
	f.full = f.scanned >= maxScanned || len(f.entries) >= pageBytes
	return !f.full
}

// add adds an entry, and reports whether there is room for more.
func (f *frame) add(number uint64, e *entry) bool {
	if e.here || !f.key.syncing || number > f.key.target { // else the client knows nothing of it
		f.n++
		f.entries = wire.AppendMember(f.entries, &wire.Member{Channel: e.channel.name, Subject: e.subject, Here: e.here, Since: e.since, Info: e.info})
	}
	return f.step(number)
}

// addCount adds the count of a channel.
func (f *frame) addCount(c *channel) {
	if c.here > 0 || !f.key.syncing {
		f.n++
		f.entries = wire.AppendMemberCount(f.entries, wire.MemberCount{Channel: c.name, Members: uint32(c.here)})
	}
}

// finish returns the page; head is where the audience is.
func (f *frame) finish(k pageKey, head uint64) page {
	if !f.full {
		f.through = head
	}
	f.presence.First = k.anew
	f.presence.Synced = k.syncing && f.through >= k.target || k.counted > 0 && f.through >= k.counted
	if f.n == 0 && !f.presence.First && !f.presence.Synced {
		return page{nil, f.through}
	}
	return page{f.bytes(), f.through}
}

func (f *frame) bytes() []byte {
	return append(wire.AppendPresence(nil, &f.presence, f.n), f.entries...)
}
