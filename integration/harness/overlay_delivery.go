package harness

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/wire"
)

// Overlay is three edges that NATS joins.
type Overlay struct {
	T     *testing.T
	Nodes []*natstest.Node
	Edges []*Edge
	Token string
}

// StartEdges starts edges that share their tokens.
func (o *Overlay) StartEdges(caddyfile string, joins []Option) {
	o.T.Helper()
	for i, join := range joins {
		options := []Option{join}
		if i > 0 {
			options = append(options, WithMaster(o.Edges[0]))
		}
		o.Edges = append(o.Edges, StartEdge(o.T, caddyfile, options...))
	}
}

// Session opens one at an edge.
func (o *Overlay) Session(edge int) *Socket {
	o.T.Helper()
	s, refused := o.Edges[edge].Open(Handshake{Token: o.Token})
	if s == nil {
		o.T.Fatalf("edge %d refused: %d %s", edge, refused.Status, refused.Body)
	}
	return s
}

// Spread opens sessions at edges, so many at each, that subscribe to a pattern,
// and returns when messages of every edge to a channel that it matches reach them.
func (o *Overlay) Spread(pattern, channel string, counts ...int) (sessions [][]*Socket) {
	o.T.Helper()
	for at, n := range counts {
		sessions = append(sessions, nil)
		for range n {
			s := o.Session(at)
			s.Subscribe("paint.room", pattern)
			sessions[at] = append(sessions[at], s)
		}
	}
	var publishers []*Socket
	for from := range o.Edges {
		p := o.Session(from)
		mark := fmt.Sprintf("mark of %d", from)
		for at := range sessions {
			if len(sessions[at]) == 0 {
				continue
			}
			first := sessions[at][0]
			arrived := make(chan error, 1)
			go func() { // ends with the message, or the link's timeout
				for {
					_, frame, err := first.Read()
					if err != nil || strings.HasSuffix(string(PayloadOf(frame)), mark) {
						arrived <- err
						return
					}
				}
			}()
			for done := false; !done; {
				p.Publish("paint.room", channel, mark)
				select {
				case err := <-arrived:
					o.Edges[at].Must(err)
					done = true
				case <-time.After(100 * time.Millisecond): // it may have found nobody
				}
			}
		}
		publishers = append(publishers, p)
	}
	for _, p := range publishers {
		p.Publish("paint.room", channel, lastMark) // behind its other marks
		p.Ping()
		p.Close()
	}
	for _, list := range sessions {
		for _, s := range list {
			for range o.Edges {
				s.untilPayload(lastMark)
			}
		}
	}
	return sessions
}

const lastMark = "the last mark"

// untilPayload reads until a message with this payload.
func (s *Socket) untilPayload(payload string) {
	s.T.Helper()
	for {
		kind, frame, err := s.Read()
		s.Must(err)
		if kind == AsFrame && string(PayloadOf(frame)) == payload {
			return
		}
	}
}

func PayloadOf(frame []byte) []byte {
	d, err := wire.DecodeDeliver(frame)
	if err != nil {
		return nil
	}
	return d.Payload
}

func (e *Edge) Must(err error) {
	e.T.Helper()
	if err != nil {
		e.T.Fatal(err)
	}
}
