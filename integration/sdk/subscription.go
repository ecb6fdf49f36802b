package sdk

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

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
	if !ok || r.Event != "message" {
		s.C.T.Fatalf("%s: no message %s, but %v; events: %v", s.C.Kind, s.Messages.Why(), r, s.C.Events.Rest())
	}
	return r
}

// Want requires that the next message is this one; the order of the patterns is
// free.
func (s *Sub) Want(tenant, channel, payload, pattern string, patterns ...string) {
	s.C.T.Helper()
	const form = "tenant %q, channel %q, payload %q, pattern %q of %q"
	r, all := s.Next(), append(patterns, pattern)
	slices.Sort(r.Patterns)
	slices.Sort(all)
	got := fmt.Sprintf(form, r.Tenant, r.Channel, r.Payload, r.Pattern, r.Patterns)
	if want := fmt.Sprintf(form, tenant, channel, payload, pattern, all); got != want {
		s.C.T.Fatalf("%s: got %s; want %s", s.C.Kind, Short(got), Short(want))
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
	if rest := s.Messages.Rest(); slices.ContainsFunc(rest, func(r Report) bool { return r.Event == "message" }) {
		s.C.T.Errorf("%s: got %v, want nothing more", s.C.Kind, rest)
	}
}

// Short is a text as tests show it.
func Short(text string) string {
	if len(text) > 200 {
		return fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(text[:200], "?"), len(text))
	}
	return text
}
