package integration

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"
)

// An sdkKind is where an SDK runs, and the transport to which it is held.
type sdkKind struct {
	where     string // go, node, or the name of a browser
	transport string
}

func (k sdkKind) String() string { return k.where + "/" + k.transport }

// blind says that the client is not told why an edge refuses it.
func (k sdkKind) blind() bool { return k.inBrowser() && k.transport == "websocket" }

func (k sdkKind) inBrowser() bool { return k.where != "go" && k.where != "node" }

var sdkKinds = []sdkKind{
	{"go", "webtransport"},
	{"go", "websocket"},
	{"node", "websocket"},
	{"chromium", "webtransport"},
	{"chromium", "websocket"},
	{"firefox", "webtransport"},
	{"firefox", "websocket"},
}

// An sdkHost runs clients of one SDK. It carries out the commands of a client in
// their order, and says by the function that it was made with what becomes of them.
type sdkHost interface {
	send(sdkCommand) error
}

// An sdkCommand is one to a client. Commands are connect, token (the answer of the
// token provider), subscribe, read (of a subscription with the mode held),
// unsubscribe, publish, flush and close; online, which tells a browser's page that
// the network has changed; and those of a TokenAdmin: issue, refresh,
// revoke and list.
type sdkCommand struct {
	ID        int         `json:"id"`
	Client    string      `json:"client"`
	Cmd       string      `json:"cmd"`
	Addresses []string    `json:"addresses,omitempty"`
	Options   *sdkOptions `json:"options,omitempty"`
	Sub       string      `json:"sub,omitempty"`
	Mode      string      `json:"mode,omitempty"` // iterate, callback or held
	Tenant    string      `json:"tenant"`
	Pattern   string      `json:"pattern,omitempty"`
	Channel   string      `json:"channel,omitempty"`
	Payload   []byte      `json:"payload,omitempty"`
	Delivery  string      `json:"delivery,omitempty"`
	Confirm   bool        `json:"confirm,omitempty"`
	Key       string      `json:"key,omitempty"`
	Token     string      `json:"token,omitempty"`
	ExpiresAt string      `json:"expiresAt,omitempty"`
	Text      string      `json:"text,omitempty"` // of the token provider's failure

	Master  string   `json:"master,omitempty"`
	TokenID string   `json:"tokenId,omitempty"`
	Seconds int      `json:"seconds,omitempty"` // until the expiry
	Rules   []string `json:"rules,omitempty"`   // for publishing and for subscribing
}

// sdkOptions are those of a client and of a subscription; see docs/clients.md.
// Durations are milliseconds.
type sdkOptions struct {
	Token          string   `json:"token,omitempty"`
	Provider       bool     `json:"provider,omitempty"` // a token provider that asks the test
	Transports     []string `json:"transports,omitempty"`
	FallbackAfter  int      `json:"fallbackAfter,omitempty"`
	ConnectTimeout int      `json:"connectTimeout,omitempty"`
	KeepAlive      int      `json:"keepAlive,omitempty"`
	PongTimeout    int      `json:"pongTimeout,omitempty"`
	MinBackOff     int      `json:"minBackOff,omitempty"`
	MaxBackOff     int      `json:"maxBackOff,omitempty"`
	Queue          int      `json:"queue,omitempty"`
	QueuePolicy    string   `json:"queuePolicy,omitempty"`
	History        any      `json:"history,omitempty"` // as the option of the SDK for TypeScript
	Hashes         [][]byte `json:"hashes,omitempty"`  // for browsers
}

// An sdkReport is what a client says: "answer" to a command, "message",
// "subscriptionEnded", "tokenWanted", "ended", and the SDK's events by their names.
type sdkReport struct {
	Client, Event string
	ID            int
	Error         *sdkError

	Sub, Tenant, Channel, Pattern string
	Payload                       []byte
	Patterns                      []string
	Late                          bool
	Position, Before              string
	Complete                      bool

	Edge, Transport, Reason string
	Away, RTT, Delay        float64 // milliseconds
	Attempt, Dropped        int
	Code, Detail            string

	Token, TokenID, ExpiresAt string
	Tokens                    []sdkToken

	at time.Time // when it came
}

// An sdkToken is one of those that a TokenAdmin lists.
type sdkToken struct{ TokenID, Status string }

// An sdkError is an error of the SDK.
type sdkError struct {
	Code, Text, Tenant, Pattern, Channel string
	Status, CloseCode                    int
}

func (e *sdkError) Error() string { return fmt.Sprintf("%s: %s", e.Code, e.Text) }

// code is that of an error, and empty without one.
func (e *sdkError) code() string {
	if e == nil {
		return ""
	}
	return e.Code
}

// String is the report without what is empty, and the second in which it came.
func (r sdkReport) String() string {
	var fields map[string]any
	text, _ := json.Marshal(r)
	_ = json.Unmarshal(text, &fields) // both can be encoded
	maps.DeleteFunc(fields, func(_ string, v any) bool {
		return v == nil || reflect.ValueOf(v).IsZero()
	})
	fields["at"] = r.at.Format("05.000")
	text, _ = json.Marshal(fields)
	return string(text)
}

// mailbox keeps reports until somebody takes them.
type mailbox struct {
	mu   sync.Mutex
	list []sdkReport
	more chan struct{} // closed at the next put
}

func newMailbox() *mailbox { return &mailbox{more: make(chan struct{})} }

func (m *mailbox) put(r sdkReport) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.list = append(m.list, r)
	close(m.more)
	m.more = make(chan struct{})
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
		more := m.more
		m.mu.Unlock()
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

func (r *sdkRouter) route(report sdkReport) {
	r.mu.Lock()
	c := r.clients[report.Client]
	r.mu.Unlock()
	if c != nil {
		c.accept(report)
	}
}

// start runs a host for clients of a kind until the test ends.
func (l *sdkLab) start(t *testing.T, kind sdkKind, edges []*edge, report func(sdkReport)) sdkHost {
	t.Helper()
	switch kind.where {
	case "go":
		return startGoSDK(t, edges, report)
	case "node":
		return startNodeSDK(t, edges, report)
	default:
		return l.browsers[kind.where].tab(t, report)
	}
}
