package integration

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// sdkClient is a client of an SDK. Its methods fail the test instead of returning
// errors, and may be called from the test's goroutine only.
type sdkClient struct {
	t    *testing.T
	name string
	kind sdkKind
	host sdkHost

	ids             atomic.Int64
	answers, events *mailbox
	mu              sync.Mutex
	subs            map[string]*sdkSub
	watches         map[string]*sdkWatch
	history         []string        // names of events
	heard           func(sdkReport) // gets all reports instead of the mailboxes; nil: nobody
	failed          error           // why nothing more comes
}

// An sdkSub is a subscription of a client. Its methods are like the client's.
type sdkSub struct {
	c        *sdkClient
	name     string
	messages *mailbox // and the end
}

// accept takes a report. It returns what is wrong with it, if it is about nothing.
func (c *sdkClient) accept(r sdkReport) error {
	r.At = time.Now()
	c.mu.Lock()
	heard := c.heard
	c.mu.Unlock()
	if heard != nil {
		heard(r)
		return nil
	}
	switch r.Event {
	case "answer":
		if int64(r.ID) > c.ids.Load() {
			return fmt.Errorf("there was no command %d", r.ID)
		}
		c.answers.put(r)
	case "message", "subscriptionEnded":
		c.mu.Lock()
		s := c.subs[r.Sub]
		c.mu.Unlock()
		if s == nil {
			return fmt.Errorf("there is no subscription %q", r.Sub)
		}
		s.messages.put(r)
	case "presenceChange", "presenceEnded":
		c.mu.Lock()
		w := c.watches[r.Watch]
		c.mu.Unlock()
		if w == nil {
			return fmt.Errorf("there is no presence %q", r.Watch)
		}
		w.changes.put(r)
	default:
		c.mu.Lock()
		c.history = append(c.history, r.Event)
		c.mu.Unlock()
		c.events.put(r)
	}
	return nil
}

// fail says why nothing more comes from the client.
func (c *sdkClient) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.heard != nil {
		c.heard(sdkReport{Event: "ended", Error: &sdkError{Code: "driver", Text: err.Error()}})
	}
	c.failed = err
	c.answers.fail(err)
	c.events.fail(err)
	for _, s := range c.subs {
		s.messages.fail(err)
	}
	for _, w := range c.watches {
		w.changes.fail(err)
	}
}

// hear gives all that comes from now on to a function.
func (c *sdkClient) hear(heard func(sdkReport)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heard = heard
}

// tell gives the client a command, and returns its id.
func (c *sdkClient) tell(command sdkCommand) (id int) {
	c.t.Helper()
	command.ID, command.Client = int(c.ids.Add(1)), c.name
	if err := c.host.send(command); err != nil {
		c.t.Fatalf("%s: %s: %v", c.kind, command.Cmd, err)
	}
	return command.ID
}

// answer awaits that to the command with this id.
func (c *sdkClient) answer(id int, cmd string) sdkReport {
	c.t.Helper()
	r, ok := c.answers.take(func(r sdkReport) bool { return r.ID == id })
	if !ok {
		c.t.Fatalf("%s: no answer to %s %s; events: %v", c.kind, cmd, c.answers.why(), c.events.rest())
	}
	return r
}

// try carries out a command.
func (c *sdkClient) try(command sdkCommand) (sdkReport, *sdkError) {
	c.t.Helper()
	r := c.answer(c.tell(command), command.Cmd)
	return r, r.Error
}

// must carries out a command that succeeds.
func (c *sdkClient) must(command sdkCommand) sdkReport {
	c.t.Helper()
	r, err := c.try(command)
	if err != nil {
		c.t.Fatalf("%s: %s: %v; events: %v", c.kind, command.Cmd, err, c.events.rest())
	}
	return r
}

// subscribe subscribes, and reads by iteration.
func (c *sdkClient) subscribe(tenant, pattern string) *sdkSub {
	c.t.Helper()
	return c.subscribeAs("iterate", tenant, pattern, nil)
}

// subscribeAs reads in one of the modes of [sdkCommand].
func (c *sdkClient) subscribeAs(mode, tenant, pattern string, options *sdkOptions) *sdkSub {
	c.t.Helper()
	s, err := c.trySubscribe(mode, tenant, pattern, options)
	if err != nil {
		c.t.Fatalf("%s: subscribe %s %s: %v; events: %v", c.kind, tenant, pattern, err, c.events.rest())
	}
	return s
}

func (c *sdkClient) trySubscribe(mode, tenant, pattern string, options *sdkOptions) (*sdkSub, *sdkError) {
	c.t.Helper()
	s, command := c.subscription(mode, tenant, pattern, options)
	_, err := c.try(command)
	return s, err
}

// subscription is a new one, and the command that subscribes.
func (c *sdkClient) subscription(mode, tenant, pattern string, options *sdkOptions) (*sdkSub, sdkCommand) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &sdkSub{c, fmt.Sprintf("s%d", len(c.subs)), newMailbox()}
	c.subs[s.name] = s
	if c.failed != nil {
		s.messages.fail(c.failed)
	}
	return s, sdkCommand{Cmd: "subscribe", Sub: s.name, Mode: mode, Tenant: tenant, Pattern: pattern, Options: options}
}

func (c *sdkClient) publish(tenant, channel, payload string) {
	c.t.Helper()
	c.must(sdkCommand{Cmd: "publish", Tenant: tenant, Channel: channel, Payload: []byte(payload)})
}

func (c *sdkClient) flush() {
	c.t.Helper()
	c.must(sdkCommand{Cmd: "flush"})
}

// event awaits the next event with this name.
func (c *sdkClient) event(name string) sdkReport {
	c.t.Helper()
	return c.eventThat(name, func(sdkReport) bool { return true })
}

// eventThat awaits the next event with this name that is as wanted.
func (c *sdkClient) eventThat(name string, wanted func(sdkReport) bool) sdkReport {
	c.t.Helper()
	r, ok := c.events.take(func(r sdkReport) bool { return r.Event == name && wanted(r) })
	if !ok {
		c.t.Fatalf("%s: no event %s %s; there were %v", c.kind, name, c.events.why(), c.events.rest())
	}
	return r
}

// eitherEvent awaits the next event with one of these names.
func (c *sdkClient) eitherEvent(names ...string) sdkReport {
	c.t.Helper()
	r, ok := c.events.take(func(r sdkReport) bool { return slices.Contains(names, r.Event) })
	if !ok {
		c.t.Fatalf("%s: no event of %q %s; there were %v", c.kind, names, c.events.why(), c.events.rest())
	}
	return r
}

// isBack awaits the event of a new connection: after a loss, or in place of one that
// was suspect. A suspicion that was none does not count.
func (c *sdkClient) isBack() sdkReport {
	c.t.Helper()
	r, ok := c.events.take(func(r sdkReport) bool { return (r.Event == "reconnected" || r.Event == "recovered") && r.Away != 0 })
	if !ok {
		c.t.Fatalf("%s: no other connection %s; there were %v", c.kind, c.events.why(), c.events.rest())
	}
	return r
}

// count is how many events with this name have come.
func (c *sdkClient) count(name string) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, event := range c.history {
		if event == name {
			n++
		}
	}
	return n
}

// never requires that none of these events has come.
func (c *sdkClient) never(names ...string) {
	c.t.Helper()
	for _, name := range names {
		if n := c.count(name); n > 0 {
			c.t.Errorf("%s: %d events %s: %v", c.kind, n, name, c.events.rest())
		}
	}
}

// ended requires that the client ends with this code, and that it says so alike
// everywhere; empty: without an error.
func (c *sdkClient) ended(code string) *sdkError {
	c.t.Helper()
	event, end := c.event("closed"), c.event("ended")
	if event.Error.ErrorCode() != code || end.Error.ErrorCode() != code {
		c.t.Errorf("%s: ended with the event %v and %v, want %q", c.kind, event, end, code)
	}
	return end.Error
}

// close closes the client.
func (c *sdkClient) close() {
	c.t.Helper()
	c.must(sdkCommand{Cmd: "close"})
	_ = c.ended("")
}

// next awaits the next message.
func (s *sdkSub) next() sdkReport {
	s.c.t.Helper()
	r, ok := s.messages.take(func(sdkReport) bool { return true })
	switch {
	case !ok:
		s.c.t.Fatalf("%s: no message %s; events: %v", s.c.kind, s.messages.why(), s.c.events.rest())
	case r.Event != "message":
		s.c.t.Fatalf("%s: the subscription ended: %v", s.c.kind, r.Error)
	}
	return r
}

// want requires that the next message is this one; the order of the patterns is
// free.
func (s *sdkSub) want(tenant, channel, payload, pattern string, patterns ...string) {
	s.c.t.Helper()
	r := s.next()
	slices.Sort(r.Patterns)
	patterns = append(patterns, pattern)
	slices.Sort(patterns)
	if r.Tenant != tenant || r.Channel != channel || string(r.Payload) != payload || r.Pattern != pattern || !slices.Equal(r.Patterns, patterns) {
		s.c.t.Fatalf("%s: got tenant %q, channel %q, payload %s, pattern %q of %q; want %q, %q, %s, %q of %q", s.c.kind,
			r.Tenant, r.Channel, short(string(r.Payload)), r.Pattern, r.Patterns, tenant, channel, short(payload), pattern, patterns)
	}
}

// wantEnd requires that the subscription ends with this code, after what was in
// its queue.
func (s *sdkSub) wantEnd(code string) {
	s.c.t.Helper()
	r, ok := s.messages.take(func(r sdkReport) bool { return r.Event == "subscriptionEnded" })
	if !ok || r.Error.ErrorCode() != code {
		s.c.t.Errorf("%s: got %v, want that the subscription ends with %q", s.c.kind, r, code)
	}
}

// wantNone requires that no further message has come.
func (s *sdkSub) wantNone() {
	s.c.t.Helper()
	for _, r := range s.messages.rest() {
		if r.Event == "message" {
			s.c.t.Errorf("%s: got %v, want nothing more", s.c.kind, r)
		}
	}
}

// short is a payload as tests show it.
func short(payload string) string {
	if len(payload) > 40 {
		return fmt.Sprintf("%q… (%d bytes)", payload[:40], len(payload))
	}
	return fmt.Sprintf("%q", strings.ToValidUTF8(payload, "?"))
}
