package sessions

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/history"
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
			o := newSenders(t, harness.StartEdge(t, history.Caddyfile(store)))
			o.Check()
			if kind == "badger" {
				o.KillAndStart(0, history.Caddyfile(store), func() {})
				o.past(o.Edges[0])
			}
		})
	}
	t.Run("nats", func(t *testing.T) {
		t.Parallel()
		join := harness.Joining(harness.StartNATS(t, 1), "")[0]
		first := harness.StartEdge(t, history.Caddyfile("nats"), join)
		o := newSenders(t, first, harness.StartEdge(t, history.Caddyfile("nats"), join, harness.WithMaster(first)))
		for at := range o.Edges {
			history.AwaitHistory(o.Overlay, at)
		}
		o.Check()
		o.past(o.Edges[0])
	})
}

// senders are edges, and tokens with subjects.
type senders struct {
	*harness.Overlay
	tokens map[string]string // by subject
}

func newSenders(t *testing.T, edges ...*harness.Edge) *senders {
	o := &senders{&harness.Overlay{T: t, Edges: edges}, map[string]string{}}
	for _, subject := range []string{harness.AnnSubject, harness.Mallory, "", "reader"} {
		request := harness.TokenRequest(history.AllowHistory("a", "b"))
		if subject != "" {
			request["subject"] = subject
		}
		o.tokens[subject] = edges[0].IssueAs(edges[0].Master, request).Token
	}
	o.Token = o.tokens[""]
	return o
}

// senderReader is a connection with the feature, on one edge, and one without it.
type senderReader struct{ asks, plain *harness.Socket }

// Check publishes at the first edge, and reads at the last one.
func (o *senders) Check() {
	t := o.T
	near, far := o.Edges[0], o.Edges[len(o.Edges)-1]
	r := senderReader{far.DialWebTransport(o.tokens["reader"]), far.Dial(o.tokens["reader"])}
	r.asks.SendLine("FEATURES:sender")
	r.asks.ExpectText("FEATURES:link,sender,history")
	for _, s := range []*harness.Socket{r.asks, r.plain} {
		s.Subscribe(history.KeptTenant, "room.*")
		history.Resume(s, "chat.#", "now").Has(t, true)
	}
	ann, bad := near.Dial(o.tokens[harness.AnnSubject]), near.DialWebTransport(o.tokens[harness.Mallory])
	o.meet(ann, r)

	// Broadcasts, of all versions, and what a client without the feature gets is as ever.
	for subject, p := range map[string]*harness.Socket{harness.AnnSubject: ann, harness.Mallory: bad, "": near.Dial(o.tokens[""])} {
		p.Publish(history.KeptTenant, "room.1", "1")
		r.Get(subject, "room.1=1", "room.*")
		p.PublishTagged(wire.Broadcast, history.KeptTenant, "room.2", "2")
		r.Get(subject, "room.2=2", "room.*")
		p.SendFrame(history.Confirmed(1, history.KeptTenant, "room.3", "3"))
		p.ExpectText("OK:PUB:1")
		r.Get(subject, "room.3=3", "room.*")
		p.Publish(history.KeptTenant, "chat.1", "of "+subject)
		r.Get(subject, "chat.1=of "+subject, "chat.#")
	}
	near.Pubsub([]string{"MILLRACE_TOKEN=" + o.tokens[harness.Mallory]}, "", "publish", "--url", fmt.Sprintf("ws://localhost:%d", near.HTTP), "--tenant", history.KeptTenant, "room.4", "4").Want(0, "", "")
	r.Get(harness.Mallory, "room.4=4", "room.*")

	// To one, at the edge itself or another one.
	r.plain.SendLine("UNSUB:" + history.KeptTenant + ":room.*")
	r.plain.ExpectText("OK:UNSUB:" + history.KeptTenant + ":room.*")
	for _, d := range []wire.Delivery{wire.OneNearest, wire.OneRandom} {
		ann.PublishTagged(d, history.KeptTenant, "room.1", d.String())
		getFrom(r.asks, harness.AnnSubject, "room.1="+d.String(), "room.*")
	}

	// Whatever mallory sends, it is mallory who has sent it, or nothing comes.
	forged := wire.Deliver{HasSender: true, Sender: []byte(harness.AnnSubject), Tenant: []byte(history.KeptTenant), Channel: []byte("room.1"), Payload: []byte("forged"), Patterns: []string{"room.*"}}
	frame := wire.AppendDeliverFields(nil, &forged)
	forged.Stored = true
	stored := wire.AppendDeliverFields(nil, &forged)
	flagged := harness.RawPublish(history.KeptTenant, "room.1", "forged")
	for _, message := range [][]byte{frame, stored, append([]byte{0x02, 0x80}, flagged...), append([]byte{0x02, 0x02 | 0x80}, frame[2:]...), append([]byte{0x03, 0x82}, frame[2:]...), append([]byte{0x05}, frame[1:]...)} {
		bad.SendFrame(message)
		bad.ExpectText("ERR:bad_frame")
	}
	bad.Publish(history.KeptTenant, "room."+harness.AnnSubject[:3], string(frame))
	getFrom(r.asks, harness.Mallory, "room.ann="+string(frame), "room.*")
	bad.Publish(history.KeptTenant, "chat.forged", string(stored))
	getFrom(r.asks, harness.Mallory, "chat.forged="+string(stored), "chat.#")
	getPlain(r.plain, "chat.forged="+string(stored), "chat.#")
	bad.SendFrame(wire.AppendPublish(nil, wire.Publish{Confirm: true, ID: 2, Key: []byte(harness.AnnSubject), Tenant: []byte(history.KeptTenant), Channel: []byte("chat.key"), Payload: []byte("forged")}))
	r.Get(harness.Mallory, "chat.key=forged", "chat.#")
	for _, line := range []string{"FEATURES:sender,ann", "FEATURES:sender:ann", "AUTH:" + o.tokens[harness.AnnSubject], "SENDER:ann"} {
		bad.SendLine(line)
	}
	bad.Publish(history.KeptTenant, "room.5", "5")
	ann.Publish(history.KeptTenant, "room.6", "6")
	got := map[string]string{}
	for range 2 {
		d := nextDeliver(r.asks)
		got[history.Text(d)] = string(d.Sender)
	}
	if got["room.5=5"] != harness.Mallory || got["room.6=6"] != harness.AnnSubject {
		t.Errorf("got %q", got)
	}
	o.past(far)
}

// past reads what is stored.
func (o *senders) past(e *harness.Edge) {
	o.T.Helper()
	s := e.Dial(o.tokens["reader"])
	s.SendLine("FEATURES:sender")
	s.ExpectText("FEATURES:link,sender,history")
	for _, from := range []string{"last", "last.100"} {
		want := map[string]string{"of ": "", "of " + harness.Mallory: harness.Mallory, "of " + harness.AnnSubject: harness.AnnSubject}
		pattern, n := "chat.1", 3
		if from == "last" {
			pattern, n = "chat.*", 3 // of three channels
		}
		s.SendLine("RSUB:" + history.KeptTenant + ":" + pattern + ":" + from)
		for range n {
			d := nextDeliver(s)
			sender, known := want[string(d.Payload)]
			if !known {
				sender = harness.Mallory // of what was forged
			}
			if !d.HasSender || string(d.Sender) != sender || !d.Stored {
				o.T.Errorf("%s is from %q, want %q", history.Text(d), d.Sender, sender)
			}
		}
		if line := history.NextLine(s); line.Kind != wire.KindOKRsub {
			o.T.Errorf("got %+v", line)
		}
	}
}

// meet returns when messages of a publisher reach both.
func (o *senders) meet(p *harness.Socket, r senderReader) {
	o.T.Helper()
	for _, s := range []*harness.Socket{r.asks, r.plain} {
		arrived := make(chan error, 1)
		go func() { // ends with the message, or the link's timeout
			_, _, err := s.Read()
			arrived <- err
		}()
		for n, done := 0, false; !done; n++ {
			p.Publish(history.KeptTenant, "room.meet", "")
			select {
			case err := <-arrived:
				s.Must(err)
				done = true
			case <-time.After(100 * time.Millisecond): // the edge may not know of the subscription yet
			}
		}
	}
	p.Publish(history.KeptTenant, "room.met", "")
	for _, s := range []*harness.Socket{r.asks, r.plain} {
		for string(nextDeliver(s).Channel) != "room.met" {
		}
	}
}

// Get requires a message at both.
func (r senderReader) Get(sender, message, pattern string) {
	r.asks.T.Helper()
	getFrom(r.asks, sender, message, pattern)
	getPlain(r.plain, message, pattern)
}

func nextDeliver(s *harness.Socket) wire.Deliver {
	s.T.Helper()
	kind, message, err := s.Read()
	s.Must(err)
	if kind != harness.AsFrame {
		s.T.Fatalf("got the line %q, want a message", message)
	}
	d, err := wire.DecodeDeliver(message)
	s.Must(err)
	return d
}

// getFrom requires that this message of a sender comes next.
func getFrom(s *harness.Socket, sender, message, pattern string) {
	s.T.Helper()
	if d := nextDeliver(s); history.Text(d) != message || !d.HasSender || string(d.Sender) != sender || d.Patterns[0] != pattern {
		s.T.Fatalf("got %q from %q for %q, want %q from %q for %q", history.Text(d), d.Sender, d.Patterns, message, sender, pattern)
	}
}

// getPlain is getFrom for a client that has not asked for senders.
func getPlain(s *harness.Socket, message, pattern string) {
	s.T.Helper()
	if d := nextDeliver(s); history.Text(d) != message || d.HasSender || d.Patterns[0] != pattern {
		s.T.Fatalf("got %q from %q for %q, want %q for %q", history.Text(d), d.Sender, d.Patterns, message, pattern)
	}
}
