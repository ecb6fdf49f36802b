package sdk

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/internal/clientdriver"
)

// An sdkKind is where an SDK runs, and the transport to which it is held.
type Kind struct {
	Where     string // a name in sdkPrograms, or that of a browser
	Transport string
}

func (k Kind) String() string { return k.Where + "/" + k.Transport }

// Blind says that the client is not told why an edge refuses it.
func (k Kind) Blind() bool {
	return k.Transport == "websocket" && (k.InBrowser() || slices.Contains(Runtimes, k))
}

// SeesHeaders says that the client sees the headers of an answer to its handshake.
func (k Kind) SeesHeaders() bool { return !k.InBrowser() && !k.Blind() }

func (k Kind) InBrowser() bool { return Programs[k.Where] == nil }

// AlsoOver says that the SDK has a transport, too.
func (k Kind) AlsoOver(transport string) bool {
	return slices.Contains(Kinds, Kind{k.Where, transport})
}

// Kinds is all clients that are tested. With MILLRACE_CLIENT it is that one over each of
// its transports; see useClient.
var Kinds = []Kind{
	{"go", "webtransport"},
	{"go", "websocket"},
	{"node", "websocket"},
	{"python", "webtransport"},
	{"python", "websocket"},
	{"chromium", "webtransport"},
	{"chromium", "websocket"},
	{"firefox", "webtransport"},
	{"firefox", "websocket"},
}

// KindsOver is the kinds with a transport; empty: all.
func KindsOver(transport string) (kinds []Kind) {
	for _, k := range Kinds {
		if transport == "" || k.Transport == transport {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// An sdkHost runs clients of one SDK. It carries out the commands of a client in
// their order, and says by the function that it was made with what becomes of them.
type sdkHost interface {
	Send(Command) error
}

// What goes over the line protocol; see package clientdriver.
type (
	Command = clientdriver.Command
	Options = clientdriver.Options
	Report  = clientdriver.Report
	Member  = clientdriver.Member
	Error   = clientdriver.Error
)

// Mailbox keeps reports until somebody takes them.
type Mailbox struct {
	mu   sync.Mutex
	list []Report
	more chan struct{} // closed at the next put
	end  error         // why nothing more comes; nil: it may
}

func NewMailbox() *Mailbox { return &Mailbox{more: make(chan struct{})} }

func (m *Mailbox) Put(r Report) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.list = append(m.list, r)
	close(m.more)
	m.more = make(chan struct{})
}

// Fail says why nothing more comes.
func (m *Mailbox) Fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.end == nil {
		m.end = err
		close(m.more)
		m.more = make(chan struct{})
	}
}

// Why is for messages that say that take found nothing.
func (m *Mailbox) Why() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.end != nil {
		return "(" + m.end.Error() + ")"
	}
	return "in " + harness.WaitTimeout.String()
}

// Take removes the first report that matches, and waits up to waitTimeout for it.
func (m *Mailbox) Take(matches func(Report) bool) (Report, bool) {
	timeout := time.NewTimer(harness.WaitTimeout)
	defer timeout.Stop()
	seen := 0
	for {
		m.mu.Lock()
		for i := seen; i < len(m.list); i++ {
			if r := m.list[i]; matches(r) {
				if i == 0 {
					m.list = m.list[1:]
				} else {
					m.list = slices.Delete(m.list, i, i+1)
				}
				m.mu.Unlock()
				return r, true
			}
		}
		seen = len(m.list)
		more, end := m.more, m.end
		m.mu.Unlock()
		if end != nil {
			return Report{}, false
		}
		select {
		case <-more:
		case <-timeout.C:
			return Report{}, false
		}
	}
}

// Rest is what nobody has taken.
func (m *Mailbox) Rest() []Report {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]Report(nil), m.list...)
}

// Router gives reports to the clients that they are about.
type Router struct {
	mu      sync.Mutex
	clients map[string]*Client
}

func (r *Router) Add(c *Client) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.clients == nil {
		r.clients = map[string]*Client{}
	}
	r.clients[c.Name] = c
}

// Route returns what is wrong with the report, if it is about nothing.
func (r *Router) Route(report Report) error {
	r.mu.Lock()
	c := r.clients[report.Client]
	r.mu.Unlock()
	if c == nil {
		return fmt.Errorf("there is no client %q", report.Client)
	}
	return c.accept(report)
}

// Fail tells the clients of a host that nothing more comes.
func (r *Router) Fail(where string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.clients {
		if c.Kind.Where == where {
			c.Fail(err)
		}
	}
}

// Start runs a host for clients of a kind until the test ends.
func (s *Stage) Start(kind Kind) sdkHost {
	s.T.Helper()
	if Programs[kind.Where] == nil {
		return s.lab.Browsers[kind.Where].tab(s.T, func(r Report) { _ = s.router.Route(r) }) // clients of this tab alone
	}
	var d *sdkDriver
	var err error
	if s.drivers != nil {
		d, err = s.drivers.Start(kind)
	} else {
		d, err = Programs[kind.Where].Start(s.T, kind, s.Edges, s.router)
	}
	if err != nil {
		s.T.Fatalf("%s: %v", kind, err)
	}
	return d
}

// Drivers is one driver of each program, for all scenarios that play at one edge.
type Drivers struct {
	T      *testing.T // with which they end
	Edge   *harness.Edge
	router Router

	mu   sync.Mutex
	runs map[string]func() (*sdkDriver, error) // by where
}

// Start starts the driver of a kind, the first time.
func (d *Drivers) Start(kind Kind) (*sdkDriver, error) {
	d.mu.Lock()
	if d.runs == nil {
		d.runs = map[string]func() (*sdkDriver, error){}
	}
	if d.runs[kind.Where] == nil {
		d.runs[kind.Where] = sync.OnceValues(func() (*sdkDriver, error) {
			return Programs[kind.Where].Start(d.T, kind, []*harness.Edge{d.Edge}, &d.router)
		})
	}
	run := d.runs[kind.Where]
	d.mu.Unlock()
	return run()
}

func InMS(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
