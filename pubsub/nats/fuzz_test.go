package nats

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	client "github.com/nats-io/nats.go"
	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/wire"
)

// newOffline returns a broker without a link, for what it receives.
func newOffline(name sender) (*Broker, *hub) {
	q := &hub{}
	b := &Broker{
		config: Config{QueueBytes: 1 << 16}, log: zap.NewNop(), prefix: "p.", name: name, id: name.makeID(ownID), receiver: q,
		wakeWriter: make(chan struct{}, 1),
	}
	b.peers.init(b.id, nil)
	b.responders.init()
	b.requests.init()
	return b, q
}

// Whatever comes from NATS, the hub gets only messages that a client could have sent,
// and at most one; what is known of another edge is only what it has said itself.
func FuzzReceive(f *testing.F) {
	friend := sender("friend").makeID(1)
	for _, subject := range []string{
		"p.a", "p.b.t.c.=", "p.o.t.c.=", "p.q.a=b.c.d.=", "p." + direct(ownID) + "t.c.=", "p." + direct(ownID) + friend.String(),
		"p.s.friend.a", "p.s.friend.b.t.c.=", "p.s.foe.o.t.c.=", "p.s.friend.q.t.c.=", "p.s.friend.e.x.t.c.=", "p.s..b.t.c.=", "q.b", "",
	} {
		for _, data := range [][]byte{
			nil, announcementOf(friend, "h", stateHere), announcementOf(friend, "h", stateGone), appendBroadcast(nil, friend, 1, body{payload: []byte("x")}),
			appendOne(nil, wire.OneRandom, []edgeID{1, 2}, body{payload: []byte("x")}), appendOne(nil, wire.OneNearest, nil, body{}),
			appendBroadcast(nil, friend, 1, body{[]byte("ann"), []byte("x")}), appendOne(nil, wire.OneNearest, nil, body{[]byte("ann"), nil}),
			appendControl(nil, kindQuery, friend), appendControl(nil, kindYes, friend), appendControl(nil, kindNo, friend),
		} {
			f.Add(subject, data, "", false)
		}
	}
	f.Add("p.s.own."+direct(sender("own").makeID(ownID))+friend.String(), []byte(nil), "503", true)
	f.Add("p.s.foe."+direct(sender("own").makeID(ownID))+friend.String(), []byte(nil), "503", true)
	f.Fuzz(func(t *testing.T, subject string, data []byte, status string, named bool) {
		own := sender("")
		if named {
			own = "own"
		}
		b, q := newOffline(own)
		must(t, errorOf(b.peers.handleAnnouncement("friend", announcementOf(friend, "friend", stateHere), time.Now())))
		m := &client.Msg{Subject: subject, Data: bytes.Clone(data)}
		if status != "" {
			m.Header = client.Header{statusHeader: {status}}
		}
		r := readState{sources: map[edgeID]*source{}}
		for range 2 {
			if tenant, ok := b.admit(&r, m); ok {
				b.inbox.put(tenant, m, b.config.QueueBytes)
				b.inbox.work(func(m *client.Msg) { b.handle(&worker{}, m) })
			}
		}
		if len(q.bad) > 0 {
			t.Errorf("the hub received %q", q.bad)
		}
		from, rest, ours := b.splitSender(subject)
		kind, _, _ := bytes.Cut([]byte(rest), []byte("."))
		if (!ours || string(kind) == "b" && len(q.received) > 1) && len(q.received) > 0 {
			t.Errorf("%q %x is taken %d times", subject, data, len(q.received))
		}
		if len(r.sources) > 1 || b.responders.channels.Load() > 0 || b.responders.pendingChannels.Load() > 1 {
			t.Errorf("%q %x leaves %d numbers, %d channels, %d pending queries", subject, data, len(r.sources), b.responders.channels.Load(), b.responders.pendingChannels.Load())
		}
		for id := range r.sources {
			if !from.owns(id) {
				t.Errorf("%s sets the number of %v", from, id)
			}
		}
		if named && from != "friend" && from != own && b.peers.others[friend] == nil {
			t.Errorf("%s ends its friend", from)
		}
		if !bytes.Equal(m.Data, data) {
			t.Error("the message was changed")
		}
	})
}

// An announcement that is accepted could be announced again, and does not list a host
// that is refused.
func FuzzAnnouncement(f *testing.F) {
	f.Add("", announcementOf(otherID, "h.example.com:1", stateHere))
	f.Add("friend", announcementOf(sender("friend").makeID(1), "h", stateDraining))
	f.Add("foe", announcementOf(sender("friend").makeID(1), "h", stateGone))
	f.Add("", []byte(`{"v":1,"id":"0000000000000001","state":"later","host":"a/b"}`))
	f.Fuzz(func(t *testing.T, from string, data []byte) {
		p := newPeers()
		p.check = func(host string) error {
			if wire.CheckChannel(host) != nil { // any rule will do
				return errAnnouncement
			}
			return nil
		}
		isNew, _ := p.handleAnnouncement(sender(from), data, time.Now())
		if (len(p.others) == 1) != isNew || len(p.others) > 1 {
			t.Fatalf("new %v, and %d are known", isNew, len(p.others))
		}
		for id, other := range p.others {
			if other.ID != id || id == 0 || id == ownID || !sender(from).owns(id) || len(data) > maxAnnouncement {
				t.Errorf("%q of %q makes %v known", data, from, id)
			}
			again, err := json.Marshal(other.announcement)
			must(t, err)
			second := newPeers()
			if isNew, err := second.handleAnnouncement(sender(from), again, time.Now()); len(again) <= maxAnnouncement && (!isNew || err != nil) {
				t.Errorf("%s is not taken again: %v", again, err)
			}
		}
		for _, e := range p.edges(time.Now()) {
			if e != (pubsub.Edge{Host: "own"}) && wire.CheckChannel(e.Host) != nil {
				t.Errorf("%q is listed", e.Host)
			}
		}
	})
}
