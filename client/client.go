package client

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/millrace/millrace/wire"
)

// Client is a connection to the edges that survives the loss of any of them. Its
// methods are safe for concurrent use.
//
// One goroutine, loop, owns the state: everything else hands it functions. Each
// connection has a goroutine that reads and one that writes.
type Client struct {
	s        *settings
	searcher *searcher
	router   *router
	events   *emitter
	gate     gate

	calls    chan func() // for the loop
	overflow overflow    // subscriptions that dropped messages
	signals  signals     // of the machine

	ctx     context.Context // of what the loop starts; ends with it
	cancel  context.CancelFunc
	group   sync.WaitGroup // all goroutines but those of handler
	handler handlers       // those that run functions of the application, and fill their queues
	closing chan struct{}  // closed by Close
	left    chan struct{}  // closed by Close, if the client had not ended before
	once    sync.Once      // Close
	done    chan struct{}  // closed when the client has ended
	err     error          // why; set before done is closed
	rtt     atomic.Int64   // nanoseconds

	publishID atomic.Uint32 // of the last publish that is to be confirmed

	limitedUntil atomic.Int64 // Unix time in nanoseconds; see Limited

	place atomic.Pointer[place]

	// Below is the loop's.
	over      bool
	current   *conn // gives messages to the application; nil while there is none
	next      *conn // that a move goes to, or that may take over from a suspect one; nil: none
	move      *move
	suspicion *suspicion // nil: current is not suspect
	trail     *trail     // nil: there is none
	upgrade   upgrade
	wokeAt    time.Time // when the machine woke; zero: never
	linkDown  bool      // the application was told so
	restoring bool      // current has been opened again, and has yet to restore
	gaps      bool      // since the connection was lost, Gap was told
	heardLast time.Time // from the connection that was lost; zero: the client is not away
	retry     retry
	renewAt   time.Time // when to ask the token provider; zero: not planned
	renewing  bool      // it is being asked
	renewals  int       // failures of the provider in a row
	flushes   []chan<- error
	delayed   []func() // subscriptions that wait for the end of an earlier one; see isLeaving
	standings map[standingKey]*standing
}

// place is where a client is connected.
type place struct {
	edge      string
	transport Transport
}

// Connect connects to one of the edges, which addresses gives: each is an edge's
// origin, like https://edge.example.com, or the URL of a list of edges. While no edge
// answers, it tries again with pauses, and each pause begins with the event [Connecting];
// [Options].FailFast has it try each edge once. ctx bounds the attempts alone: the client
// lives until Close, or until it ends with an error (see [Client.Done]). Close has to be
// called in any case.
//
// Some errors are final at once: ErrBadOption, ErrUnauthorized and other refusals of a token
// that no edge takes, ErrLoggedOut, and ErrUnreachable where a server answers that is no edge.
// ErrTimeout is for a ctx that has ended, and has the error of the last attempt as a cause, too.
// With FailFast, ErrUnreachable, ErrTokenProvider and all refusals of an edge are final.
func Connect(ctx context.Context, addresses []string, o Options) (*Client, error) {
	s, err := o.settings()
	if err != nil {
		return nil, err
	}
	return connect(ctx, addresses, s)
}

// dialLink is the dialFunc of real links.
func (s *settings) dialLink(ctx context.Context, origin string, t Transport, token string) (link, error) {
	if t == WebTransport {
		return s.dialWebTransport(ctx, origin, token)
	}
	return s.dialWebSocket(ctx, origin, token)
}

func connect(ctx context.Context, addresses []string, s *settings) (*Client, error) {
	e, err := newEdges(s, addresses)
	if err != nil {
		return nil, err
	}
	c := &Client{
		s: s, router: newRouter(), events: newEmitter(s.handler()),
		calls: make(chan func(), 64), closing: make(chan struct{}), left: make(chan struct{}), done: make(chan struct{}),
		standings: map[standingKey]*standing{},
	}
	c.overflow.wake = make(chan struct{}, 1)
	c.signals = newSignals()
	c.router.over = c.overflow.addEnded
	c.router.paused = c.overflow.addFull
	c.searcher = &searcher{s: s, edges: e, tokens: newTokenSource(s, c.handler.run, c.loggedOut), group: &c.group}
	c.handler.run(c.events.run)
	first, err := c.first(ctx)
	if err != nil {
		c.events.end()
		c.group.Wait() // attempts that lost the race
		return nil, err
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.adopt(first) // nobody else knows the client yet
	c.events.emit(Connected{first.edge, first.transport})
	c.planRenewal()
	c.group.Go(c.loop)
	return c, nil
}

// Close leaves: what was published is sent, for at most 2 s, all subscriptions
// end, and no goroutine of the client is left when it returns. If the client had
// ended before, with an error, Close waits until the functions of
// [Client.SubscribeFunc] have had all messages that came before the end. Only a
// function of the application that calls Close itself, from OnEvent, SubscribeFunc
// or TokenProvider, goes on after it. Further calls wait for the first. The error
// is always nil.
func (c *Client) Close() error {
	c.once.Do(func() {
		select {
		case <-c.done: // nobody has left what came before that
		default:
			close(c.left)
		}
		close(c.closing)
		c.post(func() { c.end(nil) })
	})
	c.group.Wait()
	c.handler.wait()
	return nil
}

// Done is closed when the client has ended, by Close or by an error that no
// reconnecting mends.
func (c *Client) Done() <-chan struct{} { return c.done }

// Err returns why the client ended: nil while it lives and after Close.
func (c *Client) Err() error {
	select {
	case <-c.done:
		return c.err
	default:
		return nil
	}
}

// RTT is the time that the last PING took to be answered; 0: none was yet. Each
// Flush sends one.
func (c *Client) RTT() time.Duration { return time.Duration(c.rtt.Load()) }

// Edge is the origin of the edge that the client is, or was last, connected to.
func (c *Client) Edge() string { return c.place.Load().edge }

// Transport is that of the present connection, or of the last.
func (c *Client) Transport() Transport { return c.place.Load().transport }

// limitedTime is how long a client counts as limited after the event: an edge says it once a minute.
const limitedTime = time.Minute

// Limited reports whether the edge has said within the last minute that messages of this client wait
// for a cap; see the event [Limited].
func (c *Client) Limited() bool { return time.Now().UnixNano() < c.limitedUntil.Load() }

// post hands the loop a function. It reports false if the loop has ended, or
// ends: the function may then not be called.
func (c *Client) post(f func()) bool {
	select {
	case <-c.done:
		return false
	default:
	}
	select {
	case c.calls <- f:
		return true
	case <-c.done:
		return false
	}
}

// closedError is for calls of a client that has ended.
func (c *Client) closedError() error {
	if c.err != nil {
		return c.err
	}
	return &Error{Code: CodeClosed, Text: "the application has closed the client: Connect gives another one"}
}

// deliver, line, presence, lost and active make Client the sink of its connections.
func (c *Client) deliver(from *conn, d *delivery) {
	if begun := c.router.deliver(from, d); begun != nil {
		c.post(func() { c.historyBegun(begun) })
	}
}

func (c *Client) line(from *conn, l wire.ServerLine) {
	heard := from.link.heard()
	switch l.Kind {
	case wire.KindOKRsub, wire.KindAt, wire.KindGap: // their place is among the messages
		gap := c.router.reach(from, l)
		c.post(func() {
			c.handleLine(from, l, heard)
			c.handleReach(from, l, gap)
		})
	default:
		c.post(func() { c.handleLine(from, l, heard) })
	}
}

func (c *Client) presence(from *conn, p *wire.Presence) { c.post(func() { c.handlePresence(from, p) }) }

func (c *Client) active() { offer(c.signals.active) }

func (c *Client) lost(from *conn, err *Error) { c.post(func() { c.handleLost(from, err) }) }
