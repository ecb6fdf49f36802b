package sdk

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Client is a client of an SDK. Its methods fail the test instead of returning
// errors, and may be called from the test's goroutine only.
type Client struct {
	T    *testing.T
	Name string
	Kind Kind
	Host sdkHost

	Ids             atomic.Int64
	Answers, Events *Mailbox
	Mu              sync.Mutex
	subs            map[string]*Sub
	Watches         map[string]*Watch
	history         []string     // names of events
	heard           func(Report) // gets all reports instead of the mailboxes; nil: nobody
	Failed          error        // why nothing more comes
}

// An sdkSub is a subscription of a client. Its methods are like the client's.
type Sub struct {
	C        *Client
	Name     string
	Messages *Mailbox // and the end
}

// accept takes a report. It returns what is wrong with it, if it is about nothing.
func (c *Client) accept(r Report) error {
	r.At = time.Now()
	c.Mu.Lock()
	heard := c.heard
	c.Mu.Unlock()
	if heard != nil {
		heard(r)
		return nil
	}
	switch r.Event {
	case "answer":
		if int64(r.ID) > c.Ids.Load() {
			return fmt.Errorf("there was no command %d", r.ID)
		}
		c.Answers.Put(r)
	case "message", "subscriptionEnded":
		c.Mu.Lock()
		s := c.subs[r.Sub]
		c.Mu.Unlock()
		if s == nil {
			return fmt.Errorf("there is no subscription %q", r.Sub)
		}
		s.Messages.Put(r)
	case "presenceChange", "presenceEnded":
		c.Mu.Lock()
		w := c.Watches[r.Watch]
		c.Mu.Unlock()
		if w == nil {
			return fmt.Errorf("there is no presence %q", r.Watch)
		}
		w.Changes.Put(r)
	default:
		c.Mu.Lock()
		c.history = append(c.history, r.Event)
		c.Mu.Unlock()
		c.Events.Put(r)
	}
	return nil
}

// Fail says why nothing more comes from the client.
func (c *Client) Fail(err error) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	if c.heard != nil {
		c.heard(Report{Event: "ended", Error: &Error{Code: "driver", Text: err.Error()}})
	}
	c.Failed = err
	c.Answers.Fail(err)
	c.Events.Fail(err)
	for _, s := range c.subs {
		s.Messages.Fail(err)
	}
	for _, w := range c.Watches {
		w.Changes.Fail(err)
	}
}

// Hear gives all that comes from now on to a function.
func (c *Client) Hear(heard func(Report)) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	c.heard = heard
}

// Tell gives the client a command, and returns its id.
func (c *Client) Tell(command Command) (id int) {
	c.T.Helper()
	command.ID, command.Client = int(c.Ids.Add(1)), c.Name
	if err := c.Host.Send(command); err != nil {
		c.T.Fatalf("%s: %s: %v", c.Kind, command.Cmd, err)
	}
	return command.ID
}

// Answer awaits that to the command with this id.
func (c *Client) Answer(id int, cmd string) Report {
	c.T.Helper()
	r, ok := c.Answers.Take(func(r Report) bool { return r.ID == id })
	if !ok {
		c.T.Fatalf("%s: no answer to %s %s; events: %v", c.Kind, cmd, c.Answers.Why(), c.Events.Rest())
	}
	return r
}

// Try carries out a command.
func (c *Client) Try(command Command) (Report, *Error) {
	c.T.Helper()
	r := c.Answer(c.Tell(command), command.Cmd)
	return r, r.Error
}

// Must carries out a command that succeeds.
func (c *Client) Must(command Command) Report {
	c.T.Helper()
	r, err := c.Try(command)
	if err != nil {
		c.T.Fatalf("%s: %s: %v; events: %v", c.Kind, command.Cmd, err, c.Events.Rest())
	}
	return r
}

// Subscribe subscribes, and reads by iteration.
func (c *Client) Subscribe(tenant, pattern string) *Sub {
	c.T.Helper()
	return c.SubscribeAs("iterate", tenant, pattern, nil)
}

// SubscribeAs reads in one of the modes of [sdkCommand].
func (c *Client) SubscribeAs(mode, tenant, pattern string, options *Options) *Sub {
	c.T.Helper()
	s, err := c.TrySubscribe(mode, tenant, pattern, options)
	if err != nil {
		c.T.Fatalf("%s: subscribe %s %s: %v; events: %v", c.Kind, tenant, pattern, err, c.Events.Rest())
	}
	return s
}

func (c *Client) TrySubscribe(mode, tenant, pattern string, options *Options) (*Sub, *Error) {
	c.T.Helper()
	s, command := c.Subscription(mode, tenant, pattern, options)
	_, err := c.Try(command)
	return s, err
}

// Subscription is a new one, and the command that subscribes.
func (c *Client) Subscription(mode, tenant, pattern string, options *Options) (*Sub, Command) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	s := &Sub{c, fmt.Sprintf("s%d", len(c.subs)), NewMailbox()}
	c.subs[s.Name] = s
	if c.Failed != nil {
		s.Messages.Fail(c.Failed)
	}
	return s, Command{Cmd: "subscribe", Sub: s.Name, Mode: mode, Tenant: tenant, Pattern: pattern, Options: options}
}

func (c *Client) Publish(tenant, channel, payload string) {
	c.T.Helper()
	c.Must(Command{Cmd: "publish", Tenant: tenant, Channel: channel, Payload: []byte(payload)})
}

func (c *Client) Flush() {
	c.T.Helper()
	c.Must(Command{Cmd: "flush"})
}

// Event awaits the next event with this name.
func (c *Client) Event(name string) Report {
	c.T.Helper()
	return c.EventThat(name, func(Report) bool { return true })
}

// EventThat awaits the next event with this name that is as wanted.
func (c *Client) EventThat(name string, wanted func(Report) bool) Report {
	c.T.Helper()
	r, ok := c.Events.Take(func(r Report) bool { return r.Event == name && wanted(r) })
	if !ok {
		c.T.Fatalf("%s: no event %s %s; there were %v", c.Kind, name, c.Events.Why(), c.Events.Rest())
	}
	return r
}

// EitherEvent awaits the next event with one of these names.
func (c *Client) EitherEvent(names ...string) Report {
	c.T.Helper()
	r, ok := c.Events.Take(func(r Report) bool { return slices.Contains(names, r.Event) })
	if !ok {
		c.T.Fatalf("%s: no event of %q %s; there were %v", c.Kind, names, c.Events.Why(), c.Events.Rest())
	}
	return r
}

// IsBack awaits the event of a new connection: after a loss, or in place of one that
// was suspect. A suspicion that was none does not count.
func (c *Client) IsBack() Report {
	c.T.Helper()
	r, ok := c.Events.Take(func(r Report) bool { return (r.Event == "reconnected" || r.Event == "recovered") && r.Away != 0 })
	if !ok {
		c.T.Fatalf("%s: no other connection %s; there were %v", c.Kind, c.Events.Why(), c.Events.Rest())
	}
	return r
}

// Count is how many events with this name have come.
func (c *Client) Count(name string) (n int) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	for _, event := range c.history {
		if event == name {
			n++
		}
	}
	return n
}

// Never requires that none of these events has come.
func (c *Client) Never(names ...string) {
	c.T.Helper()
	for _, name := range names {
		if n := c.Count(name); n > 0 {
			c.T.Errorf("%s: %d events %s: %v", c.Kind, n, name, c.Events.Rest())
		}
	}
}

// Ended requires that the client ends with this code, and that it says so alike
// everywhere; empty: without an error.
func (c *Client) Ended(code string) *Error {
	c.T.Helper()
	event, end := c.Event("closed"), c.Event("ended")
	if event.Error.ErrorCode() != code || end.Error.ErrorCode() != code {
		c.T.Errorf("%s: ended with the event %v and %v, want %q", c.Kind, event, end, code)
	}
	return end.Error
}

// Close closes the client.
func (c *Client) Close() {
	c.T.Helper()
	c.Must(Command{Cmd: "close"})
	_ = c.Ended("")
}

// Next awaits the next message.
func (s *Sub) Next() Report {
	s.C.T.Helper()
	r, ok := s.Messages.Take(func(Report) bool { return true })
	switch {
	case !ok:
		s.C.T.Fatalf("%s: no message %s; events: %v", s.C.Kind, s.Messages.Why(), s.C.Events.Rest())
	case r.Event != "message":
		s.C.T.Fatalf("%s: the subscription ended: %v", s.C.Kind, r.Error)
	}
	return r
}

// Want requires that the next message is this one; the order of the patterns is
// free.
func (s *Sub) Want(tenant, channel, payload, pattern string, patterns ...string) {
	s.C.T.Helper()
	r := s.Next()
	slices.Sort(r.Patterns)
	patterns = append(patterns, pattern)
	slices.Sort(patterns)
	if r.Tenant != tenant || r.Channel != channel || string(r.Payload) != payload || r.Pattern != pattern || !slices.Equal(r.Patterns, patterns) {
		s.C.T.Fatalf("%s: got tenant %q, channel %q, payload %s, pattern %q of %q; want %q, %q, %s, %q of %q", s.C.Kind,
			r.Tenant, r.Channel, Short(string(r.Payload)), r.Pattern, r.Patterns, tenant, channel, Short(payload), pattern, patterns)
	}
}

// WantEnd requires that the subscription ends with this code, after what was in
// its queue.
func (s *Sub) WantEnd(code string) {
	s.C.T.Helper()
	r, ok := s.Messages.Take(func(r Report) bool { return r.Event == "subscriptionEnded" })
	if !ok || r.Error.ErrorCode() != code {
		s.C.T.Errorf("%s: got %v, want that the subscription ends with %q", s.C.Kind, r, code)
	}
}

// WantNone requires that no further message has come.
func (s *Sub) WantNone() {
	s.C.T.Helper()
	for _, r := range s.Messages.Rest() {
		if r.Event == "message" {
			s.C.T.Errorf("%s: got %v, want nothing more", s.C.Kind, r)
		}
	}
}

// Short is a payload as tests show it.
func Short(payload string) string {
	if len(payload) > 40 {
		return fmt.Sprintf("%q… (%d bytes)", payload[:40], len(payload))
	}
	return fmt.Sprintf("%q", strings.ToValidUTF8(payload, "?"))
}
