package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/millrace/millrace/wire"
)

const edgeA, edgeB = "https://a.example", "https://b.example"

var (
	errUnreachable = &Error{Code: CodeUnreachable}
	errNoEdge      = &Error{Code: CodeUnreachable, Status: 404}
	errDraining    = &Error{Code: "draining", Status: 503, RetryAfter: 5 * time.Second}
	errClosedAt9   = &Error{Code: "client_not_allowed", Text: "we are closed: come at 9", Status: 403}
	errTryLater    = &Error{Code: "try_later", Status: 503, RetryAfter: 5 * time.Second}
	errForbiddenIP = &Error{Code: "ip_not_allowed", Status: 403}
	errRegion      = &Error{Code: "region_not_allowed", Status: 403}
	errProtocol    = &Error{Code: "protocol_not_allowed", Status: 403}
	errBadToken    = &Error{Code: "unauthorized", Status: 401}
)

// world holds edges in memory, for tests in a synctest bubble.
type world struct {
	t      *testing.T
	mu     sync.Mutex
	refuse map[string]error // by edge or "edge transport"
	tokens []string         // of the attempts
	dialed []string         // "edge transport"
	links  chan *fakeLink   // that came up
	delay  map[string]time.Duration
	events chan Event
	ready  func(*fakeLink) // changes a link before the client has it; nil: nothing
	watch  *watcher

	machine *fakeMachine // of a scene
}

func newWorld(t *testing.T) *world {
	return &world{
		t: t, refuse: map[string]error{}, delay: map[string]time.Duration{},
		links: make(chan *fakeLink, 100), events: make(chan Event, 1000),
	}
}

func (w *world) set(edge string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil {
		delete(w.refuse, edge)
	} else {
		w.refuse[edge] = err
	}
}

func (w *world) slow(name string, d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.delay[name] = d
}

func (w *world) dial(ctx context.Context, origin string, t Transport, token string) (link, error) {
	name := origin + " " + string(t)
	w.mu.Lock()
	w.dialed = append(w.dialed, name)
	w.tokens = append(w.tokens, token)
	delay := w.delay[name]
	w.mu.Unlock()
	if delay > 0 {
		timer := time.NewTimer(delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return nil, &Error{Code: CodeUnreachable, Err: ctx.Err()}
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, key := range []string{origin, name, "token " + token} {
		if err := w.refuse[key]; err != nil {
			return nil, err
		}
	}
	l := newFakeLink(origin, token)
	l.transport = t
	if w.ready != nil {
		w.ready(l)
	}
	w.links <- l
	return l, nil
}

// next changes the links that come.
func (w *world) next(f func(*fakeLink)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ready = f
}

// muteSub leaves SUBs unanswered.
func muteSub(l *fakeLink) { l.mute["SUB"] = true }

// connect connects to edges of this world over one transport, unless change says
// otherwise.
func (w *world) connect(ctx context.Context, addresses []string, change func(*Options)) (*Client, error) {
	o := Options{Token: "AT_a", Transports: []Transport{WebSocket}, FailFast: true}
	w.told(&o)
	if change != nil {
		change(&o)
	}
	s, err := o.settings()
	if err != nil {
		return nil, err
	}
	s.dial, s.watch = w.dial, w.watch
	s.measure = func(context.Context, *http.Client, string) (time.Duration, error) { return 0, errors.New("no") }
	return connect(ctx, addresses, s)
}

func (w *world) mustConnect(addresses []string, change func(*Options)) (*Client, *fakeLink) {
	w.t.Helper()
	c, err := w.connect(context.Background(), addresses, change)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { c.Close() })
	return c, <-w.links
}

func (w *world) connected(addresses ...string) (*Client, *fakeLink) {
	w.t.Helper()
	return w.mustConnect(addresses, nil)
}

// subscribed connects, and subscribes to x.
func (w *world) subscribed(addresses ...string) (*Client, *fakeLink, *Subscription) {
	w.t.Helper()
	c, l := w.connected(addresses...)
	return c, l, mustSubscribe(w.t, c, "x")
}

// told has a client tell the world what happens.
func (w *world) told(o *Options) { o.OnEvent = func(e Event) { w.events <- e } }

// attempts is how often an edge was dialed.
func (w *world) attempts() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.dialed)
}

// endAll ends the connections that nobody has looked at.
func (w *world) endAll() {
	for len(w.links) > 0 {
		(<-w.links).end(1001)
	}
}

// event awaits the next event of a type, and fails at Closed.
func event[E Event](w *world) E {
	w.t.Helper()
	for {
		e := <-w.events
		if e, ok := e.(E); ok {
			return e
		}
		if _, ok := e.(Closed); ok {
			w.t.Fatalf("the client ended (%+v) before %T", e, *new(E))
		}
	}
}

// fakeLink is a link to an edge that answers as it should unless it is told not
// to. All times are those of the test.
type fakeLink struct {
	edge, token string
	transport   Transport
	in          chan []byte // to the client
	over        chan struct{}
	once        sync.Once
	why         *Error // set before over is closed
	aborted     chan struct{}
	abortOnce   sync.Once
	finished    chan struct{}

	hold   chan struct{} // receive waits for it with a message in hand; nil: no waiting
	failed chan struct{} // send fails once it is closed; nil: never
	stuck  chan struct{} // send waits for it; nil: no waiting

	mu     sync.Mutex
	mute   map[string]bool   // lines, or their beginnings, that are not answered
	answer map[string]string // other answers
	owed   []string          // lines that were not answered
	asked  string            // the FEATURES line
	lines  []string
	frames []string // channel=payload
	pubs   []wire.Publish
	judge  func(p wire.Publish) string // the answer to a publish that is to be confirmed; nil: OK:PUB:<id>
	read   *clock
}

func newFakeLink(edge, token string) *fakeLink {
	return &fakeLink{
		edge: edge, token: token, in: make(chan []byte, 10000), over: make(chan struct{}), aborted: make(chan struct{}), finished: make(chan struct{}),
		mute: map[string]bool{}, answer: map[string]string{}, read: newClock(),
	}
}

// receive gives what the edge sent before it ended the connection; what abort finds
// unread is lost, as with a socket.
func (l *fakeLink) receive() ([]byte, bool, error) {
	select {
	case <-l.aborted:
		return nil, false, lost(errors.New("aborted"))
	default:
	}
	select {
	case m := <-l.in:
		return l.got(m)
	default:
	}
	select {
	case m := <-l.in:
		return l.got(m)
	case <-l.aborted:
		return nil, false, lost(errors.New("aborted"))
	case <-l.over:
		return nil, false, l.why
	}
}

func (l *fakeLink) got(m []byte) ([]byte, bool, error) {
	if l.hold != nil {
		<-l.hold
	}
	l.read.now()
	return m, wire.IsFrame(m), nil
}

func (l *fakeLink) send(messages []byte) error {
	select {
	case <-l.failed:
		return lost(errors.New("reset"))
	default:
	}
	l.mu.Lock()
	stuck := l.stuck
	l.mu.Unlock()
	if stuck != nil {
		select {
		case <-stuck:
		case <-l.aborted:
			return lost(errors.New("aborted"))
		}
	}
	for len(messages) > 0 {
		start, end, _ := wire.MessageBounds(messages)
		l.take(messages[start:end])
		messages = messages[end:]
	}
	return nil
}

func (l *fakeLink) take(message []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if wire.IsFrame(message) {
		p, err := wire.DecodePublish(message)
		if err != nil {
			panic(err)
		}
		l.frames = append(l.frames, fmt.Sprintf("%s=%s", p.Channel, p.Payload))
		if p.Confirm {
			p.Key, p.Channel, p.Payload = bytes.Clone(p.Key), bytes.Clone(p.Channel), bytes.Clone(p.Payload)
			l.pubs = append(l.pubs, p)
			answer := string(wire.AppendOKPub(nil, p.ID))
			if l.judge != nil {
				answer = l.judge(p)
			}
			if answer != "" {
				l.in <- []byte(answer)
			}
		}
		return
	}
	line := string(message)
	if strings.HasPrefix(line, "FEATURES:") { // each connection begins with it
		line = strings.TrimSuffix(line, furtherFeatures)
		l.asked = line
	} else {
		l.lines = append(l.lines, line)
	}
	for prefix := range l.mute {
		if strings.HasPrefix(line, prefix) {
			l.owed = append(l.owed, line)
			return
		}
	}
	l.reply(line)
}

func (l *fakeLink) reply(line string) {
	answer, ok := l.answer[line]
	switch {
	case ok:
	case line == "PING":
		answer = "PONG"
	case strings.HasPrefix(line, "FEATURES:"):
		answer = wire.LineFeatures
	case strings.HasPrefix(line, "CREDIT:"):
		return
	default:
		answer = "OK:" + line
	}
	l.in <- []byte(answer)
}

func (l *fakeLink) set(f func(l *fakeLink)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f(l)
}

func (l *fakeLink) sent() (lines, frames []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.lines), slices.Clone(l.frames)
}

// pings returns how often the client has asked.
func (l *fakeLink) pings() (n int) {
	lines, _ := l.sent()
	for _, line := range lines {
		if line == "PING" {
			n++
		}
	}
	return n
}

// line and deliver send something to the client.
func (l *fakeLink) line(text string) { l.in <- []byte(text) }

func (l *fakeLink) deliver(channel, payload string, patterns ...string) {
	l.in <- wire.AppendDeliver(nil, []byte("t"), []byte(channel), []byte(payload), patterns)
}

// bring delivers to the channel and the pattern x.
func (l *fakeLink) bring(payloads ...string) {
	for _, p := range payloads {
		l.deliver("x", p, "x")
	}
}

// end closes the connection from the edge's side.
func (l *fakeLink) end(code int) { l.endFor(code, "") }

func (l *fakeLink) endFor(code int, reason string) {
	l.once.Do(func() {
		l.why = closedBy(code, reason)
		close(l.over)
	})
}

func (l *fakeLink) finish() {
	close(l.finished)
	l.end(1000)
}

func (l *fakeLink) abort()                 { l.abortOnce.Do(func() { close(l.aborted) }) }
func (l *fakeLink) heard() time.Time       { return l.read.time() }
func (l *fakeLink) unusual() time.Duration { return l.read.unusual() }
func (l *fakeLink) setWaker(func())        {}
func (l *fakeLink) probe()                 {}
