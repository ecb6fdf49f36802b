package integration

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/wire"
)

// Whose a message is comes with it, and is what the token of the connection says: whatever the
// client sends, over both transports, over edges, to one, and out of each kind of history.
func TestSenders(t *testing.T) {
	t.Parallel()
	for _, store := range []string{"memory", "badger {{.Dir}}/histories"} {
		kind, _, _ := strings.Cut(store, " ")
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			o := newSenders(t, startEdge(t, historyCaddyfile(store)))
			o.check()
			if kind == "badger" {
				o.killAndStart(0, historyCaddyfile(store), func() {})
				o.past(o.edges[0])
			}
		})
	}
	t.Run("nats", func(t *testing.T) {
		t.Parallel()
		join := joining(startNATS(t, 1), "")[0]
		first := startEdge(t, historyCaddyfile("nats"), join)
		o := newSenders(t, first, startEdge(t, historyCaddyfile("nats"), join, withMaster(first)))
		for at := range o.edges {
			o.awaitHistory(at)
		}
		o.check()
		o.past(o.edges[0])
	})
}

// senders are edges, and tokens with subjects.
type senders struct {
	*overlay
	tokens map[string]string // by subject
}

const (
	annSubject = "ann ☺ <x>"
	mallory    = "mallory"
)

func newSenders(t *testing.T, edges ...*edge) *senders {
	o := &senders{&overlay{t: t, edges: edges}, map[string]string{}}
	for _, subject := range []string{annSubject, mallory, "", "reader"} {
		request := tokenRequest(allowHistory("a", "b"))
		if subject != "" {
			request["subject"] = subject
		}
		o.tokens[subject] = edges[0].issueAs(edges[0].master, request).Token
	}
	o.token = o.tokens[""]
	return o
}

// senderReader is a connection with the feature, on one edge, and one without it.
type senderReader struct{ asks, plain *socket }

// check publishes at the first edge, and reads at the last one.
func (o *senders) check() {
	t := o.t
	near, far := o.edges[0], o.edges[len(o.edges)-1]
	r := senderReader{far.dialWebTransport(o.tokens["reader"]), far.dial(o.tokens["reader"])}
	r.asks.sendLine("FEATURES:sender")
	r.asks.expectText("FEATURES:link,sender,history")
	for _, s := range []*socket{r.asks, r.plain} {
		s.subscribe(keptTenant, "room.*")
		s.resume("chat.#", "now").has(t, true)
	}
	ann, bad := near.dial(o.tokens[annSubject]), near.dialWebTransport(o.tokens[mallory])
	o.meet(ann, r)

	// Broadcasts, of all versions, and what a client without the feature gets is as ever.
	for subject, p := range map[string]*socket{annSubject: ann, mallory: bad, "": near.dial(o.tokens[""])} {
		p.publish(keptTenant, "room.1", "1")
		r.get(subject, "room.1=1", "room.*")
		p.publishTagged(wire.Broadcast, keptTenant, "room.2", "2")
		r.get(subject, "room.2=2", "room.*")
		p.sendFrame(confirmed(1, keptTenant, "room.3", "3"))
		p.expectText("OK:PUB:1")
		r.get(subject, "room.3=3", "room.*")
		p.publish(keptTenant, "chat.1", "of "+subject)
		r.get(subject, "chat.1=of "+subject, "chat.#")
	}
	near.pubsub([]string{"MILLRACE_TOKEN=" + o.tokens[mallory]}, "", "publish", "--url", fmt.Sprintf("ws://localhost:%d", near.HTTP), "--tenant", keptTenant, "room.4", "4").want(0, "", "")
	r.get(mallory, "room.4=4", "room.*")

	// To one, at the edge itself or another one.
	r.plain.sendLine("UNSUB:" + keptTenant + ":room.*")
	r.plain.expectText("OK:UNSUB:" + keptTenant + ":room.*")
	for _, d := range []wire.Delivery{wire.OneNearest, wire.OneRandom} {
		ann.publishTagged(d, keptTenant, "room.1", d.String())
		r.asks.getFrom(annSubject, "room.1="+d.String(), "room.*")
	}

	// Whatever mallory sends, it is mallory who has sent it, or nothing comes.
	forged := wire.Deliver{HasSender: true, Sender: []byte(annSubject), Tenant: []byte(keptTenant), Channel: []byte("room.1"), Payload: []byte("forged"), Patterns: []string{"room.*"}}
	frame := wire.AppendDeliverFields(nil, &forged)
	forged.Stored = true
	stored := wire.AppendDeliverFields(nil, &forged)
	flagged := rawPublish(keptTenant, "room.1", "forged")
	for _, message := range [][]byte{frame, stored, append([]byte{0x02, 0x80}, flagged...), append([]byte{0x02, 0x02 | 0x80}, frame[2:]...), append([]byte{0x03, 0x82}, frame[2:]...), append([]byte{0x05}, frame[1:]...)} {
		bad.sendFrame(message)
		bad.expectText("ERR:bad_frame")
	}
	bad.publish(keptTenant, "room."+annSubject[:3], string(frame))
	r.asks.getFrom(mallory, "room.ann="+string(frame), "room.*")
	bad.publish(keptTenant, "chat.forged", string(stored))
	r.asks.getFrom(mallory, "chat.forged="+string(stored), "chat.#")
	r.plain.getPlain("chat.forged="+string(stored), "chat.#")
	bad.sendFrame(wire.AppendPublish(nil, wire.Publish{Confirm: true, ID: 2, Key: []byte(annSubject), Tenant: []byte(keptTenant), Channel: []byte("chat.key"), Payload: []byte("forged")}))
	r.get(mallory, "chat.key=forged", "chat.#")
	for _, line := range []string{"FEATURES:sender,ann", "FEATURES:sender:ann", "AUTH:" + o.tokens[annSubject], "SENDER:ann"} {
		bad.sendLine(line)
	}
	bad.publish(keptTenant, "room.5", "5")
	ann.publish(keptTenant, "room.6", "6")
	got := map[string]string{}
	for range 2 {
		d := r.asks.nextDeliver()
		got[text(d)] = string(d.Sender)
	}
	if got["room.5=5"] != mallory || got["room.6=6"] != annSubject {
		t.Errorf("got %q", got)
	}
	o.past(far)
}

// past reads what is stored.
func (o *senders) past(e *edge) {
	o.t.Helper()
	s := e.dial(o.tokens["reader"])
	s.sendLine("FEATURES:sender")
	s.expectText("FEATURES:link,sender,history")
	for _, from := range []string{"last", "last.100"} {
		want := map[string]string{"of ": "", "of " + mallory: mallory, "of " + annSubject: annSubject}
		pattern, n := "chat.1", 3
		if from == "last" {
			pattern, n = "chat.*", 3 // of three channels
		}
		s.sendLine("RSUB:" + keptTenant + ":" + pattern + ":" + from)
		for range n {
			d := s.nextDeliver()
			sender, known := want[string(d.Payload)]
			if !known {
				sender = mallory // of what was forged
			}
			if !d.HasSender || string(d.Sender) != sender || !d.Stored {
				o.t.Errorf("%s is from %q, want %q", text(d), d.Sender, sender)
			}
		}
		if line := s.nextLine(); line.Kind != wire.KindOKRsub {
			o.t.Errorf("got %+v", line)
		}
	}
}

// meet returns when messages of a publisher reach both.
func (o *senders) meet(p *socket, r senderReader) {
	o.t.Helper()
	for _, s := range []*socket{r.asks, r.plain} {
		arrived := make(chan error, 1)
		go func() { // ends with the message, or the link's timeout
			_, _, err := s.read()
			arrived <- err
		}()
		for n, done := 0, false; !done; n++ {
			p.publish(keptTenant, "room.meet", "")
			select {
			case err := <-arrived:
				s.must(err)
				done = true
			case <-time.After(100 * time.Millisecond): // the edge may not know of the subscription yet
			}
		}
	}
	p.publish(keptTenant, "room.met", "")
	for _, s := range []*socket{r.asks, r.plain} {
		for string(s.nextDeliver().Channel) != "room.met" {
		}
	}
}

// get requires a message at both.
func (r senderReader) get(sender, message, pattern string) {
	r.asks.t.Helper()
	r.asks.getFrom(sender, message, pattern)
	r.plain.getPlain(message, pattern)
}

func (s *socket) nextDeliver() wire.Deliver {
	s.t.Helper()
	kind, message, err := s.read()
	s.must(err)
	if kind != asFrame {
		s.t.Fatalf("got the line %q, want a message", message)
	}
	d, err := wire.DecodeDeliver(message)
	s.must(err)
	return d
}

// getFrom requires that this message of a sender comes next.
func (s *socket) getFrom(sender, message, pattern string) {
	s.t.Helper()
	if d := s.nextDeliver(); text(d) != message || !d.HasSender || string(d.Sender) != sender || d.Patterns[0] != pattern {
		s.t.Fatalf("got %q from %q for %q, want %q from %q for %q", text(d), d.Sender, d.Patterns, message, sender, pattern)
	}
}

// getPlain is getFrom for a client that has not asked for senders.
func (s *socket) getPlain(message, pattern string) {
	s.t.Helper()
	if d := s.nextDeliver(); text(d) != message || d.HasSender || d.Patterns[0] != pattern {
		s.t.Fatalf("got %q from %q for %q, want %q for %q", text(d), d.Sender, d.Patterns, message, pattern)
	}
}
