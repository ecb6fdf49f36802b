package client

import (
	"cmp"
	"container/list"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

// Member is a subject that is present in a channel. Several sessions of a subject are one.
type Member struct {
	Channel string
	Subject string          // of the tokens that it joined with
	Info    json.RawMessage // of the token that it joined with last: a JSON object, for reading; nil: none
	Since   time.Time       // UTC
}

// ChangeType says what a [PresenceChange] is.
type ChangeType string

// The types of changes.
const (
	MemberJoined  ChangeType = "joined"
	MemberLeft    ChangeType = "left"
	MemberChanged ChangeType = "changed" // its Info or Since is another
	CountChanged  ChangeType = "counts"
)

// PresenceChange is a difference between what a reader of [Presence.Next] was told before and
// what is true now.
type PresenceChange struct {
	Type    ChangeType
	Member  Member // of one that has left as it was; empty with CountChanged
	Channel string
	Count   int // of CountChanged: how many members the channel has now
}

// PresenceOption changes what [Client.Presence] shows.
type PresenceOption func(*presenceOptions)

type presenceOptions struct{ count bool }

// WithCounts asks how many members there are and not who they are, which needs no more than
// the right to subscribe.
func WithCounts() PresenceOption { return func(o *presenceOptions) { o.count = true } }

// Presence shows who is present in the channels of a pattern. Its methods are safe for
// concurrent use.
type Presence struct {
	client *Client
	key    key
	count  bool
	view   *view         // set before Presence is returned
	wake   chan struct{} // there is something for Next

	// Below is guarded by view.mu.
	told     list.List // of *told: what there is to tell, and what the reader was told before; in order
	ofMember map[memberKey]*list.Element
	ofCount  map[string]*list.Element
	ended    bool
	discard  bool // nobody wants to be told any more
	err      error
}

// Presence watches who has joined the channels that the pattern matches, and returns when all
// of them are known. It goes on after each loss of the connection and in each move, without a
// change of nothing: what it shows then is compared with what it showed before. An empty
// tenant is "~". While there is no connection it waits for one. Those of a client with the same
// pattern are one on the edge. One without counts cannot be had beside one WithCounts that was
// there first.
//
// It needs the right to watch presence, or WithCounts the right to subscribe to the pattern.
// The errors are ErrBadTenant, ErrBadPattern, ErrBadOption, ErrNoPresence, also of an edge that
// knows nothing of presence, ErrPermissionDenied, ErrTooManySubscriptions, ErrTooManyPatterns,
// ErrTryLater, ErrTimeout or that of ctx, and what the client ended with, or ErrClosed.
func (c *Client) Presence(ctx context.Context, tenant, text string, opts ...PresenceOption) (*Presence, error) {
	if tenant == "" {
		tenant = wire.DefaultTenant
	}
	var o presenceOptions
	for _, opt := range opts {
		opt(&o)
	}
	if err := wire.CheckTenant(tenant); err != nil {
		return nil, nameError(err, Error{Tenant: tenant})
	}
	if _, err := pattern.Parse(text); err != nil {
		return nil, nameError(&wire.Error{Code: wire.CodeBadPattern, Reason: err.Error()}, Error{Tenant: tenant, Pattern: text})
	}
	p := newPresence(c, key{tenant, text}, o.count)
	k := standingKey{wire.VerbWho, p.key}
	err := c.stand(ctx, func(answer chan<- *Error) {
		c.addStanding(k, standingCall{answer, p}, func() *standing {
			return &standing{standingKey: k, count: o.count, view: newView()}
		}, func(s *standing) *Error {
			if s.count && !o.count {
				return s.refusal(CodeBadOption, "the client counts the members of this pattern already, and can only do that")
			}
			p.view = s.view
			return nil
		})
	}, func() { c.unwatch(p, func() {}) })
	if err == nil {
		return p, nil
	}
	return nil, p.about(err)
}

func newPresence(c *Client, k key, count bool) *Presence {
	return &Presence{
		client: c, key: k, count: count, wake: make(chan struct{}, 1),
		ofMember: map[memberKey]*list.Element{}, ofCount: map[string]*list.Element{},
	}
}

// about gives an error of a context the names that it is about.
func (p *Presence) about(err error) error {
	if e, ok := err.(*Error); ok && e.Code == CodeTimeout { //nolint:errorlint // stand returns nothing else
		e.Tenant, e.Pattern = p.key.tenant, p.key.pattern
	}
	return err
}

// Tenant returns the tenant; "~" if it was given empty.
func (p *Presence) Tenant() string { return p.key.tenant }

// Pattern returns the pattern as it was given.
func (p *Presence) Pattern() string { return p.key.pattern }

// Members returns who is present now, by channel and then by subject; nobody WithCounts. It is
// what the changes lead to that Next has yet to report. After the end it is what it was last.
func (p *Presence) Members() []Member {
	p.view.mu.Lock()
	defer p.view.mu.Unlock()
	if p.count {
		return nil
	}
	members := make([]Member, 0, len(p.view.shown.members))
	for _, m := range p.view.shown.members {
		members = append(members, *m)
	}
	slices.SortFunc(members, func(a, b Member) int {
		return cmp.Or(cmp.Compare(a.Channel, b.Channel), cmp.Compare(a.Subject, b.Subject))
	})
	return members
}

// Counts returns how many members each channel has that has any. While more changes than the
// edge can report, it may know more than Members.
func (p *Presence) Counts() map[string]int {
	p.view.mu.Lock()
	defer p.view.mu.Unlock()
	counts := make(map[string]int, len(p.view.shown.counts))
	for channel := range p.view.shown.counts {
		counts[channel] = p.view.shown.counts[channel]
	}
	for channel, n := range p.view.newest {
		if counts[channel] = n; n == 0 {
			delete(counts, channel)
		}
	}
	return counts
}

// Synced reports whether the edge keeps it up to date: it is false from the loss of the
// connection until another one has brought all there is.
func (p *Presence) Synced() bool {
	p.view.mu.Lock()
	defer p.view.mu.Unlock()
	return p.view.synced
}

// Next waits for a change, and returns it. The first ones are those after the members that
// were there when Presence returned. Changes that nobody has read are put together: of each
// member the difference between what the reader was told and what is true is told, if there is
// any. One goroutine reads at a time. When the presence has ended, Next returns what the reader
// has yet to be told, except after Close; then, and always after Close, the error that it has
// ended with, or ErrClosed.
func (p *Presence) Next(ctx context.Context) (PresenceChange, error) {
	for {
		change, ok, err := p.take()
		if ok || err != nil {
			return change, err
		}
		select {
		case <-p.wake:
		case <-ctx.Done():
			return PresenceChange{}, p.about(ended(ctx, "nothing has changed"))
		}
	}
}

// Close ends it. It returns when the edge has ended it, too, or there is no connection. One
// that has ended is no error.
func (p *Presence) Close(ctx context.Context) error {
	p.view.remove(p)
	return p.about(p.client.unstand(ctx, func(done func()) { p.client.unwatch(p, done) }))
}

// unwatch takes a presence out, and calls done when the edge has ended it, too.
func (c *Client) unwatch(p *Presence, done func()) {
	s := c.standings[standingKey{wire.VerbWho, p.key}]
	if s == nil || s.view != p.view {
		done()
		return
	}
	s.view.remove(p)
	s.waiting = slices.DeleteFunc(s.waiting, func(call standingCall) bool { return call.presence == p })
	if len(s.waiting) > 0 || s.view.hasReaders() {
		done()
		return
	}
	c.dropStanding(s, done)
}
