package presence

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/btree"
)

// Refusals.
var (
	// ErrNoPresence: no presence has the channel, or contains the pattern.
	ErrNoPresence = errors.New("no presence covers this channel")
	// ErrTooManyPatterns: the tenant has as many different patterns watched as may be.
	ErrTooManyPatterns = errors.New("too many watched patterns")
	// ErrFull: the tenant has as many members in the presence as it may, or the subject half
	// of them, or the edge knows as many as it can, or as it may of one owner's.
	ErrFull = errors.New("presence is full")
)

// maxEntries bounds the members that an edge knows, those that have left lately included.
const maxEntries = 2_000_000

// Key names a member.
type Key struct{ Tenant, Channel, Subject string }

// Options of a [Registry]. None is needed.
type Options struct {
	// Link to other edges; nil: there are none.
	Link Link
	// Joined is called when a member that this edge did not have has come, and Left when it
	// has gone: for each member one after the other. They must not wait, nor call the Registry.
	// User is whose token the member has, that of its newest session; empty: that is not known.
	Joined func(key Key, user string, info []byte)
	Left   func(key Key, user string)
	// Patterns says how many different patterns may be watched in all tenants, and in one;
	// nil: as many as are asked for.
	Patterns func() (all, ofTenant int)
	// Worked is told how long it took to tell watchers of a tenant what is new. Owner is whose the tenant is
	// or, where that is not known, whose token was the first to watch.
	Worked func(tenant, owner string, used time.Duration)
	// Owner returns whose a tenant is, if a token of user uses it, who is empty where that is not known;
	// empty: nobody knows. Nil: nobody does.
	Owner func(tenant, user string) string
	// Share returns how many of so many members and patterns an owner may have at most; 0: all. Nil: all.
	// Neither waits, nor calls the Registry.
	Share func(all int) int
}

// Registry holds the members of this edge, and those that it knows of others. All methods
// may be called concurrently.
type Registry struct {
	options             Options
	kick                chan struct{} // there is something to do; has room for one
	maxEntries, maxHeld int           // as the constants say, but in tests

	order sync.Mutex // held while Options.Joined and Left are called; taken before mu

	mu       sync.Mutex // guards the rest
	set      *Set
	tenants  map[string]*tenant
	all      places // the same
	holders  map[string]*holder
	entries  int // of all tenants
	here     int // of these, members that are here
	watchers int
	asked    uint64 // pages that this edge has asked others for
	own      own
	others   map[string]*edge
	names    map[string]*edgeName // of those
	watched  int                  // audiences of all tenants
	dirty    []*audience          // have watchers that are behind, perhaps; each once, some have ended
	beatAt   time.Time            // when the last beat was sent
	silentAt time.Time            // when edges that are silent were looked for
	answers  int                  // pages that were sent to edges that asked, in this tick

	prunedAt time.Time // used by Tick alone
}

// New makes a registry without presences.
func New(o Options) *Registry {
	return &Registry{
		options:    o,
		kick:       make(chan struct{}, 1),
		maxEntries: maxEntries, maxHeld: maxHeld,
		tenants: map[string]*tenant{}, holders: map[string]*holder{},
		all:    places{of: func(t *tenant) *int { return &t.place }},
		own:    newOwn(),
		others: map[string]*edge{}, names: map[string]*edgeName{},
	}
}

// SetDefinitions puts presences into effect in place of those before. Members of channels that
// none has any more are gone; the caller ends the watchers that [Set.Contains] does not allow
// any more. Others go on meanwhile. One call at a time.
func (r *Registry) SetDefinitions(s *Set) {
	r.mu.Lock()
	r.set = s
	for _, e := range r.others {
		e.at = 0 // it may have members that this edge has ignored
	}
	r.mu.Unlock()
	var w walk
	for more := true; more; {
		r.endOwn(func() (left []*ownMember) {
			now := time.Now()
			more = w.step(r, func(e *entry) {
				t := e.channel.tenant
				switch d := s.definitionFor(t.name, e.channel.name); {
				case d == nil:
					left = r.end(e, left, now)
				case e.here:
					t.countIn(e, d) // it may be another one than before
				}
			})
			return left
		})
	}
	r.wake()
}

// end ends a member, whoever has it, and appends it to left if this edge does.
func (r *Registry) end(e *entry, left []*ownMember, now time.Time) []*ownMember {
	for len(e.owners) > 0 {
		if id := e.owners[0].edge; id != "" {
			r.removeHeld(id, r.others[id], e, now)
			continue
		}
		m := r.own.members[e.key()]
		r.removeOwn(m, now)
		left = append(left, m)
	}
	return left
}

// Close ends the members of this edge, those that linger, too. The other edges are not told:
// they keep them for the linger, in which their clients come to them. It is called when Run
// has returned, and nothing is called after it.
func (r *Registry) Close() {
	r.endOwn(func() []*ownMember { return slices.Collect(maps.Values(r.own.members)) })
}

// endOwn calls end with r.mu locked, and reports the members of this edge that it returns.
func (r *Registry) endOwn(end func() []*ownMember) {
	r.order.Lock()
	defer r.order.Unlock()
	r.mu.Lock()
	left := end()
	r.mu.Unlock()
	if r.options.Left != nil {
		for _, m := range left {
			r.options.Left(m.key, m.user)
		}
	}
}

// Join counts one more session of a member, with a token of user, who is empty where that is not known.
// Info is a JSON object, or empty; the newest wins. The caller calls Leave once for each call that
// succeeded.
func (r *Registry) Join(user string, key Key, info []byte) error {
	r.order.Lock()
	defer r.order.Unlock()
	isNew, err := r.join(user, key, info)
	if isNew && r.options.Joined != nil {
		r.options.Joined(key, user, info)
	}
	return err
}

func (r *Registry) join(user string, key Key, info []byte) (isNew bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	d := r.set.definitionFor(key.Tenant, key.Channel)
	if d == nil {
		return false, ErrNoPresence
	}
	now := time.Now()
	m := r.own.members[key]
	if m == nil {
		if !r.isHere(key) && (!r.tenants[key.Tenant].hasRoom(d, key.Subject) || !r.hasRoom(key, user)) {
			return false, ErrFull
		}
		m, isNew = &ownMember{key: key, since: uint64(now.UnixMilli())}, true
		if e := r.find(key); e != nil && e.here {
			m.since = e.since // it has come from another edge
		}
		r.own.members[key] = m
	}
	r.own.unlinger(m)
	m.sessions++
	m.user = user // others keep the one of the last change: to them it says whose the tenant is, and that stays
	if isNew || !bytes.Equal(m.info, info) || m.linger != d.Linger {
		m.info, m.linger = info, d.Linger
		r.own.log.put(m)
		r.setOwner(key, user, owner{since: m.since, info: info}, now)
		r.wake()
	}
	return isNew, nil
}

// Leave counts one session of a member less. Lost says that its connection has ended, so
// that the member stays for the linger if this was the last one.
func (r *Registry) Leave(key Key, lost bool) {
	r.order.Lock()
	defer r.order.Unlock()
	if m := r.leave(key, lost); m != nil && r.options.Left != nil {
		r.options.Left(key, m.user)
	}
}

// leave returns the member if it is gone.
func (r *Registry) leave(key Key, lost bool) *ownMember {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.own.members[key]
	if m == nil {
		return nil // a reload has removed it
	}
	if m.sessions--; m.sessions > 0 {
		return nil
	}
	defer r.wake()
	now := time.Now()
	if lost {
		r.own.lingerUntil(m, now.Add(m.linger))
		return nil
	}
	r.removeOwn(m, now)
	return m
}

// wake has Run look whether there is something to do.
func (r *Registry) wake() {
	select {
	case r.kick <- struct{}{}:
	default:
	}
}

// own is what this edge tells the others.
type own struct {
	members   map[Key]*ownMember // that are here
	log       log[*ownMember]
	sent      uint64 // up to where the others were told
	sentBase  uint64 // where the log was when that began; see log.begins
	lingering *btree.BTreeG[*ownMember]
}

// ownMember is a member that this edge has, or had.
type ownMember struct {
	key      Key
	user     string // whose token its newest session has
	sessions int
	until    time.Time // it lingers until then; zero: it does not
	gone     bool
	since    uint64
	linger   time.Duration
	info     []byte
	number   uint64
}

func newOwn() own {
	return own{
		members: map[Key]*ownMember{},
		log:     newLog(func(m *ownMember) *uint64 { return &m.number }),
		lingering: btree.NewG(8, func(a, b *ownMember) bool {
			if !a.until.Equal(b.until) {
				return a.until.Before(b.until)
			}
			return a.number < b.number // which does not change while it lingers
		}),
	}
}

func (o *own) lingerUntil(m *ownMember, until time.Time) {
	m.until = until
	o.lingering.ReplaceOrInsert(m)
}

func (o *own) unlinger(m *ownMember) {
	if !m.until.IsZero() {
		o.lingering.Delete(m)
		m.until = time.Time{}
	}
}

// removeOwn ends a member of this edge. The caller holds r.mu.
func (r *Registry) removeOwn(m *ownMember, now time.Time) {
	r.own.unlinger(m)
	delete(r.own.members, m.key)
	m.gone, m.info = true, nil
	r.own.log.put(m)
	r.own.log.leave(m, now)
	r.clearOwner(r.find(m.key), "", now)
}
