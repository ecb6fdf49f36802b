package sdk

import (
	"fmt"
	"slices"
	"strconv"
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
	Host host

	Ids             atomic.Int64
	Answers, Events *Mailbox

	mu      sync.Mutex
	feeds   map[string]*Mailbox // of subscriptions and presences, by their names
	history []string            // names of events
	heard   func(Report)        // gets all reports instead of the mailboxes; nil: nobody
	failed  error               // why nothing more comes
}

func NewClient(t *testing.T, name string, kind Kind, h host) *Client {
	return &Client{T: t, Name: name, Kind: kind, Host: h, Answers: NewMailbox(), Events: NewMailbox(), feeds: map[string]*Mailbox{}}
}

// Accept takes a report. It returns what is wrong with it, if it is about nothing.
func (c *Client) Accept(r Report) error {
	r.At = time.Now()
	c.mu.Lock()
	heard := c.heard
	feed := c.feeds[r.Sub+r.Watch]
	c.mu.Unlock()
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
	case "message", "subscriptionEnded", "presenceChange", "presenceEnded":
		if feed == nil {
			return fmt.Errorf("there is no subscription or presence %q", r.Sub+r.Watch)
		}
		feed.Put(r)
	default:
		c.mu.Lock()
		c.history = append(c.history, r.Event)
		c.mu.Unlock()
		c.Events.Put(r)
	}
	return nil
}

// Fail says why nothing more comes from the client.
func (c *Client) Fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.heard != nil {
		c.heard(Report{Event: "ended", Error: &Error{Code: "driver", Text: err.Error()}})
	}
	c.failed = err
	c.Answers.Fail(err)
	c.Events.Fail(err)
	for _, feed := range c.feeds {
		feed.Fail(err)
	}
}

// Feed is a new name for a subscription or a presence, and what it brings.
func (c *Client) Feed(prefix string) (name string, feed *Mailbox) {
	c.mu.Lock()
	defer c.mu.Unlock()
	name, feed = fmt.Sprintf("%s%d", prefix, len(c.feeds)), NewMailbox()
	c.feeds[name] = feed
	if c.failed != nil {
		feed.Fail(c.failed)
	}
	return name, feed
}

// Hear gives all that comes from now on to a function.
func (c *Client) Hear(heard func(Report)) {
	c.mu.Lock()
	defer c.mu.Unlock()
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

// Refused requires that a command fails with a code, and returns the error.
func (c *Client) Refused(command Command, code string) Error {
	c.T.Helper()
	_, err := c.Try(command)
	if err.ErrorCode() != code {
		c.T.Errorf("%s: %s: %v, want %s", c.Kind, command.Cmd, err, code)
	}
	if err == nil {
		return Error{}
	}
	return *err
}

// Publish publishes a message, and returns when the SDK has taken it.
func (c *Client) Publish(tenant, channel, payload string) {
	c.T.Helper()
	c.Must(Command{Cmd: "publish", Tenant: tenant, Channel: channel, Payload: []byte(payload)})
}

// Confirm publishes a message to a history, and returns its position.
func (c *Client) Confirm(tenant, channel, payload, key string) string {
	c.T.Helper()
	return c.Must(Command{Cmd: "publish", Tenant: tenant, Channel: channel, Payload: []byte(payload), Confirm: true, Key: key}).Position
}

func (c *Client) Flush() {
	c.T.Helper()
	c.Must(Command{Cmd: "flush"})
}

// Close closes the client.
func (c *Client) Close() {
	c.T.Helper()
	c.Must(Command{Cmd: "close"})
	_ = c.Ended("")
}

// Event awaits the next event with one of these names.
func (c *Client) Event(names ...string) Report {
	c.T.Helper()
	return c.EventThat(func(Report) bool { return true }, names...)
}

// EventThat awaits the next event with one of these names that is as wanted.
func (c *Client) EventThat(wanted func(Report) bool, names ...string) Report {
	c.T.Helper()
	r, ok := c.Events.Take(func(r Report) bool { return slices.Contains(names, r.Event) && wanted(r) })
	if !ok {
		c.T.Fatalf("%s: no event of %q %s; there were %v", c.Kind, names, c.Events.Why(), c.Events.Rest())
	}
	return r
}

// IsBack awaits the event of a new connection: after a loss, or in place of one that
// was suspect. A suspicion without a cause does not count.
func (c *Client) IsBack() Report {
	c.T.Helper()
	return c.EventThat(func(r Report) bool { return r.Away != 0 }, "reconnected", "recovered")
}

// Count is how many events with this name have come.
func (c *Client) Count(name string) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
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

// leave closes the client at the end of its test, before its edges and paths end, which would
// wait for it.
func (c *Client) leave() {
	id := int(c.Ids.Add(1))
	c.mu.Lock()
	heard := c.heard != nil
	c.mu.Unlock()
	if c.Host.Send(Command{ID: id, Client: c.Name, Cmd: "close"}) == nil && !heard {
		_, _ = c.Answers.Take(func(r Report) bool { return r.ID == id })
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

// Sub is a subscription of a client. Its methods are like the client's.
type Sub struct {
	C        *Client
	Name     string
	Messages *Mailbox // and the end
}

// Subscribe subscribes, and reads by iteration.
func (c *Client) Subscribe(tenant, pattern string) *Sub {
	c.T.Helper()
	return c.SubscribeAs("iterate", tenant, pattern, nil)
}

// From subscribes with a history.
func (c *Client) From(history any, tenant, pattern string) *Sub {
	c.T.Helper()
	return c.SubscribeAs("iterate", tenant, pattern, &Options{History: history})
}

// SubscribeAs reads in one of the modes of [Command].
func (c *Client) SubscribeAs(mode, tenant, pattern string, options *Options) *Sub {
	c.T.Helper()
	s, command := c.Subscription(mode, tenant, pattern, options)
	c.Must(command)
	return s
}

// Subscription is a new one, and the command that subscribes.
func (c *Client) Subscription(mode, tenant, pattern string, options *Options) (*Sub, Command) {
	name, feed := c.Feed("s")
	return &Sub{c, name, feed}, Command{Cmd: "subscribe", Sub: name, Mode: mode, Tenant: tenant, Pattern: pattern, Options: options}
}

// Do carries out a command of the subscription.
func (s *Sub) Do(cmd string) Report {
	s.C.T.Helper()
	return s.C.Must(Command{Cmd: cmd, Sub: s.Name})
}

// Next awaits the next message.
func (s *Sub) Next() Report {
	s.C.T.Helper()
	r, ok := s.Messages.Next()
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

// WantStored requires the messages whose payloads are the numbers from first on, with these
// positions.
func (s *Sub) WantStored(first int, positions ...string) {
	s.C.T.Helper()
	for i, position := range positions {
		if r := s.Next(); string(r.Payload) != strconv.Itoa(first+i) || r.Position != position {
			s.C.T.Fatalf("%s: got %q at %s, want %d at %s", s.C.Kind, r.Payload, r.Position, first+i, position)
		}
	}
}

// Until takes messages up to this one.
func (s *Sub) Until(payload string) {
	s.C.T.Helper()
	for string(s.Next().Payload) != payload {
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
