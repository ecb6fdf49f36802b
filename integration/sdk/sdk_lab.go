package sdk

import (
	"sync"
	"testing"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/internal/natstest"
)

// Lab is what the tests of SDKs share below one test function.
type Lab struct {
	Browsers map[string]*Browser // by where
	Nats     []*natstest.Node    // one or none
	Shared   *harness.Edge       // for tests that do nothing to it
	Hooked   func() hookedEdge   // likewise, an edge with hooks; starts it the first time
	Drivers  *Drivers            // at the shared edge
}

// hookedEdge is an edge with hooks, and the backend that it asks.
type hookedEdge struct {
	*harness.Edge
	Backend *harness.HookBackend
}

// StartingHooked returns what gives an edge with hooks that ends with the test.
func StartingHooked(t *testing.T, options ...harness.Option) func() hookedEdge {
	return sync.OnceValue(func() hookedEdge {
		e, backend := harness.StartHookedEdge(t, options...)
		return hookedEdge{e, backend}
	})
}

// Joined returns the option of edges of a new overlay.
func (l *Lab) Joined() harness.Option { return harness.Joining(l.Nats, "")[0] }

// Stage is where a scenario plays: the edges that its clients know, and a
// tenant of its own.
type Stage struct {
	T      *testing.T
	lab    *Lab
	Kind   Kind
	Edges  []*harness.Edge
	Room   string // without the namespace
	Tenant string // with it

	Backend *harness.HookBackend // that the first edge asks; nil: it asks none

	router  *Router
	hosts   map[string]sdkHost
	drivers *Drivers // that it shares; nil: it has its own
}

func (l *Lab) Stage(t *testing.T, kind Kind, edges ...*harness.Edge) *Stage {
	s := &Stage{T: t, lab: l, Kind: kind, Room: "room-" + harness.RandomHex()[:8], router: &Router{}, hosts: map[string]sdkHost{}}
	s.Tenant = "paint." + s.Room
	for _, e := range edges {
		s.Edges = append(s.Edges, e.With(t))
	}
	return s
}

// Share has the clients of the stage run beside those of others, which cost a process less.
func (s *Stage) Share(drivers *Drivers) {
	s.drivers, s.router = drivers, &drivers.router
}

// Host is where clients of a kind run. It knows the certificates of the stage's
// edges of now.
func (s *Stage) Host(kind Kind) sdkHost {
	s.T.Helper()
	if s.hosts[kind.Where] == nil {
		s.hosts[kind.Where] = s.Start(kind)
	}
	return s.hosts[kind.Where]
}

// Token is one for everything in the stage's tenant.
func (s *Stage) Token() string {
	s.T.Helper()
	return s.Edges[0].Issue(harness.AllowAll(s.Room)).Token
}

// Addresses are those of the edges.
func (s *Stage) Addresses(edges ...*harness.Edge) (list []string) {
	for _, e := range edges {
		list = append(list, e.HttpsURL(""))
	}
	return list
}

// Client is a new one of the stage's kind that is not connected.
func (s *Stage) Client() *Client {
	s.T.Helper()
	return s.ClientOf(s.Kind)
}

func (s *Stage) ClientOf(kind Kind) *Client {
	s.T.Helper()
	c := &Client{
		T: s.T, Name: "c" + harness.RandomHex()[:12], Kind: kind, Host: s.Host(kind),
		Answers: NewMailbox(), Events: NewMailbox(), subs: map[string]*Sub{}, Watches: map[string]*Watch{},
	}
	s.router.Add(c)
	if s.drivers != nil {
		s.T.Cleanup(func() { // the driver goes on
			_ = c.Host.Send(Command{ID: int(c.Ids.Add(1)), Client: c.Name, Cmd: "close"})
		})
	}
	return c
}

// Connecting is the command that connects a client of a kind, with what the
// options leave open as it should be for it.
func (s *Stage) Connecting(kind Kind, options Options, addresses ...string) Command {
	s.T.Helper()
	if options.Transports == nil {
		options.Transports = []string{kind.Transport}
	}
	if options.Token == "" && !options.Provider {
		options.Token = s.Token()
	}
	if kind.Where == "chromium" { // which trusts no authority; Firefox does, by its policies
		for _, e := range s.Edges {
			hash := harness.LeafHash(s.T, e.HTTPS)
			options.Hashes = append(options.Hashes, hash[:])
		}
	}
	if len(addresses) == 0 {
		addresses = s.Addresses(s.Edges...)
	}
	return Command{Cmd: "connect", Addresses: addresses, Options: &options}
}

// Connect connects a new client of the stage's kind.
func (s *Stage) Connect(options Options, addresses ...string) *Client {
	s.T.Helper()
	c := s.Client()
	c.Must(s.Connecting(s.Kind, options, addresses...))
	return c
}
