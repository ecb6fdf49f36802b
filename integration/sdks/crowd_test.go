package sdks

import (
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/sdk"
	"github.com/millrace/millrace/wire"
)

// stream publishes 0, 1, 2 and so on to a channel, until it is halted.
type stream struct {
	t      *testing.T
	socket *harness.Socket
	once   sync.Once
	stop   chan struct{}
	done   chan struct{}
	count  atomic.Int64
	err    error // of the end
}

// publish starts a stream at an edge.
func (s *stage) publish(at *harness.Edge, channel string) *stream {
	s.T.Helper()
	return s.publishAs(at, wire.Publish{Channel: []byte(channel)}, "")
}

// publishAs appends pad to each number.
func (s *stage) publishAs(at *harness.Edge, p wire.Publish, pad string) *stream {
	s.T.Helper()
	n := &stream{t: s.T, socket: at.Dial(s.Token()), stop: make(chan struct{}), done: make(chan struct{})}
	p.Tenant = []byte(s.Tenant)
	go func() { // ends with stop
		defer close(n.done)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for n.err == nil {
			p.Payload = append(strconv.AppendInt(nil, n.count.Load(), 10), pad...)
			if n.err = n.socket.Write(harness.AsFrame, wire.AppendPublish(nil, p)); n.err == nil {
				n.count.Add(1)
			}
			select {
			case <-n.stop:
				return
			case <-tick.C:
			}
		}
	}()
	s.T.Cleanup(func() { n.once.Do(func() { close(n.stop) }); <-n.done })
	return n
}

func (n *stream) sent() int { return int(n.count.Load()) }

// halt stops the publisher, and returns how many numbers the edge has accepted.
func (n *stream) halt() int {
	n.t.Helper()
	n.once.Do(func() { close(n.stop) })
	<-n.done
	if n.err != nil {
		n.t.Fatalf("the publisher: %v", n.err)
	}
	n.socket.Ping()
	return n.sent()
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

// meet connects a client of each kind, all to the first of the addresses.
func (s *stage) meet(kinds []sdk.Kind, options sdk.Options, addresses ...string) (all []*member) {
	s.T.Helper()
	for _, kind := range kinds {
		var c *sdk.Client
		for at := (sdk.Report{}); at.Transport != kind.Transport; {
			c = s.ClientOf(kind)
			options.Token = subject(s, c.Name, "").Token
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

func (m *member) take(r sdk.Report) {
	m.T.Helper()
	number, _, _ := strings.Cut(string(r.Payload), " ")
	i, err := strconv.Atoi(number)
	switch {
	case err != nil:
		m.T.Fatalf("%s: got %s, want a number", m.Kind, sdk.Short(string(r.Payload)))
	case m.seen[i]:
		m.T.Errorf("%s: %d came twice", m.Kind, i)
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
		m.take(m.sub.Next())
	}
}

// wantAll requires all numbers from the first that came to below the end, late or not, and no
// late ones of a client that has suspected nothing.
func (m *member) wantAll(end int) {
	m.T.Helper()
	for i := m.first; i < end; i++ {
		for !m.seen[i] {
			r, ok := m.sub.Messages.Next()
			if !ok || r.Event != "message" {
				m.T.Fatalf("%s: %v %s: of %d to %d, %d is missing, %d came in all, %d late; events: %v",
					m.Kind, r, m.sub.Messages.Why(), m.first, end-1, i, len(m.seen), m.late, m.Events.Rest())
			}
			m.take(r)
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
		m.take(m.sub.Next())
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
