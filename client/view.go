package client

import (
	"bytes"
	"cmp"
	"container/list"
	"maps"
	"slices"
	"sync"

	"github.com/millrace/millrace/wire"
)

type memberKey struct{ channel, subject string }

func (k memberKey) compare(other memberKey) int {
	return cmp.Or(cmp.Compare(k.channel, other.channel), cmp.Compare(k.subject, other.subject))
}

// roster is who is present, or with counts alone how many are.
type roster struct {
	members map[memberKey]*Member // which are not changed
	counts  map[string]int        // of channels that have any
}

func newRoster() *roster { return &roster{map[memberKey]*Member{}, map[string]int{}} }

// set puts a member in, or with nil takes it out, and returns what was there.
func (r *roster) set(k memberKey, m *Member) (before *Member) {
	before = r.members[k]
	switch {
	case m == nil && before != nil:
		delete(r.members, k)
		r.setCount(k.channel, r.counts[k.channel]-1)
	case m != nil:
		r.members[k] = m
		if before == nil {
			r.setCount(k.channel, r.counts[k.channel]+1)
		}
	}
	return before
}

func (r *roster) setCount(channel string, n int) {
	if n == 0 {
		delete(r.counts, channel)
	} else {
		r.counts[channel] = n
	}
}

// isMember reports whether two states of a member are the same; nil means gone.
func isMember(a, b *Member) bool {
	return a == b || a != nil && b != nil && a.Since.Equal(b.Since) && bytes.Equal(a.Info, b.Info)
}

// view is what the presences of a WHO show.
type view struct {
	mu      sync.Mutex
	shown   *roster
	newest  map[string]int // counts of a WHO of members that cannot be told who they are, which are newer
	synced  bool
	readers map[*Presence]struct{}
}

func newView() *view { return &view{shown: newRoster(), readers: map[*Presence]struct{}{}} }

// told is a change that a reader has yet to be notified of, with what it was told before. What is
// true now is in the view.
type told struct {
	key    memberKey // of a count the channel alone
	member *Member   // nil: it was not there
	count  int
	counts bool // it is about a count
}

// add begins to tell a presence of changes.
func (v *view) add(p *Presence) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !p.ended {
		v.readers[p] = struct{}{}
	}
}

// remove ends a presence that nobody wants any more.
func (v *view) remove(p *Presence) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.readers, p)
	p.end(nil, true)
}

func (v *view) hasReaders() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.readers) > 0
}

// end ends all presences.
func (v *view) end(err error, discard bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.synced = false
	for p := range v.readers {
		p.end(err, discard)
	}
	clear(v.readers)
}

// end has Next return the error. The caller holds view.mu.
func (p *Presence) end(err error, discard bool) {
	if p.discard = p.discard || discard; p.discard {
		p.told.Init()
		clear(p.ofMember)
		clear(p.ofCount)
	}
	if p.ended {
		return
	}
	p.ended, p.err = true, err
	offer(p.wake)
}

// take returns the next change for the reader, if there is one.
func (p *Presence) take() (change PresenceChange, ok bool, err error) {
	p.view.mu.Lock()
	defer p.view.mu.Unlock()
	first := p.told.Front()
	switch {
	case first != nil:
		change = p.view.change(first.Value.(*told))
		p.forget(first)
	case p.ended && p.err != nil:
		return change, false, p.err
	case p.ended:
		return change, false, ErrClosed
	}
	if p.told.Len() > 0 || p.ended {
		offer(p.wake) // for who reads, too
	}
	return change, first != nil, nil
}

func (p *Presence) forget(e *list.Element) {
	if of := e.Value.(*told); of.counts {
		delete(p.ofCount, of.key.channel)
	} else {
		delete(p.ofMember, of.key)
	}
	p.told.Remove(e)
}

// change is the difference between what a reader was told and what is true. The caller holds
// v.mu, as of the methods below.
func (v *view) change(of *told) PresenceChange {
	if of.counts {
		return PresenceChange{Type: CountChanged, Channel: of.key.channel, Count: v.count(of.key.channel)}
	}
	switch now := v.shown.members[of.key]; {
	case now == nil:
		return PresenceChange{Type: MemberLeft, Channel: of.key.channel, Member: *of.member}
	case of.member == nil:
		return PresenceChange{Type: MemberJoined, Channel: of.key.channel, Member: *now}
	default:
		return PresenceChange{Type: MemberChanged, Channel: of.key.channel, Member: *now}
	}
}

// count is the newest that is known of a channel.
func (v *view) count(channel string) int {
	if n, ok := v.newest[channel]; ok {
		return n
	}
	return v.shown.counts[channel]
}

// noteMember notes for the readers that a member has changed.
func (v *view) noteMember(k memberKey, before *Member) {
	now := v.shown.members[k]
	for p := range v.readers {
		if p.count {
			continue
		}
		switch e := p.ofMember[k]; {
		case e == nil && !isMember(before, now):
			p.ofMember[k] = p.told.PushBack(&told{key: k, member: before})
			offer(p.wake)
		case e != nil && isMember(e.Value.(*told).member, now): // they were told this
			p.forget(e)
		}
	}
}

// noteCount notes for the readers that a count has changed. Who sees the members is told only
// counts that they do not show: with newest.
func (v *view) noteCount(channel string, before int) {
	now := v.count(channel)
	for p := range v.readers {
		_, newer := v.newest[channel]
		switch e := p.ofCount[channel]; {
		case e == nil && before != now && (p.count || newer):
			p.ofCount[channel] = p.told.PushBack(&told{key: memberKey{channel: channel}, count: before, counts: true})
			offer(p.wake)
		case e != nil && (e.Value.(*told).count == now || !p.count && !newer):
			p.forget(e)
		}
	}
}

// show replaces what is shown: what it does not differ in has not changed.
func (v *view) show(next *roster) {
	v.mu.Lock()
	defer v.mu.Unlock()
	counts := map[string]int{} // before
	for _, of := range []map[string]int{v.shown.counts, v.newest, next.counts} {
		for channel := range of {
			counts[channel] = v.count(channel)
		}
	}
	before := v.shown
	v.shown, v.newest, v.synced = next, nil, true
	keys := make([]memberKey, 0, len(before.members))
	for k, m := range before.members {
		if !isMember(m, next.members[k]) {
			keys = append(keys, k)
		}
	}
	for k := range next.members {
		if before.members[k] == nil {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, memberKey.compare)
	for _, k := range keys {
		v.noteMember(k, before.members[k])
	}
	for _, channel := range slices.Sorted(maps.Keys(counts)) {
		v.noteCount(channel, counts[channel])
	}
}

// apply changes what is shown by a frame.
func (v *view) apply(p *wire.Presence) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if p.Synced {
		v.forgetNewest()
	}
	for i := range p.Members {
		k, m := memberOf(&p.Members[i])
		count := v.count(k.channel)
		before := v.shown.set(k, m)
		v.noteMember(k, before)
		v.noteCount(k.channel, count)
	}
	for _, c := range p.Channels {
		count := v.count(c.Channel)
		v.shown.setCount(c.Channel, int(c.Members))
		v.noteCount(c.Channel, count)
	}
}

// tell notes counts of channels whose members are not known yet.
func (v *view) tell(counts []wire.MemberCount) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, c := range counts {
		before := v.count(c.Channel)
		if v.newest == nil {
			v.newest = map[string]int{}
		}
		v.newest[c.Channel] = int(c.Members)
		v.noteCount(c.Channel, before)
	}
}

// forgetNewest goes back to the counts of the members that are shown.
func (v *view) forgetNewest() {
	newest := v.newest
	v.newest = nil
	for _, channel := range slices.Sorted(maps.Keys(newest)) {
		v.noteCount(channel, newest[channel])
	}
}

func (v *view) lose() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.synced = false
}
