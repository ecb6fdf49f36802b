package nats

import (
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
	p.init(ownID, nil)
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

func TestPeersThatAreSilentExpire(t *testing.T) {
	p, now := newPeers(), time.Now()
	p.handle(announcementOf(1, "a", stateHere), now)
	p.handle(announcementOf(2, "b", stateHere), now.Add(time.Second))
	if gone := p.expire(now.Add(peerTimeout)); gone != nil {
		t.Errorf("%v are gone too early", gone)
	}
	wantHosts(t, p, "a", "b", "own")
	late := now.Add(peerTimeout + time.Millisecond)
	if got := hosts(p, late); !slices.Equal(got, []string{"b", "own"}) {
		t.Errorf("before it is looked for, the edges are %q", got)
	}
	if gone := p.expire(late); !slices.Equal(gone, []edgeID{1}) {
		t.Errorf("%v are gone, want the first", gone)
	}
	wantHosts(t, p, "b", "own")
	if ids := p.otherIDs(); !slices.Equal(ids, []edgeID{2}) {
		t.Errorf("the other edges are %v", ids)
	}
	p.handle(announcementOf(2, "b", stateHere), now.Add(peerTimeout)) // it is heard of again
	if gone := p.expire(now.Add(peerTimeout + 2*time.Second)); gone != nil {
		t.Errorf("%v are gone, and have been heard of since", gone)
	}
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
