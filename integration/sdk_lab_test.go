package integration

import (
	"sync"
	"testing"

	"github.com/millrace/millrace/internal/natstest"
)

// sdkLab is what the tests of SDKs share below one test function.
type sdkLab struct {
	browsers map[string]*sdkBrowser // by where
	nats     []*natstest.Node       // one or none
	shared   *edge                  // for tests that do nothing to it
	hooked   func() hookedEdge      // likewise, an edge with hooks; starts it the first time
}

// hookedEdge is an edge with hooks, and the backend that it asks.
type hookedEdge struct {
	*edge
	backend *hookBackend
}

// startingHooked returns what gives an edge with hooks that ends with the test.
func startingHooked(t *testing.T, options ...option) func() hookedEdge {
	return sync.OnceValue(func() hookedEdge {
		e, backend := startHookedEdge(t, options...)
		return hookedEdge{e, backend}
	})
}

// joined returns the option of edges of a new overlay.
func (l *sdkLab) joined() option { return joining(l.nats, "")[0] }

// sdkStage is where a scenario plays: the edges that its clients know, and a
// tenant of its own.
type sdkStage struct {
	t      *testing.T
	lab    *sdkLab
	kind   sdkKind
	edges  []*edge
	room   string // without the namespace
	tenant string // with it

	backend *hookBackend // that the first edge asks; nil: it asks none

	router sdkRouter
	hosts  map[string]sdkHost
}

func (l *sdkLab) stage(t *testing.T, kind sdkKind, edges ...*edge) *sdkStage {
	s := &sdkStage{t: t, lab: l, kind: kind, room: "room-" + randomHex()[:8], hosts: map[string]sdkHost{}}
	s.tenant = "paint." + s.room
	for _, e := range edges {
		s.edges = append(s.edges, e.with(t))
	}
	return s
}

// host is where clients of a kind run. It knows the certificates of the stage's
// edges of now.
func (s *sdkStage) host(kind sdkKind) sdkHost {
	s.t.Helper()
	if s.hosts[kind.where] == nil {
		s.hosts[kind.where] = s.start(kind)
	}
	return s.hosts[kind.where]
}

// token is one for everything in the stage's tenant.
func (s *sdkStage) token() string {
	s.t.Helper()
	return s.edges[0].issue(allowAll(s.room)).Token
}

// addresses are those of the edges.
func (s *sdkStage) addresses(edges ...*edge) (list []string) {
	for _, e := range edges {
		list = append(list, e.httpsURL(""))
	}
	return list
}

// client is a new one of the stage's kind that is not connected.
func (s *sdkStage) client() *sdkClient {
	s.t.Helper()
	return s.clientOf(s.kind)
}

func (s *sdkStage) clientOf(kind sdkKind) *sdkClient {
	s.t.Helper()
	c := &sdkClient{
		t: s.t, name: "c" + randomHex()[:12], kind: kind, host: s.host(kind),
		answers: newMailbox(), events: newMailbox(), subs: map[string]*sdkSub{}, watches: map[string]*sdkWatch{},
	}
	s.router.add(c)
	return c
}

// connecting is the command that connects a client of a kind, with what the
// options leave open as it should be for it.
func (s *sdkStage) connecting(kind sdkKind, options sdkOptions, addresses ...string) sdkCommand {
	s.t.Helper()
	if options.Transports == nil {
		options.Transports = []string{kind.transport}
	}
	if options.Token == "" && !options.Provider {
		options.Token = s.token()
	}
	if kind.where == "chromium" { // which trusts no authority; Firefox does, by its policies
		for _, e := range s.edges {
			hash := leafHash(s.t, e.HTTPS)
			options.Hashes = append(options.Hashes, hash[:])
		}
	}
	if len(addresses) == 0 {
		addresses = s.addresses(s.edges...)
	}
	return sdkCommand{Cmd: "connect", Addresses: addresses, Options: &options}
}

// connect connects a new client of the stage's kind.
func (s *sdkStage) connect(options sdkOptions, addresses ...string) *sdkClient {
	s.t.Helper()
	c := s.client()
	c.must(s.connecting(s.kind, options, addresses...))
	return c
}
