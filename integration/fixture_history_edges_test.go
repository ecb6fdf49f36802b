package integration

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/wire"
)

// The tenants of what follows; messages of the second one show that an edge stores.
const (
	keptTenant  = "paint.a"
	beginTenant = "paint.b"
)

// sharedHistory is the Caddyfile of an edge that shares the history chat, with three
// replicas; options are of the history.
func sharedHistory(options ...string) string {
	return historyCaddyfile("nats {\n\t\t\treplicas 3\n\t\t}", options...)
}

// startHistories starts three edges on three NATS servers with the history chat, and
// returns when each can store.
func startHistories(t *testing.T, options ...string) *overlay {
	t.Helper()
	o := startOverlay(t, sharedHistory(options...), "")
	o.token = o.edges[0].issue(allowHistory("a", "b")).Token
	for at := range o.edges {
		o.awaitHistory(at)
	}
	return o
}

// awaitHistory returns when an edge stores.
func (o *overlay) awaitHistory(at int) {
	o.t.Helper()
	o.edges[at].poll("a message to be stored", func() bool {
		s, _, err := o.edges[at].tryOpen(handshake{Token: o.token})
		if err != nil || s == nil {
			return false
		}
		defer func() { _ = s.cut() }()
		if s.write(asFrame, confirmed(1, beginTenant, "chat.begin", randomHex())) != nil {
			return false
		}
		_, message, err := s.read()
		return err == nil && strings.HasPrefix(string(message), "OK:PUB:1:")
	})
}

// confirmed is a publish that is to be answered.
func confirmed(id uint32, tenant, channel, payload string) []byte {
	return wire.AppendPublish(nil, wire.Publish{
		Confirm: true, ID: id, Tenant: []byte(tenant), Channel: []byte(channel), Payload: []byte(payload),
	})
}

// store publishes messages to a channel, and returns the position of each.
func (s *socket) store(channel string, payloads ...string) (list []wire.Position) {
	s.t.Helper()
	for i, payload := range payloads {
		s.sendFrame(confirmed(uint32(i), keptTenant, channel, payload))
		line := s.nextLine()
		if line.Kind != wire.KindOKPub || line.ID != uint32(i) || line.Position == (wire.Position{}) {
			s.t.Fatalf("%s=%s: got %+v", channel, payload, line)
		}
		list = append(list, line.Position)
	}
	return list
}

// nextLine reads a line.
func (s *socket) nextLine() wire.ServerLine {
	s.t.Helper()
	kind, message, err := s.read()
	s.must(err)
	if kind != asText {
		s.t.Fatalf("got a frame, %x, where a line belongs", message)
	}
	line, err := wire.ParseServerLine(message)
	if err != nil {
		s.t.Fatalf("%q: %v", message, err)
	}
	return line
}

// text is a message as tests compare it: without its position.
func text(d wire.Deliver) string { return fmt.Sprintf("%s=%s", d.Channel, d.Payload) }

// resumed is what an RSUB has brought until it had caught up.
type resumed struct {
	messages  []string
	positions []wire.Position
	at        wire.Position
	complete  bool
}

// resume sends an RSUB, and reads until it has caught up.
func (s *socket) resume(pattern, from string) (r resumed) {
	s.t.Helper()
	s.sendLine("RSUB:" + keptTenant + ":" + pattern + ":" + from)
	gap := false
	for {
		kind, message, err := s.read()
		s.must(err)
		if kind == asFrame {
			d, err := wire.DecodeDeliver(message)
			s.must(err)
			r.messages, r.positions = append(r.messages, text(d)), append(r.positions, d.Position)
			continue
		}
		line, err := wire.ParseServerLine(message)
		s.must(err)
		switch line.Kind {
		case wire.KindGap:
			gap = true
		case wire.KindOKRsub:
			r.at, r.complete = line.Position, line.Complete
			if gap == r.complete {
				s.t.Fatalf("%s says complete, %v, and a gap was told, %v", message, r.complete, gap)
			}
			return r
		default:
			s.t.Fatalf("got %q after RSUB", message)
		}
	}
}

// gets requires that these messages come next, at these positions.
func (s *socket) gets(positions []wire.Position, messages ...string) {
	s.t.Helper()
	for i, want := range messages {
		kind, message, err := s.read()
		s.must(err)
		if kind != asFrame {
			s.t.Fatalf("got the line %q, want %s", message, want)
		}
		d, err := wire.DecodeDeliver(message)
		s.must(err)
		if text(d) != want || d.Position != positions[i] {
			s.t.Fatalf("got %s at %v, want %s at %v", text(d), d.Position, want, positions[i])
		}
	}
}

// has requires what an RSUB has brought.
func (r resumed) has(t *testing.T, complete bool, messages ...string) {
	t.Helper()
	if r.complete != complete || !slices.Equal(r.messages, messages) {
		t.Fatalf("got %q, complete: %v; want %q, complete: %v", r.messages, r.complete, messages, complete)
	}
}

// killAndStart kills an edge, calls meanwhile, and starts it again on its data.
func (o *overlay) killAndStart(at int, caddyfile string, meanwhile func(), options ...option) {
	o.t.Helper()
	gone := o.edges[at]
	gone.kill()
	meanwhile()
	o.edges[at] = startEdge(o.t, caddyfile, append([]option{inDir(gone.Dir), replacing(gone)}, options...)...)
}

// awaitAll returns when all NATS servers answer again.
func (o *overlay) awaitAll(nodes ...*natstest.Node) {
	o.t.Helper()
	for _, node := range nodes {
		node.Await(o.t)
	}
}

// hasWarned reports whether an edge has logged a warning with all of these words.
func (e *edge) hasWarned(words ...string) bool {
	for _, line := range warning.FindAllString(e.output(), -1) {
		if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(line, word) }) {
			return true
		}
	}
	return false
}

var warning = regexp.MustCompile(`(?m)^.*"level":"warn".*$`)
