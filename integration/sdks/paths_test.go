package sdks

import (
	"slices"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/sdk"
)

// What clients do when they hear nothing: docs/clients.md, "What happens to the connection".

// numbered connects a client of each kind, and publishes numbers at the stage's edge.
func (s *stage) numbered(options sdk.Options, addresses ...string) (members []*member, sent, halt func() int) {
	s.T.Helper()
	members = s.meet(options, addresses...)
	sent, halt = s.publish(s.Edges[0], "n")
	for _, m := range members {
		m.reach(20)
	}
	return members, sent, halt
}

// suspects requires that the client suspects its edge, at this address.
func (m *member) suspects(address string) {
	m.T.Helper()
	if e := m.Event("suspect"); e.Edge != address || e.Transport != m.Kind.Transport {
		m.T.Errorf("%s: got %v, want %s by %s", m.Kind, e, address, m.Kind.Transport)
	}
}

// takesOver requires that the client goes on by another connection.
func (m *member) takesOver(address, transport string) {
	m.T.Helper()
	if e := m.Event("recovered"); e.Edge != address || e.Transport != transport || e.Away <= 0 {
		m.T.Errorf("%s: got %v, want %s by %s, and how long it took", m.Kind, e, address, transport)
	}
}

// stayed requires that the client has never been without a connection.
func (m *member) stayed() {
	m.T.Helper()
	m.Never("disconnected", "reconnecting", "closed")
}

// inChromium says that the client is held to less: Chromium ends a WebTransport connection 5 s
// after anything that it sent has no acknowledgement, and with it what the edge would send again.
func inChromium(k sdk.Kind) bool { return k == sdk.Kind{Where: "chromium", Transport: "webtransport"} }

// A path goes silent, and there is another one: clients take it, and what they publish
// meanwhile waits. When the first is back it brings what they have missed.
func pathDies(s *stage) {
	first, second := harness.NewBadPath(s.T, s.Edges[0]), harness.NewBadPath(s.T, s.Edges[0])
	second.Refuse()
	members, sent, halt := s.numbered(impatient, first.Url(), second.Url())
	second.Heal()
	listener, heard := s.listener(s.Edges[0], "of")
	first.Swallow()
	var published []int
	for _, m := range members {
		m.suspects(first.Url())
		published = append(published, m.Tell(sdk.Command{Cmd: "publish", Tenant: s.Tenant, Channel: "of", Payload: []byte(m.Name)}))
	}
	for i, m := range members {
		m.takesOver(second.Url(), m.Kind.Transport)
		m.reach(sent())
		if r := m.Answer(published[i], "publish"); r.Error != nil {
			s.T.Errorf("%s: a publish meanwhile: %v", m.Kind, r.Error)
		}
	}
	first.Heal()
	end := halt()
	var want, got []string
	for _, m := range members {
		if m.wantOnce(); !inChromium(m.Kind) {
			m.wantAll(end)
		}
		m.stayed()
		m.Never("moving")
		want, got = append(want, m.Name), append(got, string(heard.Next().Payload))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		s.T.Errorf("what the clients published came as %q, want %q", got, want)
	}
	listener.Flush()
	heard.WantNone()
}

// UDP goes away alone: clients go on by WebSocket at the same edge. When it is back, the old
// connection brings what they have missed, and they return.
func udpDies(s *stage) {
	path := harness.NewBadPath(s.T, s.Edges[0])
	options := impatient
	options.Transports = bothTransports
	members, sent, _ := s.numbered(options, path.Url())
	path.SwallowUDP()
	for _, m := range members {
		m.suspects(path.Url())
		m.takesOver(path.Url(), "websocket")
		m.reach(sent())
	}
	path.Heal()
	for _, m := range members {
		if !inChromium(m.Kind) {
			m.wantAll(sent())
		}
		if m.Kind.InBrowser() { // others look at the machine's addresses, as TestWayBack of the Go SDK
			m.Must(sdk.Command{Cmd: "online"})
			for event, transport := range map[string]string{"moving": "websocket", "moved": "webtransport"} {
				if e := m.Event(event); e.Reason != "transport" || e.Edge != path.Url() || e.Transport != transport {
					s.T.Errorf("%s: got %v, want the reason transport, and %s", m.Kind, e, transport)
				}
			}
		}
		m.reach(sent())
		m.stayed()
	}
}
