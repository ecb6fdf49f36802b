package harness

import "testing"

// Transport is a way to open sessions.
type Transport struct {
	Name    string // as in the rights of tokens
	TryOpen func(e *Edge, h Handshake) (*Socket, Answer, error)
}

// Stage is where a case of the conformance suite plays: an edge, and how its
// clients reach it. Cases open sessions by its methods only.
type Stage struct {
	T *testing.T
	*Edge
	Transport
	Far *Far // nil: there is one edge alone
}

// Publisher opens the session of a client whose messages go to subscribers: at
// the other edge, if there is one.
func (c *Stage) Publisher(token string) *Socket {
	c.T.Helper()
	if c.Far == nil {
		return c.Dial(token)
	}
	c.Far.open.Do(func() { c.Far.Connect(c) })
	at := *c
	at.Edge = c.Far.Edge.With(c.T)
	return at.Dial(token)
}

// Subscriber opens the session of a client that gets a publisher's messages.
func (c *Stage) Subscriber(token string) *Socket {
	c.T.Helper()
	return c.Hearing(c.Dial(token))
}

// Hearing makes a session a subscriber's.
func (c *Stage) Hearing(s *Socket) *Socket {
	c.T.Helper()
	if c.Far != nil {
		c.Far.open.Do(func() { c.Far.Connect(c) })
		s.subscribed = func() { c.Far.pass(c.T, c.Far.here, c.Far.there, "to.there") }
	}
	return s
}

// Dial opens the session of a client that has no other to do with, with the
// token in a header, as a program does.
func (c *Stage) Dial(token string) *Socket {
	c.T.Helper()
	return c.MustOpen(Handshake{Token: token})
}

// DialBrowser opens a session as a browser does, with the token among the
// subprotocols.
func (c *Stage) DialBrowser(token string) *Socket {
	c.T.Helper()
	return c.MustOpen(Handshake{Protocols: []string{"llps.v1", "at." + token}})
}

func (c *Stage) MustOpen(h Handshake) *Socket {
	c.T.Helper()
	s := c.accepted(c.Transport.TryOpen(c.Edge, h))
	s.Ping() // the edge has all of the session now, the stream included
	return s
}

// Open opens a session; a refusal comes back as the answer.
func (c *Stage) Open(h Handshake) (*Socket, Answer) {
	c.T.Helper()
	return c.answered(c.Transport.TryOpen(c.Edge, h))
}

// Settle requires that nothing is on its way from the publisher to these
// subscribers any more.
func (c *Stage) Settle(publisher *Socket, subscribers ...*Socket) {
	c.T.Helper()
	publisher.Fence()
	if c.Far != nil && c.Far.here != nil {
		c.Far.pass(c.T, c.Far.there, c.Far.here, "to.here")
	}
	for _, s := range subscribers {
		s.Fence()
	}
}

// Room is a token for everything in the tenant paint.room.
func (c *Stage) Room() string {
	c.T.Helper()
	return c.Issue(AllowAll("room")).Token
}
