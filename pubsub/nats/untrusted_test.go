package nats

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	client "github.com/nats-io/nats.go"
	"go.uber.org/zap"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/internal/natssubject"
	"github.com/millrace/millrace/wire"
)

// Names that no edge accepts from a client are not accepted from another edge.
func TestUntrustedNames(t *testing.T) {
	t.Parallel()
	connect := serve(t)
	b, q := startBroker(t, connect)
	b.subscribe(t, "t", "#")
	b.subscribe(t, strings.Repeat("t", wire.MaxTenant+1), "#")
	nc, err := connect()
	must(t, err)
	defer nc.Close()
	sent := 0
	send := func(subject string, data []byte) {
		t.Helper()
		sent++
		must(t, nc.Publish(subject, data))
	}
	broadcast := func(payload string) []byte {
		return appendBroadcast(nil, 9, uint64(sent)+1, body{payload: []byte(payload)})
	}
	one := appendOne(nil, wire.OneNearest, nil, body{payload: []byte("one")})
	for _, name := range []string{
		"t.c$", "t.c=d", "t.é", "t.c#", "t.\x01", strings.Repeat("t", wire.MaxTenant+1) + ".c",
		"t" + strings.Repeat(".c", wire.MaxTokens+1), "t." + strings.Repeat("c", wire.MaxChannel+1),
	} {
		send("p.b."+name+natssubject.ChannelEnd, broadcast("name"))
		send("p.o."+name+natssubject.ChannelEnd, one)
		send("p."+direct(b.id)+name+natssubject.ChannelEnd, one)
		send("p.q."+name+natssubject.ChannelEnd, appendControl(nil, kindQuery, 9))
	}
	for _, sender := range []string{strings.Repeat("u", wire.MaxSender+1), "a\nb", "\xff", "\u0085"} { // as u8 length and bytes
		send("p.b.t.c"+natssubject.ChannelEnd, appendBroadcast(nil, 9, uint64(sent)+1, body{[]byte(sender), []byte("sender")}))
		send("p.o.t.c"+natssubject.ChannelEnd, appendOne(nil, wire.OneNearest, nil, body{[]byte(sender), []byte("sender")}))
		send("p."+direct(b.id)+"t.c"+natssubject.ChannelEnd, appendOne(nil, wire.OneRandom, nil, body{[]byte(sender), []byte("sender")}))
	}
	send("p.q.t.c"+natssubject.ChannelEnd, one)                                                                  // all edges would take it
	send("p.q.t.c"+natssubject.ChannelEnd, appendControl(nil, kindYes, 9))                                       // as if it had been asked
	send("p.o.t.c"+natssubject.ChannelEnd, appendOne(nil, wire.OneRandom, nil, body{payload: []byte("random")})) // is sent to one edge
	send("p.o.t.c"+natssubject.ChannelEnd, appendControl(nil, kindQuery, 9))
	send("p."+direct(b.id)+"t.c"+natssubject.ChannelEnd, appendControl(nil, kindQuery, 9))
	refused := sent
	send("p.b.t.c"+natssubject.ChannelEnd, broadcast("legal"))
	// What has another tenant, or another subject, is handled beside it.
	await(t, fmt.Sprint("the legal one, and the count of ", refused, " that are refused"), func() bool {
		return q.taken() > 0 && q.get().rejected >= refused
	})
	if q := q.get(); len(q.bad) > 0 || len(q.received) != 1 || q.received[0] != "legal" || q.rejected != refused {
		t.Errorf("the hub received %q, %q; %d are counted as refused, want %d", q.bad, q.received, q.rejected, refused)
	}
}

// A control message that this edge does not know changes nothing of what it does.
func TestUnknownControlMessage(t *testing.T) {
	t.Parallel()
	b, _ := startBroker(t, serve(t))
	m := message(0, "")
	b.peers.handle(announcementOf(fakePeer, "", stateHere), time.Now().Add(time.Hour))
	c := &channelResponders{complete: true, edges: []edgeID{fakePeer}, usedAt: time.Now()}
	b.ofTenant("t", func(of *tenantResponders) { of.channels["c"] = c })
	edges := func() (n int) {
		b.ofTenant("t", func(*tenantResponders) { n = len(c.edges) })
		return n
	}
	b.handleControl(m, 'z', fakePeer)
	equal(t, "edges after an unknown control message", edges(), 1)
	b.handleControl(m, kindNo, fakePeer)
	equal(t, "edges after a no", edges(), 0)
	b.handleControl(m, kindYes, fakePeer)
	b.handleControl(m, kindYes, fakePeer)
	equal(t, "edges after one has said yes twice", edges(), 1)
	b.peers.remove(fakePeer)
	b.handleControl(m, kindNo, fakePeer)
	b.handleControl(m, kindYes, fakePeer)
	equal(t, "edges after the yes of one that is gone", edges(), 0)
}

// Malformed headers, which NATS servers pass on as they came, do not end an edge: the
// client library of versions before 1.55 panics on a status line that is too short.
func TestUntrustedHeaders(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t, natstest.Core)
	b, q := startBroker(t, natstest.Connect(s))
	b.subscribe(t, "t", "#")
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.ClientURL(), "nats://"))
	must(t, err)
	defer conn.Close()
	fmt.Fprintf(conn, "CONNECT {\"headers\":true,\"verbose\":false,\"protocol\":1}\r\n")
	sent := uint64(0)
	for _, header := range []string{
		"NATS/1.0", "NATS/1.0 ", "NATS/1.0S", "NATS/1.0 5", "NATS/1.0 50", "NATS/1.0 503", "NATS/1.0 5033", "NATS/1.0\r\n:", "NATS/1.0\r\nx", "NATS/1.", "", "\xff",
	} {
		header += "\r\n\r\n"
		for _, subject := range []string{"p.a", "p.b.t.c" + natssubject.ChannelEnd, "p." + direct(b.id) + "t.c" + natssubject.ChannelEnd} {
			sent++
			data := appendBroadcast(nil, 9, sent, body{payload: []byte("x")})
			fmt.Fprintf(conn, "HPUB %s %d %d\r\n%s%s\r\n", subject, len(header), len(header)+len(data), header, data)
		}
	}
	mark := appendBroadcast(nil, 9, sent+1, body{payload: []byte("mark")})
	fmt.Fprintf(conn, "PUB p.b.t.c%s %d\r\n%s\r\n", natssubject.ChannelEnd, len(mark), mark)
	q.await(t, "mark")
}

// newOffline returns a broker without a link, for what it receives.
func newOffline(name sender) (*Broker, *hub) {
	q := &hub{}
	b := &Broker{
		config: Config{QueueBytes: 1 << 16}, log: zap.NewNop(), prefix: "p.", name: name, id: name.makeID(ownID), receiver: q,
		wakeWriter: make(chan struct{}, 1),
	}
	b.peers.init(b.id, "", nil)
	b.responders.init()
	b.requests.init()
	return b, q
}

// Whatever comes from NATS, the hub gets only messages that a client could have sent,
// and at most one; what is known of another edge is only what it has said itself.
func FuzzReceive(f *testing.F) {
	friend := sender("friend").makeID(1)
	for _, subject := range []string{
		"p.b.t.=", "p.b.t", "p.b.t.c", "p.o.t", "p.q.x", "p.q.=", "p.q.t.c.d", "p." + direct(ownID) + "=", "p." + direct(ownID) + "x.t.c.=",
		"p.a", "p.b.t.c.=", "p.o.t.c.=", "p.q.a=b.c.d.=", "p." + direct(ownID) + "t.c.=", "p." + direct(ownID) + friend.String(),
		"p.s.friend.a", "p.s.friend.b.t.c.=", "p.s.foe.o.t.c.=", "p.s.friend.q.t.c.=", "p.s.friend.e.x.t.c.=", "p.s..b.t.c.=", "q.b", "",
	} {
		for _, data := range [][]byte{
			nil, announcementOf(friend, "h", stateHere), announcementOf(friend, "h", stateGone), appendBroadcast(nil, friend, 1, body{payload: []byte("x")}),
			appendOne(nil, wire.OneRandom, []edgeID{1, 2}, body{payload: []byte("x")}), appendOne(nil, wire.OneNearest, nil, body{}),
			appendBroadcast(nil, friend, 1, body{[]byte("ann"), []byte("x")}), appendOne(nil, wire.OneNearest, nil, body{[]byte("ann"), nil}),
			appendControl(nil, kindQuery, friend), appendControl(nil, kindYes, friend), appendControl(nil, kindNo, friend),
			{0}, {version}, {version + 1}, {version, 0}, {version, kindMessage}, {version, kindMessage, byte(wire.OneNearest)},
			{version, kindMessage, byte(wire.OneNearest), 255}, {version, kindMessage, byte(wire.OneNearest), 1, 0, 0, 0},
			{version + 1, kindMessage, byte(wire.OneNearest), 0, 'x'}, {version, kindMessage, 3, 0, 'x'}, {version, kindMessage, 255, 0, 'x'},
			{version, kindMessage, byte(wire.Broadcast), 0, 'x'}, {version, kindQuery}, {version, kindYes, 1}, {version, kindNo, 1, 2, 3, 4, 5, 6, 7},
			{version, 'z', 1, 2, 3, 4, 5, 6, 7, 8}, {version + 1, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 0, 1, 'x'}, []byte("{}"), []byte(`{"v":1,"id":1}`),
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
