package history

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/wire"
)

// The tenants of what follows; messages of the second one show that an edge stores.
const (
	KeptTenant  = "paint.a"
	BeginTenant = "paint.b"
)

// SharedHistory is the Caddyfile of an edge that shares the history chat, with three
// replicas; options are of the history.
func SharedHistory(options ...string) string {
	return Caddyfile("nats {\n\t\t\treplicas 3\n\t\t}", options...)
}

// StartHistories starts three edges on three NATS servers with the history chat, and
// returns when each can store.
func StartHistories(t *testing.T, options ...string) *harness.Overlay {
	t.Helper()
	o := StartOverlay(t, SharedHistory(options...), "")
	o.Token = o.Edges[0].Issue(AllowHistory("a", "b")).Token
	for at := range o.Edges {
		AwaitHistory(o, at)
	}
	return o
}

// AwaitHistory returns when an edge stores.
func AwaitHistory(o *harness.Overlay, at int) {
	o.T.Helper()
	o.Edges[at].Poll("a message to be stored", func() bool {
		s, _, err := o.Edges[at].TryOpen(harness.Handshake{Token: o.Token})
		if err != nil || s == nil {
			return false
		}
		defer func() { _ = s.Cut() }()
		if s.Write(harness.AsFrame, Confirmed(1, BeginTenant, "chat.begin", harness.RandomHex())) != nil {
			return false
		}
		_, message, err := s.Read()
		return err == nil && strings.HasPrefix(string(message), "OK:PUB:1:")
	})
}

// Confirmed is a publish that is to be answered.
func Confirmed(id uint32, tenant, channel, payload string) []byte {
	return wire.AppendPublish(nil, wire.Publish{
		Confirm: true, ID: id, Tenant: []byte(tenant), Channel: []byte(channel), Payload: []byte(payload),
	})
}

// Store publishes messages to a channel, and returns the position of each.
func Store(s *harness.Socket, channel string, payloads ...string) (list []wire.Position) {
	s.T.Helper()
	for i, payload := range payloads {
		s.SendFrame(Confirmed(uint32(i), KeptTenant, channel, payload))
		line := NextLine(s)
		if line.Kind != wire.KindOKPub || line.ID != uint32(i) || line.Position == (wire.Position{}) {
			s.T.Fatalf("%s=%s: got %+v", channel, payload, line)
		}
		list = append(list, line.Position)
	}
	return list
}

// NextLine reads a line.
func NextLine(s *harness.Socket) wire.ServerLine {
	s.T.Helper()
	kind, message, err := s.Read()
	s.Must(err)
	if kind != harness.AsText {
		s.T.Fatalf("got a frame, %x, where a line belongs", message)
	}
	line, err := wire.ParseServerLine(message)
	if err != nil {
		s.T.Fatalf("%q: %v", message, err)
	}
	return line
}

// Text is a message as tests compare it: without its position.
func Text(d wire.Deliver) string { return fmt.Sprintf("%s=%s", d.Channel, d.Payload) }

// resumed is what an RSUB has brought until it had caught up.
type resumed struct {
	Messages  []string
	Positions []wire.Position
	at        wire.Position
	complete  bool
}

// Resume sends an RSUB, and reads until it has caught up.
func Resume(s *harness.Socket, pattern, from string) (r resumed) {
	s.T.Helper()
	s.SendLine("RSUB:" + KeptTenant + ":" + pattern + ":" + from)
	gap := false
	for {
		kind, message, err := s.Read()
		s.Must(err)
		if kind == harness.AsFrame {
			d, err := wire.DecodeDeliver(message)
			s.Must(err)
			r.Messages, r.Positions = append(r.Messages, Text(d)), append(r.Positions, d.Position)
			continue
		}
		line, err := wire.ParseServerLine(message)
		s.Must(err)
		switch line.Kind {
		case wire.KindGap:
			gap = true
		case wire.KindOKRsub:
			r.at, r.complete = line.Position, line.Complete
			if gap == r.complete {
				s.T.Fatalf("%s says complete, %v, and a gap was told, %v", message, r.complete, gap)
			}
			return r
		default:
			s.T.Fatalf("got %q after RSUB", message)
		}
	}
}

// Gets requires that these messages come next, at these positions.
func Gets(s *harness.Socket, positions []wire.Position, messages ...string) {
	s.T.Helper()
	for i, want := range messages {
		kind, message, err := s.Read()
		s.Must(err)
		if kind != harness.AsFrame {
			s.T.Fatalf("got the line %q, want %s", message, want)
		}
		d, err := wire.DecodeDeliver(message)
		s.Must(err)
		if Text(d) != want || d.Position != positions[i] {
			s.T.Fatalf("got %s at %v, want %s at %v", Text(d), d.Position, want, positions[i])
		}
	}
}

// Has requires what an RSUB has brought.
func (r resumed) Has(t *testing.T, complete bool, messages ...string) {
	t.Helper()
	if r.complete != complete || !slices.Equal(r.Messages, messages) {
		t.Fatalf("got %q, complete: %v; want %q, complete: %v", r.Messages, r.complete, messages, complete)
	}
}

// HasWarned reports whether an edge has logged a warning with all of these words.
func HasWarned(e *harness.Edge, words ...string) bool {
	for _, line := range warning.FindAllString(e.Output(), -1) {
		if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(line, word) }) {
			return true
		}
	}
	return false
}

var warning = regexp.MustCompile(`(?m)^.*"level":"warn".*$`)
