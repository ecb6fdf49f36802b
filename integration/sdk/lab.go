package sdk

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

// Lab is where clients run: one program, or browser, for each SDK, which starts with the first
// client and ends with the test T. All clients trust the authorities of the edges Roots; edges
// with harness.ForBrowsers have the same one.
type Lab struct {
	T     *testing.T      // nil: that of the first stage
	Roots []*harness.Edge // likewise

	hosts, clients sync.Map // by where: func() (host, error); by name: *Client
}

// A host runs clients of one SDK. It carries out the commands of a client in their order.
type host interface {
	Send(Command) error
}

// host starts the host of a kind, the first time.
func (l *Lab) host(kind Kind) (host, error) {
	start, _ := l.hosts.LoadOrStore(kind.Where, sync.OnceValues(func() (host, error) {
		if kind.InBrowser() {
			return StartPage(l.T, kind.Where, l.route)
		}
		return l.start(kind)
	}))
	return start.(func() (host, error))()
}

func (l *Lab) start(kind Kind) (host, error) {
	var roots []byte
	for _, e := range l.Roots {
		root, err := os.ReadFile(e.RootFile())
		if err != nil {
			return nil, err
		}
		roots = append(roots, root...)
	}
	file := filepath.Join(l.T.TempDir(), "roots.pem")
	if err := os.WriteFile(file, roots, 0o600); err != nil {
		return nil, err
	}
	p := Programs[kind.Where]
	cmd, err := p.Command()
	if err != nil {
		return nil, err
	}
	d, hello, err := StartDriver(cmd, file, Limit, l.route, func(err error) {
		for _, c := range l.clients.Range {
			if c := c.(*Client); c.Kind.Where == kind.Where {
				c.Fail(err)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	l.T.Cleanup(func() {
		if err := d.End(); err != nil {
			l.T.Errorf("%s: %v", kind, err)
		}
	})
	if !slices.Contains(hello.Transports, kind.Transport) || !p.Outside && len(hello.Lacks) > 0 {
		return nil, fmt.Errorf("its driver has the transports %q, and lacks %q", hello.Transports, hello.Lacks)
	}
	return d, nil
}

// route gives a report to the client that it is about. It returns what is wrong with the
// report, if it is about nothing.
func (l *Lab) route(report Report) error {
	c, ok := l.clients.Load(report.Client)
	if !ok {
		return fmt.Errorf("there is no client %q", report.Client)
	}
	return c.(*Client).Accept(report)
}

// Stage is where a scenario plays: the edges that its clients know, and a tenant of its own.
type Stage struct {
	T      *testing.T
	Lab    *Lab
	Kind   Kind
	Edges  []*harness.Edge
	Room   string // without the namespace
	Tenant string // with it
}

// Stage is a new one. The first of a lab without a test must be there before the others.
func (l *Lab) Stage(t *testing.T, kind Kind, edges ...*harness.Edge) *Stage {
	if l.T == nil {
		l.T, l.Roots = t, edges
	}
	room := "room-" + harness.RandomHex()[:8]
	s := &Stage{T: t, Lab: l, Kind: kind, Room: room, Tenant: "paint." + room}
	for _, e := range edges {
		s.Edges = append(s.Edges, e.With(t))
	}
	return s
}

// Host is where clients of a kind run.
func (s *Stage) Host(kind Kind) host {
	s.T.Helper()
	h, err := s.Lab.host(kind)
	if err != nil {
		s.T.Fatalf("%s: %v", kind, err)
	}
	return h
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

// Client is a new one of the stage's kind that is not connected. It closes with the test.
func (s *Stage) Client() *Client {
	s.T.Helper()
	return s.ClientOf(s.Kind)
}

func (s *Stage) ClientOf(kind Kind) *Client {
	s.T.Helper()
	c := NewClient(s.T, "c"+harness.RandomHex()[:12], kind, s.Host(kind))
	s.Lab.clients.Store(c.Name, c)
	s.T.Cleanup(c.leave)
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
	if kind.InBrowser() { // else it accepts no certificate over WebTransport
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

// Again runs an edge that has ended on its data and its ports.
func Again(e *harness.Edge) harness.Option {
	return func(next *harness.Edge) {
		harness.Replacing(e)(next)
		next.Dir = e.Dir
	}
}
