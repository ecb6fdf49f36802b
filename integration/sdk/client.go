package sdk

import (
	"fmt"
	"slices"
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

	Events *Mailbox // of the client

	ids     atomic.Int64 // of commands
	mu      sync.Mutex
	answers *Mailbox
	feeds   map[string]*Mailbox // of subscriptions and presences by their names; Events has none
}

func NewClient(t *testing.T, name string, kind Kind, h host) *Client {
	events := NewMailbox()
	feeds := map[string]*Mailbox{"": events}
	return &Client{T: t, Name: name, Kind: kind, Host: h, Events: events, answers: NewMailbox(), feeds: feeds}
}

// Accept takes a report. It returns what is wrong with it, if it is about nothing.
func (c *Client) Accept(r Report) error {
	r.At = time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	feed := c.feeds[r.Sub+r.Watch]
	switch {
	case r.Event == "answer" && int64(r.ID) > c.ids.Load():
		return fmt.Errorf("there was no command %d", r.ID)
	case r.Event == "answer":
		feed = c.answers
	case feed == nil:
		return fmt.Errorf("there is no subscription or presence %q", r.Sub+r.Watch)
	}
	feed.Put(r)
	return nil
}

// Fail says why nothing more comes from the client.
func (c *Client) Fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers.Fail(err)
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
	return name, feed
}

// Tell gives the client a command, and returns its id.
func (c *Client) Tell(command Command) (id int) {
	c.T.Helper()
	command.ID, command.Client = int(c.ids.Add(1)), c.Name
	if err := c.Host.Send(command); err != nil {
		c.T.Fatalf("%s: %s: %v", c.Kind, command.Cmd, err)
	}
	return command.ID
}

// Answer awaits that to the command with this id.
func (c *Client) Answer(id int, cmd string) Report {
	c.T.Helper()
	r, ok := c.answers.Take(func(r Report) bool { return r.ID == id })
	if !ok {
		c.T.Fatalf("%s: no answer to %s %s; events: %v", c.Kind, cmd, c.answers.Why(), c.Events.Rest())
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
	if err == nil || err.Code != code {
		c.T.Fatalf("%s: %s: %v, want %s", c.Kind, command.Cmd, err, code)
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

// Count is how many events have come that have one of these names.
func (c *Client) Count(names ...string) int { return c.Events.count(names) }

// Never requires that none of these events has come.
func (c *Client) Never(names ...string) {
	c.T.Helper()
	if n := c.Count(names...); n > 0 {
		c.T.Errorf("%s: %d events of %q: %v", c.Kind, n, names, c.Events.Rest())
	}
}

// leave closes the client at the end of its test, before its edges and paths end, which would
// wait for it.
func (c *Client) leave() {
	id := int(c.ids.Add(1))
	if c.Host.Send(Command{ID: id, Client: c.Name, Cmd: "close"}) == nil {
		_, _ = c.answers.Take(func(r Report) bool { return r.ID == id })
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
