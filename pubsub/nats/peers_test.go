package nats

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/pubsub"
)

const (
	ownID   edgeID = 7
	otherID edgeID = 0xfedcba9876543210
)

func newPeers() *peers {
	p := new(peers)
	p.init(ownID, "", nil)
	p.describe(pubsub.Edge{Host: "own"})
	return p
}

// handle handles an announcement in an overlay whose edges have no names.
func (p *peers) handle(data []byte, now time.Time) bool {
	isNew, _ := p.handleAnnouncement("", data, now)
	return isNew
}

func hosts(p *peers, now time.Time) (list []string) {
	for _, e := range p.edges(now) {
		list = append(list, e.Host)
	}
	return list
}

func wantHosts(t *testing.T, p *peers, want ...string) {
	t.Helper()
	if got := hosts(p, time.Now()); !slices.Equal(got, want) {
		t.Errorf("the edges are %q, want %q", got, want)
	}
}

func TestPeersComeAndGo(t *testing.T) {
	p, now := newPeers(), time.Now()
	wantHosts(t, p, "own")
	if !p.handle(announcementOf(otherID, "b", stateHere), now) {
		t.Error("a new edge is taken for one that was known")
	}
	if p.handle(announcementOf(otherID, "b", stateHere), now) {
		t.Error("an edge is new twice")
	}
	p.handle(announcementOf(1, "a", stateHere), now)
	p.handle(announcementOf(2, "", stateHere), now) // nobody can be sent there
	wantHosts(t, p, "a", "b", "own")
	if ids := p.otherIDs(); len(ids) != 3 || slices.Contains(ids, ownID) {
		t.Errorf("the other edges are %v", ids)
	}

	p.handle(announcementOf(1, "a", stateDraining), now)
	wantHosts(t, p, "b", "own")
	if !slices.Contains(p.otherIDs(), 1) {
		t.Error("an edge that drains gets no messages")
	}
	if p.handle(announcementOf(1, "a", stateGone), now) {
		t.Error("an edge that is gone is new")
	}
	if slices.Contains(p.otherIDs(), 1) {
		t.Error("an edge that is gone gets messages")
	}
	p.remove(otherID)
	wantHosts(t, p, "own")
	p.setState(stateDraining)
	wantHosts(t, p)
}

func TestPeersOfOneHost(t *testing.T) {
	p, now := newPeers(), time.Now()
	for id := range edgeID(5) { // an edge that was started again, and others
		p.handle(announcementOf(100+id, "same", stateHere), now)
		p.handle(announcementOf(200+id, "own", stateHere), now)
	}
	wantHosts(t, p, "own", "same")
}

func TestPeersIgnore(t *testing.T) {
	valid := string(announcementOf(otherID, "b", stateHere))
	change := func(from, to string) string {
		t.Helper()
		if !strings.Contains(valid, from) {
			t.Fatalf("%s is not in %s", from, valid)
		}
		return strings.Replace(valid, from, to, 1)
	}
	id := otherID.String()
	for name, text := range map[string]string{
		"nothing":            "",
		"no JSON":            "\x00\xff{",
		"null":               "null",
		"a list":             "[" + valid + "]",
		"a cut one":          valid[:len(valid)-1],
		"two":                valid + valid,
		"another version":    change(`"v":1`, `"v":2`),
		"no version":         change(`"v":1,`, ``),
		"own id":             change(id, ownID.String()),
		"no id":              change(`"id":"`+id+`",`, ``),
		"an empty id":        change(id, ""),
		"a short id":         change(id, id[:15]),
		"a long id":          change(id, id+"0"),
		"an id with a sign":  change(id, "+"+id[:15]),
		"no hexadecimal id":  change(id, "fedcba987654321x"),
		"a number as id":     change(`"`+id+`"`, "1"),
		"a number as host":   change(`"b"`, "1"),
		"a huge host":        change(`"b"`, `"`+strings.Repeat("b", 1<<19)+`"`),
		"much that is empty": change(`"b"`, strings.Repeat(" ", 1<<19)+`"b"`),
	} {
		t.Run(name, func(t *testing.T) {
			p := newPeers()
			if p.handle([]byte(text), time.Now()) {
				t.Error("it is taken for a new edge")
			}
			if ids := p.otherIDs(); len(ids) > 0 {
				t.Errorf("the other edges are %v", ids)
			}
			wantHosts(t, p, "own")
		})
	}
	p := newPeers()
	if !p.handle([]byte(change("{", `{"later":{"a":[1]},`)), time.Now()) {
		t.Error("an announcement with more in it is not taken")
	}
}

// What the protocol allows for a host and a region can be announced.
func TestPeersAnnounceLongNames(t *testing.T) {
	a, b := newPeers(), newPeers()
	b.self.ID = otherID
	host := fmt.Sprintf("%s:65535", strings.Repeat("h", 253))
	a.describe(pubsub.Edge{Host: host, Region: strings.Repeat("r", 256)})
	if !b.handle(a.announcement(0), time.Now()) {
		t.Fatal("it is not heard")
	}
	wantHosts(t, b, host, "own")
}

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

	if gone := p.expire(now.Add(peerTimeout)); gone != nil {
		t.Errorf("%v are gone too early", gone)
	}
	late := now.Add(peerTimeout + time.Millisecond)
	p.handle(announcementOf(2, "b", stateHere), late)
	wantStates(t, p, late, "1 silent", "2 here", "3 silent")             // before expire
	if got := hosts(p, late); !slices.Equal(got, []string{"b", "own"}) { // before expire, too
		t.Errorf("the edges are %q", got)
	}
	if gone := p.expire(late); len(gone) != 2 || !slices.Contains(gone, 1) || !slices.Contains(gone, 3) {
		t.Errorf("%v are gone, want 1 and 3", gone)
	}
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
	equal(t, "edges are remembered for good", len(p.silent), 0)
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

// Where edges have no names, one is replaced by an edge that comes after it on its data or with
// its host, once, and by no other.
func TestMembersWithoutNames(t *testing.T) {
	now := time.Now()
	p := newPeers()
	announce := func(id edgeID, host, place string, at time.Time) {
		t.Helper()
		data, err := json.Marshal(announcement{Version: version, ID: id, Host: host, Place: place, State: stateHere})
		must(t, err)
		p.handle(data, at)
	}
	announce(1, "", "data-1", now)
	announce(2, "", "data-2", now)
	announce(3, "balancer", "", now)
	announce(4, "balancer", "", now)
	announce(5, "", "", now)
	announce(6, "", "data-2", now) // a copy of 2, beside it
	later := now.Add(time.Second)
	announce(0xa, "", "data-1", later) // is noticed before 1 is taken for gone
	announce(4, "balancer", "", later)
	announce(6, "", "data-2", later)
	end := now.Add(peerTimeout + time.Millisecond)
	p.expire(end)
	wantStates(t, p, end, "2 silent", "3 silent", "4 here", "5 silent", "6 here", "a here")
	announce(0xb, "", "", end) // has no place until it is described
	announce(0xb, "balancer", "", end)
	announce(0xc, "", "", end)
	wantStates(t, p, end, "2 silent", "4 here", "5 silent", "6 here", "a here", "b here", "c here")
}

// However many edges come and fall silent, few are remembered, and those of one name do
// not push out others.
func TestRememberedMembersAreBounded(t *testing.T) {
	p, now := newPeers(), time.Now()
	for i := range edgeID(3 * maxPeers) {
		p.handle(announcementOf(100+i, fmt.Sprint("h", i), stateHere), now.Add(time.Duration(i)))
		p.remove(100 + i)
	}
	equal(t, "edges are remembered", len(p.silent), maxPeers)
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
	equal(t, "edges of two names are remembered", len(p.silent), 2)
	p = newPeers()
	for i := range edgeID(maxPeersOfName) { // that fall silent together
		must(t, errorOf(p.handleAnnouncement(foe, announcementOf(foe.makeID(i+1), "h", stateHere), now)))
	}
	if gone := p.expire(now.Add(time.Minute)); len(gone) != maxPeersOfName || len(p.silent) != 1 {
		t.Errorf("%d edges of one name have gone, and %d are remembered", len(gone), len(p.silent))
	}
}
