package nats

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	client "github.com/nats-io/nats.go"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub/internal/natssubject"
	"github.com/millrace/millrace/wire"
)

// Whatever is sent on the subjects of an overlay, the broker goes on.
func TestUntrustedMessages(t *testing.T) {
	t.Parallel()
	connect := serve(t)
	b, q := startBroker(t, connect)
	b.subscribe(t, "t", "#")
	nc, err := connect()
	must(t, err)
	defer nc.Close()

	bodies := [][]byte{
		nil, {0}, {version}, {version + 1}, {version, 0}, {version, kindMessage}, {version, kindMessage, byte(wire.OneNearest)},
		{version, kindMessage, byte(wire.OneNearest), 255}, {version, kindMessage, byte(wire.OneNearest), 1, 0, 0, 0},
		{version + 1, kindMessage, byte(wire.OneNearest), 0, 'x'}, {version, kindMessage, 3, 0, 'x'}, {version, kindMessage, 255, 0, 'x'}, {version, kindMessage, byte(wire.Broadcast), 0, 'x'},
		{version, kindQuery}, {version, kindYes, 1}, {version, kindNo, 1, 2, 3, 4, 5, 6, 7}, {version, 'z', 1, 2, 3, 4, 5, 6, 7, 8},
		{version, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 0}, {version + 1, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 0, 1, 'x'},
		[]byte("{}"), []byte(`{"v":1}`), []byte(`{"v":1,"id":1}`), []byte(strings.Repeat("garbage", 100_000)),
	}
	subjects := []string{
		"p.a", "p.b.t.c.=", "p.b.t.=", "p.b.t", "p.b.t.c", "p.o.t.c.=", "p.o.t", "p.q.t.c.=", "p.q.x", "p.q.=", "p.q.t.c.d",
	}
	own := b.publishPrefix + strings.TrimSuffix(direct(b.id), ".")
	for _, rest := range []string{"t.c.=", "=", "t", "t.c", "x.t.c.=", b.id.String()} {
		subjects = append(subjects, own+"."+rest)
	}
	for _, subject := range subjects {
		for _, body := range bodies {
			for _, header := range []client.Header{nil, {"Status": {"503"}}, {"Other": {"x"}}} {
				must(t, nc.PublishMsg(&client.Msg{Subject: subject, Data: body, Header: header}))
			}
		}
	}
	must(t, nc.Flush())

	other, _ := startBroker(t, connect)
	await(t, "a message of another edge", func() bool {
		return other.Publish(message(wire.Broadcast, "friend")) == nil && q.taken() > 0
	})
	if bad := q.get().bad; len(bad) > 0 {
		t.Errorf("the hub received %q", bad)
	}
	for _, payload := range q.payloads() {
		if payload != "friend" {
			t.Fatalf("the hub received %.40q, which no edge sent", payload)
		}
	}
	await(t, "something to be counted as refused", func() bool { return q.get().rejected > 0 })
	if ids := b.peers.otherIDs(); len(ids) > 1 || len(ids) == 1 && ids[0] != other.id {
		t.Errorf("the other edges are %v", ids)
	}
}

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
	if edges() != 1 {
		t.Error("an unknown control message is taken for a no")
	}
	b.handleControl(m, kindNo, fakePeer)
	if edges() != 0 {
		t.Error("a no is not heard")
	}
	b.handleControl(m, kindYes, fakePeer)
	b.handleControl(m, kindYes, fakePeer)
	if edges() != 1 {
		t.Error("an edge that says yes twice is not there once")
	}
	b.peers.remove(fakePeer)
	b.handleControl(m, kindNo, fakePeer)
	b.handleControl(m, kindYes, fakePeer)
	if edges() != 0 {
		t.Error("the yes of an edge that is gone counts")
	}
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
