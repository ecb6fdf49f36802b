package sdks

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/sdk"
)

// publish publishes 0, 1, 2 and so on to a channel at an edge, until it is halted. sent says how
// many were, halt how many the edge has accepted.
func (s *stage) publish(at *harness.Edge, channel string) (sent, halt func() int) {
	s.T.Helper()
	ctx, cancel := context.WithCancel(s.T.Context())
	socket, done, count := at.Dial(s.Token()), make(chan struct{}), new(atomic.Int64)
	go func() { // ends with the test, or halt
		defer close(done)
		for ctx.Err() == nil {
			if err := socket.Write(harness.AsFrame, harness.RawPublish(s.Tenant, channel, fmt.Sprint(count.Load()))); err != nil {
				s.T.Errorf("the publisher: %v", err)
				return
			}
			count.Add(1)
			select {
			case <-ctx.Done():
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	s.T.Cleanup(func() { cancel(); <-done })
	sent = func() int { return int(count.Load()) }
	return sent, func() int {
		cancel()
		<-done
		socket.Ping()
		return sent()
	}
}

// member is a client with a subscription to the channel n, which brings numbers: each once,
// and in order unless they are late.
type member struct {
	*sdk.Client
	sub *sdk.Sub

	seen        map[int]bool
	first, last int // of those in order
	late        int
}

func (s *stage) member(c *sdk.Client) *member {
	s.T.Helper()
	return &member{Client: c, sub: c.Subscribe(s.Tenant, "n"), seen: map[int]bool{}, first: -1, last: -1}
}

// impatient clients notice what is wrong within seconds, whether messages come or not.
var impatient = sdk.Options{KeepAlive: 2000, MaxBackOff: 500}

// meet connects a client of each of the stage's kinds, all to the first of the addresses.
func (s *stage) meet(options sdk.Options, addresses ...string) (all []*member) {
	s.T.Helper()
	for _, kind := range s.kinds {
		var c *sdk.Client
		for at := (sdk.Report{}); at.Transport != kind.Transport; {
			c = s.ClientOf(kind)
			c.Must(s.Connecting(kind, options, addresses...))
			if at = c.Event("connected"); at.Edge != addresses[0] || at.Transport != kind.Transport && len(options.Transports) < 2 {
				s.T.Fatalf("%s: got %v, want the edge %s", kind, at, addresses[0])
			}
			if at.Transport != kind.Transport { // which was too slow on a busy machine: the next one tries again
				c.Close()
			}
		}
		all = append(all, s.member(c))
	}
	return all
}

// take takes the next number.
func (m *member) take() {
	m.T.Helper()
	r := m.sub.Next()
	i, err := strconv.Atoi(string(r.Payload))
	switch {
	case err != nil || m.seen[i]:
		m.T.Fatalf("%s: got %v, want another number", m.Kind, r)
	case r.Late:
		m.late++
	case i < m.last:
		m.T.Errorf("%s: %d came after %d, and not as late", m.Kind, i, m.last)
	default:
		m.last = i
	}
	if m.first < 0 {
		m.first = i
	}
	m.seen[i] = true
}

// reach takes numbers up to this one.
func (m *member) reach(number int) {
	m.T.Helper()
	for m.last < number {
		m.take()
	}
}

// wantAll requires all numbers from the first that came to below the end, late or not, and no
// late ones of a client that has suspected nothing.
func (m *member) wantAll(end int) {
	m.T.Helper()
	for i := m.first; i < end; i++ {
		for !m.seen[i] {
			m.take()
		}
	}
	if m.wantOnce(); m.late > 0 && m.Count("suspect") == 0 {
		m.T.Errorf("%s: %d messages were late", m.Kind, m.late)
	}
}

// wantOnce requires that nothing of what is left came before.
func (m *member) wantOnce() {
	m.T.Helper()
	m.Flush()
	for len(m.sub.Messages.Rest()) > 0 {
		m.take()
	}
}

// gaps is in how many places numbers are missing.
func (m *member) gaps() (n int) {
	for i := m.first; i < m.last; i++ {
		if m.seen[i] && !m.seen[i+1] {
			n++
		}
	}
	return n
}
