package integration

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/millrace/millrace/internal/clientdriver"
)

// An sdkKind is where an SDK runs, and the transport to which it is held.
type sdkKind struct {
	where     string // a name in sdkPrograms, or that of a browser
	transport string
}

func (k sdkKind) String() string { return k.where + "/" + k.transport }

// blind says that the client is not told why an edge refuses it.
func (k sdkKind) blind() bool {
	return k.transport == "websocket" && (k.inBrowser() || slices.Contains(sdkRuntimes, k))
}

// seesHeaders says that the client sees the headers of an answer to its handshake.
func (k sdkKind) seesHeaders() bool { return !k.inBrowser() && !k.blind() }

func (k sdkKind) inBrowser() bool { return sdkPrograms[k.where] == nil }

// alsoOver says that the SDK has a transport, too.
func (k sdkKind) alsoOver(transport string) bool {
	return slices.Contains(sdkKinds, sdkKind{k.where, transport})
}

// sdkKinds is all clients that are tested. With MILLRACE_CLIENT it is that one over each of
// its transports; see useClient.
var sdkKinds = []sdkKind{
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

// sdkKindsOver is the kinds with a transport; empty: all.
func sdkKindsOver(transport string) (kinds []sdkKind) {
	for _, k := range sdkKinds {
		if transport == "" || k.transport == transport {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// An sdkHost runs clients of one SDK. It carries out the commands of a client in
// their order, and says by the function that it was made with what becomes of them.
type sdkHost interface {
	send(sdkCommand) error
}

// What goes over the line protocol; see package clientdriver.
type (
	sdkCommand = clientdriver.Command
	sdkOptions = clientdriver.Options
	sdkReport  = clientdriver.Report
	sdkMember  = clientdriver.Member
	sdkError   = clientdriver.Error
)

// mailbox keeps reports until somebody takes them.
type mailbox struct {
	mu   sync.Mutex
	list []sdkReport
	more chan struct{} // closed at the next put
	end  error         // why nothing more comes; nil: it may
}

func newMailbox() *mailbox { return &mailbox{more: make(chan struct{})} }

func (m *mailbox) put(r sdkReport) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.list = append(m.list, r)
	close(m.more)
	m.more = make(chan struct{})
}

// fail says why nothing more comes.
func (m *mailbox) fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.end == nil {
		m.end = err
		close(m.more)
		m.more = make(chan struct{})
	}
}

// why is for messages that say that take found nothing.
func (m *mailbox) why() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.end != nil {
		return "(" + m.end.Error() + ")"
	}
	return "in " + waitTimeout.String()
}

// take removes the first report that matches, and waits up to waitTimeout for it.
func (m *mailbox) take(matches func(sdkReport) bool) (sdkReport, bool) {
	timeout := time.NewTimer(waitTimeout)
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
			return sdkReport{}, false
		}
		select {
		case <-more:
		case <-timeout.C:
			return sdkReport{}, false
		}
	}
}

// rest is what nobody has taken.
func (m *mailbox) rest() []sdkReport {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]sdkReport(nil), m.list...)
}

// sdkRouter gives reports to the clients that they are about.
type sdkRouter struct {
	mu      sync.Mutex
	clients map[string]*sdkClient
}

func (r *sdkRouter) add(c *sdkClient) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.clients == nil {
		r.clients = map[string]*sdkClient{}
	}
	r.clients[c.name] = c
}

// route returns what is wrong with the report, if it is about nothing.
func (r *sdkRouter) route(report sdkReport) error {
	r.mu.Lock()
	c := r.clients[report.Client]
	r.mu.Unlock()
	if c == nil {
		return fmt.Errorf("there is no client %q", report.Client)
	}
	return c.accept(report)
}

// fail tells the clients of a host that nothing more comes.
func (r *sdkRouter) fail(where string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.clients {
		if c.kind.where == where {
			c.fail(err)
		}
	}
}

// start runs a host for clients of a kind until the test ends.
func (s *sdkStage) start(kind sdkKind) sdkHost {
	s.t.Helper()
	if p := sdkPrograms[kind.where]; p != nil {
		return p.start(s.t, kind, s.edges, &s.router)
	}
	return s.lab.browsers[kind.where].tab(s.t, func(r sdkReport) { _ = s.router.route(r) }) // clients of this tab alone
}

func inMS(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
