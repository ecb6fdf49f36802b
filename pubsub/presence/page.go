package presence

import "github.com/millrace/millrace/wire"

// page is a frame that brings a watcher from one number to another.
type page struct {
	frame   []byte // nil: nothing is to be said
	through uint64
	scanned int // entries that were looked at for it
}

// pageKey is what a page depends on, of one audience in one tick.
type pageKey struct {
	at, target, counted uint64
	restarted, syncing  bool
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
func (a *audience) newestCounts() (frame []byte, scanned int) {
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
	return f.bytes(), f.scanned
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
	f.presence.First = k.restarted
	f.presence.Synced = k.syncing && f.through >= k.target || k.counted > 0 && f.through >= k.counted
	if f.n == 0 && !f.presence.First && !f.presence.Synced {
		return page{nil, f.through, f.scanned}
	}
	return page{f.bytes(), f.through, f.scanned}
}

func (f *frame) bytes() []byte {
	return append(wire.AppendPresence(nil, &f.presence, f.n), f.entries...)
}
