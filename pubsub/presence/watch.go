package presence

import (
	"time"

	"github.com/millrace/millrace/pubsub/pattern"
)

// Receiver takes presence frames for one client.
type Receiver interface {
	// HasRoom reports whether there may be room for a frame of [MaxFrame] bytes now. It does
	// not block, and does not call the [Registry].
	HasRoom() bool
	// PushPresence queues a frame, which is shared and never changed, or reports that there
	// is no room now. It does not block, and does not call the [Registry].
	PushPresence(frame []byte) bool
}

// Watcher is a WHO. Its fields are guarded by Registry.mu.
type Watcher struct {
	audience  *audience
	out       Receiver
	at        uint64    // everything up to this number has been told
	restarted bool      // the next frame starts over
	syncing   bool      // it has started over, and is not at target yet
	target    uint64    // where the log was when it began: from there on it has all that there was
	countsAt  time.Time // when it was told counts, since it is far behind
	counted   uint64    // where the log was then: there, the members are newer; 0: it is not behind that
	left      bool
}

// audience is the watchers of one pattern in one mode.
type audience struct {
	tenant   *tenant
	key      audienceKey
	pattern  pattern.Pattern
	channel  *channel // that is its pattern; nil: it has a wildcard
	watchers map[*Watcher]struct{}
	user     *holder   // whose token was the first
	dirty    bool      // it is in Registry.dirty, or is being served
	nextAt   time.Time // of counts: not before then
}

type audienceKey struct {
	pattern string
	count   bool
}

// Watch begins to tell a receiver, which has a token of user, who is present in the channels that a
// pattern matches, or with count how many are. Where it is not known whose the token is, user is empty.
func (r *Registry) Watch(user, tenant string, p pattern.Pattern, count bool, out Receiver) (*Watcher, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.set.Contains(tenant, p) {
		return nil, ErrNoPresence
	}
	a := r.audience(user, tenant, p, count)
	if a == nil {
		return nil, ErrTooManyPatterns
	}
	w := &Watcher{audience: a, out: out, restarted: true}
	a.watchers[w] = struct{}{}
	r.watchers++
	r.markBehind(a)
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
	r.watchers--
	if len(a.watchers) > 0 {
		return
	}
	r.watched--
	a.tenant.watched--
	a.user.watched--
	r.forgetHolderIfUnused(a.user)
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

// audience returns the watchers of a pattern, and makes them if there are none; nil: there are
// too many patterns.
func (r *Registry) audience(user, tenant string, p pattern.Pattern, count bool) *audience {
	t, key := r.tenant(tenant, ""), audienceKey{p.String(), count} // who only looks on owns nothing
	if a := t.wild[key]; a != nil {
		return a
	}
	if c := t.channels[key.pattern]; c != nil && c.audience[key.index()] != nil {
		return c.audience[key.index()]
	}
	if !r.hasPatternRoom(t, p, r.holders[user]) {
		return nil
	}
	r.watched++
	t.watched++
	of := r.holder(user)
	of.watched++
	a := &audience{tenant: t, key: key, pattern: p, watchers: map[*Watcher]struct{}{}, user: of}
	if p.Shape() == 0 {
		a.channel = t.channel(key.pattern)
		a.channel.audience[key.index()] = a
	} else {
		t.wild[key] = a
	}
	return a
}

// hasPatternRoom reports whether one pattern more may be watched in a tenant, by tokens of user; nil has
// none yet.
func (r *Registry) hasPatternRoom(t *tenant, p pattern.Pattern, user *holder) bool {
	if p.Shape() != 0 && len(t.wild) >= maxWild {
		return false
	}
	if r.options.Patterns == nil {
		return true
	}
	all, ofTenant := r.options.Patterns()
	if user != nil && r.options.Share != nil {
		if most := r.options.Share(all); most > 0 && user.watched >= most {
			return false
		}
	}
	return r.watched < all && t.watched < ofTenant
}

// markDirty notes that a channel has changed. The caller holds r.mu.
func (r *Registry) markDirty(c *channel) {
	for _, a := range c.audience {
		if a != nil {
			r.markBehind(a)
		}
	}
	if t := c.tenant; !t.wildDirty {
		t.wildDirty = true
		for _, a := range t.wild {
			r.markBehind(a)
		}
	}
}

// markBehind notes that watchers of an audience may be behind. The caller holds r.mu.
func (r *Registry) markBehind(a *audience) {
	if !a.dirty {
		a.dirty = true
		r.dirty = append(r.dirty, a)
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
	// scanCost is what an entry that is looked at counts for in the bytes of a tick.
	scanCost = 16
	// MaxFrame is how many bytes a frame has at most: a page and its last entry, the head, and
	// some room.
	MaxFrame = pageBytes + 3<<10
)

// serve gives the watchers of an audience their next pages, for so many bytes, and
// returns what is left; what is looked at costs some, too. Done reports whether none is behind
// any more. The caller holds r.mu.
func (a *audience) serve(now time.Time, budget int) (left int, done bool) {
	if a.key.count {
		if now.Before(a.nextAt) {
			return budget, false
		}
		a.nextAt = now.Add(countsEvery)
	}
	budget = a.tellCounts(now, budget)
	pages, done := map[pageKey]page{}, true
	for w := range a.watchers {
		if w.at == a.head() && !w.restarted {
			continue
		}
		if budget <= 0 {
			return budget, false
		}
		if !w.out.HasRoom() { // before a page is made for it
			done = false
			continue
		}
		if !w.restarted && a.mustRestart(w.at, w.target) {
			w.restarted, w.at = true, 0
		}
		if w.restarted {
			w.syncing, w.target = true, a.head()
		}
		key := pageKey{w.at, w.target, w.counted, w.restarted, w.syncing}
		p, known := pages[key]
		if !known {
			p = a.page(key)
			pages[key] = p
			budget -= p.scanned * scanCost
		}
		if p.frame != nil && !w.push(p.frame, &budget) {
			done = false
			continue
		}
		w.at, w.restarted, w.syncing = p.through, false, w.syncing && p.through < w.target
		if p.through >= w.counted {
			w.counted = 0
		}
		done = done && w.at == a.head()
	}
	return budget, done
}

// tellCounts gives those that are far behind the newest counts, before others get pages: a
// crowd may be so large that the turn of each comes seldom.
func (a *audience) tellCounts(now time.Time, budget int) (left int) {
	if a.key.count || a.length() <= farBehind {
		return budget
	}
	var counts []byte
	for w := range a.watchers {
		if w.restarted || a.head()-w.at <= farBehind || now.Sub(w.countsAt) < countsEvery || !w.out.HasRoom() {
			continue
		}
		if counts == nil {
			var scanned int
			counts, scanned = a.newestCounts()
			budget -= scanned * scanCost
		}
		if budget <= 0 {
			break
		}
		if w.push(counts, &budget) {
			w.countsAt, w.counted = now, a.head()
		}
	}
	return budget
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

// length is how many entries there are that may concern the audience.
func (a *audience) length() int {
	if a.channel != nil {
		return a.channel.log.tree.Len()
	}
	return a.tenant.log.tree.Len()
}

// mustRestart reports whether a watcher at this number has to start over; base is where the log was
// when it began.
func (a *audience) mustRestart(at, base uint64) bool {
	switch {
	case a.channel != nil && a.key.count:
		return false // it has a single entry, which is never dropped while it is watched
	case a.channel != nil:
		return a.channel.log.mustRestart(at, base)
	case a.key.count:
		return a.tenant.counts.mustRestart(at, base)
	}
	return a.tenant.log.mustRestart(at, base)
}
