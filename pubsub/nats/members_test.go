package nats

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/millrace/millrace/pubsub"
)

// states lists the members as `id state`, this edge aside.
func states(p *peers, now time.Time) (list []string) {
	for _, m := range p.members("", now)[1:] {
		list = append(list, m.ID[15:]+" "+m.State)
	}
	return list
}

func wantStates(t *testing.T, p *peers, now time.Time, want ...string) {
	t.Helper()
	if got := states(p, now); !slices.Equal(got, want) {
		t.Errorf("the members are %q, want %q", got, want)
	}
}

func TestMembersComeAndGo(t *testing.T) {
	p, now := newPeers(), time.Now()
	if all := p.members("own-name", now); len(all) != 1 || all[0] != (pubsub.Member{
		ID: ownID.String(), Name: "own-name", Host: "own", State: pubsub.MemberHere,
	}) {
		t.Errorf("alone: %+v", all)
	}
	p.handle(announcementOf(1, "", stateHere), now)
	p.handle(announcementOf(2, "b", stateDraining), now)
	p.handle(announcementOf(3, "c", "of a later version"), now)
	wantStates(t, p, now, "1 here", "2 draining", "3 draining")
	if m := p.members("", now)[2]; m.Host != "b" || !m.SeenAt.Equal(now) || m.Name != "" {
		t.Errorf("got %+v", m)
	}

	late := now.Add(peerTimeout + time.Millisecond)
	p.handle(announcementOf(2, "b", stateHere), late)
	wantStates(t, p, late, "1 silent", "2 here", "3 silent") // before expire
	p.expire(late)
	wantStates(t, p, late, "1 silent", "2 here", "3 silent")
	if ids := p.otherIDs(); !slices.Equal(ids, []edgeID{2}) {
		t.Errorf("messages go to %v", ids)
	}
	if isNew := p.handle(announcementOf(1, "", stateHere), late); !isNew {
		t.Error("an edge that is back is not taken for new")
	}
	p.handle(announcementOf(3, "c", stateGone), late)
	wantStates(t, p, late, "1 here", "2 here")
	if _, known := p.lookup(3); known {
		t.Error("an edge that has said that it leaves is known")
	}
	p.remove(2) // NATS says so
	p.remove(9)
	wantStates(t, p, late, "1 here", "2 silent")
	if _, known := p.lookup(2); !known {
		t.Error("a silent edge is not known")
	}

	p.handle(announcementOf(1, "", stateHere), late.Add(memberKept))
	wantStates(t, p, late.Add(memberKept), "1 here", "2 silent")
	wantStates(t, p, late.Add(memberKept+time.Millisecond), "1 here")
	p.remove(1)
	p.expire(late.Add(2*memberKept + time.Millisecond))
	if n := len(p.silent); n != 0 {
		t.Errorf("%d edges are remembered for good", n)
	}
	p.setState(stateGone)
	if m := p.members("", now)[0]; m.State != pubsub.MemberDraining {
		t.Errorf("an edge that stops is %s", m.State)
	}
}

// An edge that was started again takes the place of the one before it, whichever is
// noticed first.
func TestMembersThatStartAgain(t *testing.T) {
	now := time.Now()
	announce := func(p *peers, name sender, n edgeID, at time.Time) {
		t.Helper()
		must(t, errorOf(p.handleAnnouncement(name, announcementOf(name.makeID(n), "h", stateHere), at)))
	}
	names := func(p *peers, at time.Time) (list []string) {
		for _, m := range p.members("", at)[1:] {
			list = append(list, fmt.Sprintf("%s %s %s", m.Name, m.ID[15:], m.State))
		}
		slices.Sort(list)
		return list
	}
	for _, late := range []bool{false, true} { // the new process comes before or after the old one is taken for gone
		p := newPeers()
		announce(p, "a", 1, now)
		announce(p, "b", 1, now)
		end := now.Add(peerTimeout + time.Second)
		if !late {
			announce(p, "a", 2, now.Add(time.Second))
		}
		p.expire(end)
		if late {
			announce(p, "a", 2, end)
		}
		if got := names(p, end); !slices.Equal(got, []string{"a 2 here", "b 1 silent"}) {
			t.Errorf("late %v: %q", late, got)
		}
	}
}

// However many edges come and fall silent, few are remembered, and those of one name do
// not push out others.
func TestRememberedMembersAreBounded(t *testing.T) {
	p, now := newPeers(), time.Now()
	for i := range edgeID(3 * maxPeers) {
		p.handle(announcementOf(100+i, "h", stateHere), now.Add(time.Duration(i)))
		p.remove(100 + i)
	}
	if n := len(p.silent); n != maxPeers {
		t.Errorf("%d edges are remembered", n)
	}
	if _, known := p.lookup(100 + 3*maxPeers - 1); !known {
		t.Error("the last one is not remembered")
	}

	p = newPeers()
	friend, foe := sender("friend"), sender("foe")
	for i := range edgeID(3 * maxPeers) {
		for name, id := range map[sender]edgeID{friend: friend.makeID(1), foe: foe.makeID(i + 1)} {
			at := now.Add(time.Duration(i))
			must(t, errorOf(p.handleAnnouncement(name, announcementOf(id, "h", stateHere), at)))
		}
		p.remove(foe.makeID(i + 1))
	}
	p.remove(friend.makeID(1))
	if len(p.silent) != 2 {
		t.Errorf("%d edges of two names are remembered", len(p.silent))
	}
	p = newPeers()
	for i := range edgeID(maxPeersOfName) { // that fall silent together
		must(t, errorOf(p.handleAnnouncement(foe, announcementOf(foe.makeID(i+1), "h", stateHere), now)))
	}
	if gone := p.expire(now.Add(time.Minute)); len(gone) != maxPeersOfName || len(p.silent) != 1 {
		t.Errorf("%d edges of one name have gone, and %d are remembered", len(gone), len(p.silent))
	}
}
