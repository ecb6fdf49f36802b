package pubsub

import (
	"time"

	"github.com/millrace/millrace/pubsub/hook"
	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

// command is a line about a subscription, its credit or about presence, with legal names.
type command struct {
	verb      wire.Verb
	key       subscriptionKey
	pattern   pattern.Pattern
	from      wire.From // of RSUB
	count     bool      // of WHO
	credit    uint64    // of CREDIT
	anyStream bool      // of UNSUB: carryOut decides about key.ownStream, after earlier commands
	allowed   bool      // by the token, whose rights do not change
	release   func()    // gives takeAsk back, while hooks are asked about the command
}

// queueKey is what commands are handled in order for: a pattern and, of presence, also what it is
// about.
type queueKey struct {
	tenant, pattern string
	presence        wire.Verb // VerbJoin or VerbWho; zero: subscriptions
}

func (c *command) queue() queueKey {
	key := queueKey{tenant: c.key.tenant, pattern: c.key.pattern}
	switch c.verb {
	case wire.VerbJoin, wire.VerbLeave:
		key.presence = wire.VerbJoin
	case wire.VerbWho, wire.VerbUnwho:
		key.presence = wire.VerbWho
	}
	return key
}

// cost is what a command that waits counts for, in bytes.
func (c *command) cost() int { return len(c.key.tenant) + len(c.key.pattern) + commandOverhead }

const (
	commandOverhead = 256 // bytes of a command beside its names: the parsed pattern, and bookkeeping

	// maxQueuedCommands is how many bytes of commands of a session wait, some 200 commands. Its
	// reader waits with a further one.
	maxQueuedCommands = 64 << 10
	// maxQueuedCommandsOfAll is how many bytes wait on an edge; for the share of a token see
	// takeShare.
	maxQueuedCommandsOfAll = 64 << 20
)

// commandQueues are the commands of a session that wait for hooks to decide about earlier ones.
// Guarded by Session.subscribing.
//
// A worker is a goroutine that asks hooks, one question at a time. It has one queue, until that is
// empty, and then takes the next of those that have no worker, or ends.
type commandQueues struct {
	queues  map[queueKey][]*command // those that have a worker, or wait for one
	waiting []queueKey              // for a worker
	workers int                     // at most hook.MaxAsked
	asking  int                     // questions that are under way
	size    int                     // bytes of what waits
	changed chan struct{}           // tells the reader that waits for room; has room for one
}

// handleCommand carries out a command or, if it has to wait for hooks, lets it wait: what follows on
// the connection waits only when there is no room for that, or for the share of a tenant. The reader
// calls it.
func (s *Session) handleCommand(c *command) {
	s.subscribing.Lock()
	defer s.subscribing.Unlock()
	for key := c.queue(); !s.Closing(); {
		busy := s.commands.has(key)
		switch {
		case busy:
		case !s.carryOut(c, &s.handling), s.startWorker(c):
			return
		}
		if s.queueCommand(key, c, busy) {
			return
		}
		s.chargeHandling(&s.handling) // and not the time that it waits
		changed := s.commands.changed
		s.subscribing.Unlock()
		select {
		case <-changed:
		case <-s.done:
		}
		s.subscribing.Lock()
	}
}

// carryOut carries out a command, unless it reports true: hooks have to be asked about it. The caller
// holds s.subscribing, without which carryOut waits for shares of tenants, and sees to it that no
// further command of the queue is carried out meanwhile. For since see beginHandling.
func (s *Session) carryOut(c *command, since *time.Duration) (ask bool) {
	if c.anyStream {
		c.key.ownStream = true
		c.key.ownStream = s.subscriptions[c.key] != nil
	}
	s.finishDeferred(c, since)
	switch {
	case s.Closing(), !s.prepare(c):
		return false
	case s.hooksDecide(c):
		return true
	}
	used, begun := s.beginHandling(since)
	s.paced(c.key.tenant, used, begun, func() {
		switch {
		case !s.prepare(c): // any more
		case s.hooksDecide(c): // since a reload
			ask = true
		default:
			s.begin(c)
		}
	})
	return ask
}

// prepare answers a command that changes nothing, and refuses what the token and the limits do not
// allow. It reports whether there is something left to begin; then it may be repeated, and is after
// each wait. The caller holds s.subscribing.
func (s *Session) prepare(c *command) bool {
	switch c.verb {
	case wire.VerbSub, wire.VerbUnsub:
		c.allowed = s.prepareSubscription(c)
	case wire.VerbRsub:
		c.allowed = s.prepareRsub(c)
	case wire.VerbCredit:
		s.addCredit(c)
		c.allowed = false
	default:
		c.allowed = s.preparePresence(c)
	}
	return c.allowed
}

// begin carries out what was just prepared. The caller has waited for the share of the tenant, and
// has held s.subscribing since before prepare.
func (s *Session) begin(c *command) {
	switch c.verb {
	case wire.VerbSub:
		s.subscribe(c.key, c.pattern)
	case wire.VerbUnsub:
		s.unsubscribe(c.key)
	case wire.VerbRsub:
		s.resubscribe(c.key, c.pattern, c.from)
	default:
		s.beginPresence(c)
	}
}

// beginPaced waits for the share of a tenant, which the client must have a right in. It reports false
// if the session ends meanwhile. The caller does not hold s.subscribing.
func (s *Session) beginPaced(tenant string, used, since time.Duration) (pace, bool) {
	return s.hub.beginPaced(s.payersFor(tenant), used, since, s.hub.now(), s.done)
}

// paced calls f once the share of a tenant allows it, which the client must have a right in, and
// charges it for what was used before, and the time since then, with what f takes. The caller holds
// s.subscribing, without which paced waits: a reload needs that of every session. So the caller looks
// again, in f, at what may have changed. F is not called if the session ends meanwhile.
func (s *Session) paced(tenant string, used, since time.Duration, f func()) {
	s.subscribing.Unlock()
	pace, ok := s.beginPaced(tenant, used, since)
	s.subscribing.Lock()
	if !ok {
		return
	}
	defer pace.end()
	if !s.Closing() {
		f()
	}
}

func (c *commandQueues) has(key queueKey) bool {
	if c == nil {
		return false
	}
	_, has := c.queues[key]
	return has
}

// questions are how many hooks are being asked.
func (c *commandQueues) questions() int {
	if c == nil {
		return 0
	}
	return c.asking
}

// startWorker has a command asked about, by a new worker if there may be one more. It reports false
// if the command has to wait for a worker. The caller holds s.subscribing.
func (s *Session) startWorker(c *command) bool {
	if s.commands == nil {
		s.commands = &commandQueues{queues: map[queueKey][]*command{}, changed: make(chan struct{}, 1)}
	}
	if s.commands.workers == hook.MaxAsked {
		return false
	}
	if s.startAsk(c) {
		s.commands.workers++
		s.commands.queues[c.queue()] = nil
		s.hub.Go(func() { s.runWorker(c) })
	}
	return true
}

// queueCommand lets a command wait, if there is room; busy: its queue has a worker, or waits for
// one already. The caller holds s.subscribing.
func (s *Session) queueCommand(key queueKey, c *command, busy bool) bool {
	q := s.commands
	if q.size+c.cost() > maxQueuedCommands || !s.takeCommandRoom(c.cost()) {
		return false
	}
	q.size += c.cost()
	q.queues[key] = append(q.queues[key], c)
	if !busy {
		q.waiting = append(q.waiting, key)
	}
	return true
}

// takeCommandRoom counts bytes of commands that wait for the edge, the token and its issuer, if they have room
// for them. Negative bytes give it back.
func (s *Session) takeCommandRoom(n int) bool {
	return s.hub.takeShare(s.token, dividedCommands, int64(n), maxQueuedCommandsOfAll)
}

// runWorker asks about a command, and then carries out what waits behind it and in queues without a
// worker. It ends soon after the session does.
func (s *Session) runWorker(c *command) {
	for key := c.queue(); c != nil; c = s.nextQuestion(&key) {
		refusal := s.askSubscribe(c)
		c.release()
		s.conclude(c, refusal)
	}
}

// nextQuestion carries out what waits, from the worker's queue on, until hooks have to be asked. It
// returns nil when nothing waits: the worker ends.
func (s *Session) nextQuestion(key *queueKey) *command {
	for {
		c, more := s.carryOutNext(key)
		if c != nil || !more {
			return c
		}
	}
}

// carryOutNext carries out one command, so that others who need the lock do not wait for all of
// them, or returns it if hooks have to be asked.
func (s *Session) carryOutNext(key *queueKey) (question *command, more bool) {
	s.subscribing.Lock()
	defer s.subscribing.Unlock()
	if s.Closing() {
		return nil, false
	}
	handling := s.hub.now()
	defer s.chargeHandling(&handling)
	c := s.nextCommand(key)
	switch {
	case c == nil:
		s.commands.workers--
		return nil, false
	case s.carryOut(c, &handling) && s.startAsk(c):
		return c, true
	}
	return nil, true
}

// nextCommand takes the next command of a worker, whose queue it changes when that is empty; nil:
// there is none. The caller holds s.subscribing.
func (s *Session) nextCommand(key *queueKey) *command {
	q := s.commands
	defer q.tellReader()
	if len(q.queues[*key]) == 0 {
		delete(q.queues, *key)
		if len(q.waiting) == 0 {
			return nil
		}
		*key = takeFirst(&q.waiting)
	}
	list := q.queues[*key]
	c := takeFirst(&list)
	q.queues[*key] = list
	q.size -= c.cost()
	s.takeCommandRoom(-c.cost())
	return c
}

func (c *commandQueues) tellReader() {
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// dropCommands forgets what waits when the session ends. The caller holds s.subscribing.
func (s *Session) dropCommands() {
	if s.commands != nil {
		s.takeCommandRoom(-s.commands.size)
		s.commands = nil
	}
}
