package client

import (
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/millrace/millrace/wire"
)

// closeTimeout is how long a connection may take to send what waits and to end.
const closeTimeout = 2 * time.Second

// conn is a connection to an edge. Its two goroutines are started by start,
// ended by shut or by the end of the link, and awaited through the group. The
// fields below are the client's loop's, the rest is set before start.
type conn struct {
	edge        string
	transport   Transport
	token       string
	link        link
	out         *sendBuffer
	frames      *decoder      // of the reading goroutine
	over        chan struct{} // closed when nothing is received any more
	featured    chan struct{} // closed when histories is known, or never will be
	confirms    confirms      // publishes that wait for their answers
	wantsActive atomic.Bool   // the loop wants to hear of the next message; see askAt
	message     atomic.Int64  // nanoseconds after since at which something but PONG has come

	acks      map[key][]*ack              // what was sent and not answered, in order
	unacked   int                         // SUBs, RSUBs, JOINs and WHOs among them
	postponed map[*interest]*postponedSub // SUBs that the edge answered with try_later
	holds     map[*standing]*hold         // what it has of JOINs and WHOs
	repeated  time.Time                   // when one of those that were postponed was sent last
	ready     bool                        // every subscription was answered once
	pings     []*ping                     // sent and not answered, in order
	probed    time.Time                   // the last time; see probeAt
	marked    uint64                      // bytes that were sent up to the last PING, or answered SUB
	trips     trips                       // of its PINGs
	spread    float64                     // in [0,1): how much later than KeepAlive it is asked
	since     time.Time                   // connected
	draining  bool                        // RECONNECT has come
	lastErr   *Error                      // the ERR line before a close
	denial    wire.Denial                 // of the ERR line that is handled
	aborted   bool                        // by the loop, which has yet to hear of the end
	dead      bool                        // the loop has heard of its end
	unsubbed  bool                        // in a move: UNSUB was sent for everything
	asks      bool                        // FEATURES has no answer yet
	histories bool                        // the edge has the feature history
	presence  bool                        // likewise
	credit    map[*interest]int           // for messages to one connection, of each SUB that was sent; guarded by the router
	workQueue bool                        // likewise: messages to one connection wait for credit
	linkDown  bool                        // the edge says that it has lost the others

	confirmed uint64 // bytes that the edge has handled, as the last PONG says
	reading   reading

	usual  time.Duration // unusual, before it was suspect; zero: it was not, or had no rhythm
	wokeAt time.Time     // from that suspicion
	doubts int           // suspicions that it woke from, and its PING has no answer yet
}

// ack is what a SUB, RSUB or UNSUB waits for, or a JOIN, LEAVE, WHO or UNWHO.
type ack struct {
	verb  wire.Verb
	late  bool            // of an RSUB: the history is out of reach, and nobody waits for it
	total uint64          // bytes with it
	done  func(code Code) // empty: OK
}

// ping is a PING that waits for its PONG.
type ping struct {
	sent  time.Time
	bytes uint64 // unconfirmed bytes before it
	total uint64 // bytes with it
	mark  mark
	asked bool // for a round trip; else it only marks a place in what is sent
	done  func(err error)

	untimed bool // its time says nothing of the way to the edge
}

func newConn(l link, edge string, t Transport, token string, features []byte) *conn {
	c := &conn{
		edge: edge, transport: t, token: token, link: l, out: newSendBuffer(l.heard), frames: newDecoder(),
		over: make(chan struct{}), featured: make(chan struct{}), acks: map[key][]*ack{}, postponed: map[*interest]*postponedSub{}, holds: map[*standing]*hold{}, credit: map[*interest]int{}, since: time.Now(), asks: true,
		spread: rand.Float64(), reading: reading{perByte: slowest},
	}
	c.out.line(features)
	return c
}

// sink takes what a connection receives, in order, from its reading goroutine.
type sink interface {
	deliver(c *conn, d *delivery)
	line(c *conn, l wire.ServerLine)
	presence(c *conn, p *wire.Presence)
	lost(c *conn, err *Error)
	// active is called before a message is taken, once after the loop has set wantsActive.
	active()
}

func (c *conn) start(group *sync.WaitGroup, to sink) {
	c.link.setWaker(c.out.wakeUp)
	c.out.active = to.active
	group.Go(func() {
		err := c.read(to)
		c.link.abort()
		close(c.over)
		to.lost(c, err)
	})
	group.Go(c.write)
}

func (c *conn) read(to sink) *Error {
	for {
		message, frame, err := c.link.receive()
		if err != nil {
			return asError(err)
		}
		if frame || string(message) != wire.LinePong {
			c.message.Store(int64(c.link.heard().Sub(c.since))) // before the loop is told
		}
		if c.wantsActive.Load() {
			c.wantsActive.Store(false)
			to.active()
		}
		if frame {
			if wire.IsUnknownFrame(message) {
				continue // of a later version
			}
			if wire.IsPresence(message) {
				if err := c.readPresence(message, to); err != nil {
					return err
				}
				continue
			}
			d, err := c.frames.decode(message)
			if err != nil {
				return &Error{Code: CodeProtocol, Text: "the edge sent a frame that is not understood", Err: err}
			}
			to.deliver(c, d)
			continue
		}
		line, err := wire.ParseServerLine(message)
		if err != nil {
			continue // later edges may have more lines
		}
		to.line(c, line)
	}
}

func asError(err error) *Error {
	if e, ok := err.(*Error); ok { //nolint:errorlint // links return nothing else
		return e
	}
	return lost(err)
}

// write sends what the sendBuffer has until it is finished or nothing is received.
func (c *conn) write() {
	defer c.out.finish() // nobody waits for room any more
	for {
		select {
		case <-c.out.wake:
		case <-c.over:
			return
		}
		messages, more := c.out.take()
		if err := c.link.send(messages); err != nil {
			c.drain()
			return
		}
		if !more {
			c.link.finish()
			return
		}
	}
}

// drain lets a connection on which nothing can be sent any more deliver what the
// edge sent before it ended, in closeTimeout at most: to abort it would lose that.
func (c *conn) drain() {
	c.out.finish() // publishes fail at once
	c.abortAfter(closeTimeout)
}

// abortAfter aborts the connection unless it ends before.
func (c *conn) abortAfter(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		c.link.abort()
	case <-c.over:
	}
}

// shut ends the connection after what waits is sent, in closeTimeout at most.
// It does not wait.
func (c *conn) shut(group *sync.WaitGroup) {
	c.out.finish()
	group.Go(func() { c.abortAfter(closeTimeout) })
}

// sub sends SUB or UNSUB. done is called by the loop when it is answered, and
// not if the connection ends before.
func (c *conn) sub(verb wire.Verb, k key, done func(Code)) {
	c.send(verb, k, wire.AppendLine(nil, verb, k.tenant, k.pattern), done)
}

// rsub sends RSUB, likewise.
func (c *conn) rsub(k key, from wire.From, done func(Code)) {
	c.send(wire.VerbRsub, k, wire.AppendRsub(nil, k.tenant, k.pattern, from), done)
}

func (c *conn) send(verb wire.Verb, k key, line []byte, done func(Code)) {
	c.acks[k] = append(c.acks[k], &ack{verb: verb, total: c.out.line(line), done: done})
	if !ends(verb) {
		c.unacked++
	}
}

// ends reports whether a command ends something: no connection is waited for because of it.
func ends(verb wire.Verb) bool {
	return verb == wire.VerbUnsub || verb == wire.VerbLeave || verb == wire.VerbUnwho
}

// pending reports whether a SUB waits for its answer.
func (c *conn) pending(k key) bool { return c.awaits(wire.VerbSub, k) }

// pendingUnsub reports whether an UNSUB waits for its answer.
func (c *conn) pendingUnsub(k key) bool { return c.awaits(wire.VerbUnsub, k) }

func (c *conn) awaits(verb wire.Verb, k key) bool {
	return slices.ContainsFunc(c.acks[k], func(a *ack) bool { return a.verb == verb })
}

// knowFeatures wakes those who wait for what the edge knows.
func (c *conn) knowFeatures() {
	select {
	case <-c.featured:
	default:
		close(c.featured)
	}
}

// answered removes the oldest command of this kind from the list and calls its done
// function.
func (c *conn) answered(verb wire.Verb, k key, code Code) {
	list := c.acks[k]
	for i, a := range list {
		if a.verb != verb {
			continue
		}
		if list = append(list[:i:i], list[i+1:]...); len(list) == 0 {
			delete(c.acks, k)
		} else {
			c.acks[k] = list
		}
		if !ends(verb) && !a.late {
			c.unacked--
		}
		c.marked = max(c.marked, a.total)
		a.done(code)
		return
	}
}

// forgetRsub forgets an RSUB that has ended before its answer, which never comes. It reports
// whether there was one.
func (c *conn) forgetRsub(k key) bool {
	i := slices.IndexFunc(c.acks[k], func(a *ack) bool { return a.verb == wire.VerbRsub })
	if i < 0 {
		return false
	}
	if !c.acks[k][i].late {
		c.unacked--
	}
	if c.acks[k] = slices.Delete(c.acks[k], i, i+1); len(c.acks[k]) == 0 {
		delete(c.acks, k)
	}
	return true
}

// ping sends a PING.
func (c *conn) ping(asked bool, done func(error)) {
	total, m := c.out.ping()
	before := total - uint64(wire.MessageWireLen([]byte(wire.LinePing)))
	c.pings = append(c.pings, &ping{sent: time.Now(), bytes: before - c.marked, total: total, mark: m, asked: asked, done: done})
	c.marked = total
}
