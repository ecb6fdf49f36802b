package nats

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	client "github.com/nats-io/nats.go"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/wire"
)

// namedServer has a user for each of these edges, with the permissions that the
// guide gives them, for any prefix.
func namedServer(t *testing.T, names ...string) *server.Server {
	t.Helper()
	return natstest.Server(t, natstest.Core, func(o *server.Options) {
		for _, name := range names {
			o.Users = append(o.Users, &server.User{Username: name, Password: "p", Permissions: &server.Permissions{
				Publish:   &server.SubjectPermission{Allow: []string{"*.s." + name + ".>"}},
				Subscribe: &server.SubjectPermission{Allow: []string{"*.s.*.>"}},
			}})
		}
	})
}

func as(s *server.Server, name string) natstest.Connector {
	return func(o ...client.Option) (*client.Conn, error) {
		return natstest.Connect(s)(append(o, client.UserInfo(name, "p"))...)
	}
}

func named(name string) func(*Config) { return func(c *Config) { c.EdgeName = name } }

func TestIDsOfSenders(t *testing.T) {
	for _, name := range []string{"", "a", "edge-1", strings.Repeat("x", 64)} {
		if got, want := sender(name).idPrefix(), crc32.ChecksumIEEE([]byte(name)); got != want {
			t.Errorf("%q: %08x, want %08x", name, got, want)
		}
	}
	for _, id := range []edgeID{0, 1, 1 << 63, math.MaxUint64} {
		if sender("").makeID(id) != id || !sender("").owns(id) {
			t.Errorf("%v is not anybody's", id)
		}
		a := sender("edge-1").makeID(id)
		if uint32(a) != uint32(id) || !sender("edge-1").owns(a) || sender("edge-2").owns(a) || sender("edge-11").owns(a) {
			t.Errorf("%v became %v", id, a)
		}
	}
}

// An edge that is taken over, with its permissions, cannot speak for another one.
func TestForgedSender(t *testing.T) {
	t.Parallel()
	s := namedServer(t, "victim", "friend", "foe")
	b, q := startBroker(t, as(s, "victim"), named("victim"))
	friend, _ := startBroker(t, as(s, "friend"), named("friend"))
	b.subscribe(t, "t", "c", "end")
	friend.Announce(pubsub.Edge{Host: "friend.example.com"})
	await(t, "the friend's announcement", func() bool { return len(b.Edges()) == 1 })

	denied := make(chan string, 100)
	foe, err := as(s, "foe")(client.ErrorHandler(func(_ *client.Conn, _ *client.Subscription, err error) { denied <- err.Error() }))
	must(t, err)
	defer foe.Close()
	number := uint64(math.MaxUint64)
	var presence heard
	b.HandlePresence(presence.take)
	must(t, b.conn.Flush())
	member := binary.BigEndian.AppendUint64([]byte{version, kindPresence}, uint64(friend.id))
	forged := map[string][]byte{
		b.presence.to(""):            append(member, "forged"...),
		b.presence.to(b.id.String()): append(member, "forged"...),
		"a":                          announcementOf(friend.id, "foe.example.com", stateGone),
		"b.t.c.=":                    appendBroadcast(nil, friend.id, number, body{payload: []byte("forged")}),
		"q.t.c.=":                    appendControl(nil, kindQuery, friend.id),
		direct(b.id) + "t.c.=":       appendControl(nil, kindNo, friend.id),
	}
	for subject, data := range forged {
		for _, m := range []*client.Msg{
			{Subject: "p." + subject, Data: data},
			{Subject: "p.s.friend." + subject, Data: data},
			{Subject: "p.s.victim." + subject, Data: data},
		} {
			must(t, foe.PublishMsg(m))
			text := natstest.Receive(t, "the denial of "+m.Subject, denied)
			if !strings.Contains(text, fmt.Sprintf("Publish to %q", m.Subject)) {
				t.Errorf("%s: %s", m.Subject, text)
			}
		}
		must(t, foe.Publish("p.s.foe."+subject, data)) // is its own subject
	}
	// As if NATS had found nobody at the friend's.
	if err := foe.PublishMsg(&client.Msg{
		Subject: "p.s.foe." + direct(b.id) + friend.id.String(), Header: client.Header{statusHeader: {"503"}},
	}); err != nil {
		t.Fatal(err)
	}
	own := sender("foe").makeID(5)
	must(t, foe.Publish("p.s.foe.b.t.end.=", appendBroadcast(nil, own, 1, body{payload: []byte("own")})))
	await(t, "what the foe says in its own name", func() bool { return q.has("own") })
	if len(b.Edges()) != 1 || len(b.peers.otherIDs()) != 1 {
		t.Errorf("the edges are %v", b.Edges())
	}
	must(t, friend.Publish(pubsub.Message{Tenant: []byte("t"), Channel: []byte("c"), Payload: []byte("real")}))
	await(t, "a broadcast of the friend", func() bool { return q.has("real") })
	friend.SendPresence("", []byte("real"))
	await(t, "what the friend says of presence", func() bool { return len(presence.list()) > 0 })
	if q.has("forged") || fmt.Sprint(presence.list()) != fmt.Sprintf("[%s real]", friend.id) {
		t.Errorf("the hub received a forged message, or of presence: %q", presence.list())
	}
	await(t, "the counts of what is refused", func() bool { return q.get().rejected >= len(forged) })
	equal(t, "messages are counted as refused", q.get().rejected, len(forged))
}

// An edge whose permissions are for another name logs it, but not for each message.
func TestDeniedEdge(t *testing.T) {
	t.Parallel()
	s := namedServer(t, "a")
	core, logs := observer.New(zap.InfoLevel)
	b, _ := startBroker(t, as(s, "a"), named("b"), func(c *Config) { c.Log = zap.New(core) })
	denials := func() int { return logs.FilterMessage("NATS").Len() }
	began, sent := time.Now(), 0
	await(t, "a line in the log", func() bool {
		for range 1000 {
			must(t, b.Publish(message(wire.Broadcast, "")))
		}
		sent += 1000
		return denials() > 0
	})
	b.flush()
	if n, most := denials(), 1+int(time.Since(began)/time.Second); n > most {
		t.Errorf("%d lines for %d messages in %v", n, sent, time.Since(began))
	}
	if text := fmt.Sprint(logs.FilterMessage("NATS").All()[0].ContextMap()); !strings.Contains(text, "Permissions Violation") {
		t.Errorf("logged %s", text)
	}
}

// Announcements of ever new edges do not fill the memory, and keep no other edge out
// where edges have names.
func TestManyPeers(t *testing.T) {
	p, now := newPeers(), time.Now()
	for i := range edgeID(2 * maxPeers) {
		_, err := p.handleAnnouncement("", announcementOf(100+i, "h", stateHere), now)
		if full := i >= maxPeers; full != errors.Is(err, errManyPeers) {
			t.Fatalf("announcement %d: %v", i, err)
		}
	}
	equal(t, "edges are known", len(p.otherIDs()), maxPeers)

	p = newPeers()
	for i := range edgeID(2 * maxPeers) {
		if isNew, err := p.handleAnnouncement("foe", announcementOf(sender("foe").makeID(i+1), "h", stateHere), now.Add(time.Duration(i))); !isNew || err != nil {
			t.Fatalf("announcement %d: %v, %v", i, isNew, err)
		}
	}
	equal(t, "edges of one name are known", len(p.otherIDs()), maxPeersOfName)
	if isNew, err := p.handleAnnouncement("friend", announcementOf(sender("friend").makeID(1), "friend", stateHere), now); !isNew || err != nil {
		t.Errorf("a friend is not heard: %v", err)
	}
	if _, err := p.handleAnnouncement("foe", announcementOf(sender("friend").makeID(1), "foe", stateGone), now); !errors.Is(err, errNotSender) {
		t.Errorf("a foe speaks for a friend: %v", err)
	}
}

// An edge whose host is not valid gets messages, and is not listed.
func TestAnnouncedHostIsChecked(t *testing.T) {
	p := newPeers()
	p.check = func(host string) error {
		if strings.Contains(host, "/") {
			return errors.New("must be a host")
		}
		return nil
	}
	if isNew, err := p.handleAnnouncement("", announcementOf(1, "evil.example.com/path", stateHere), time.Now()); !isNew || err == nil {
		t.Errorf("got %v, %v", isNew, err)
	}
	if isNew, err := p.handleAnnouncement("", announcementOf(2, "good.example.com", stateHere), time.Now()); !isNew || err != nil {
		t.Errorf("got %v, %v", isNew, err)
	}
	wantHosts(t, p, "good.example.com", "own")
	if len(p.otherIDs()) != 2 {
		t.Errorf("the other edges are %v", p.otherIDs())
	}
}

// However many edges send broadcasts, few of their numbers are remembered.
func TestNumbersAreBounded(t *testing.T) {
	t.Parallel()
	b, q := startBroker(t, serve(t))
	r := readState{sources: map[edgeID]*source{}}
	const n = 10 * maxDepartedSources
	var scratch worker
	for i := range edgeID(n) {
		m := &client.Msg{Subject: "p.b.t.c.=", Data: appendBroadcast(nil, i+1, 1, body{})}
		if _, ok := b.admit(&r, m); ok {
			b.handle(&scratch, m)
		}
		if len(r.sources) > maxDepartedSources+1 {
			t.Fatalf("%d numbers are remembered", len(r.sources))
		}
	}
	equal(t, "messages were taken", len(q.payloads()), n)
	// Those of edges that are there stay.
	b.peers.handle(announcementOf(fakePeer, "", stateHere), time.Now().Add(time.Hour))
	r.sources[fakePeer] = &source{lastNumber: 7}
	for i := range edgeID(maxDepartedSources + 1) {
		r.sources[1000+i] = new(source)
	}
	r.forgetSources(b.peers.otherIDs())
	if len(r.sources) != 1 || r.sources[fakePeer].lastNumber != 7 {
		t.Errorf("%v are remembered", r.sources)
	}
}
