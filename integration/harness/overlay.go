package harness

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/wire"
)

// NatsServer returns the path of nats-server, which is built at first use.
func NatsServer(t *testing.T) string {
	t.Helper()
	natsBuild.Do(func() { natsProgram = natstest.Build(t, Built) })
	return natsProgram
}

var (
	natsBuild   sync.Once
	natsProgram string
)

// StartNATS runs a cluster of NATS servers until the test ends. more are lines for the
// block of the cluster.
func StartNATS(t *testing.T, n int, more ...string) []*natstest.Node {
	t.Helper()
	return natstest.Processes(t, NatsServer(t), n, more...)
}

var overlays atomic.Int64

// Joining returns, for each node, the option of an edge that connects to it; these edges
// are one overlay, with one token store.
func Joining(nodes []*natstest.Node, more string) (list []Option) {
	var urls []string
	for _, node := range nodes {
		urls = append(urls, node.URL())
	}
	return JoiningBy(urls, len(nodes), more)
}

// JoiningBy is joining for edges with these URLs, each one or several, of so many nodes.
func JoiningBy(urls []string, nodes int, more string) (list []Option) {
	n := overlays.Add(1)
	for _, url := range urls {
		list = append(list, func(e *Edge) {
			e.Broker = fmt.Sprintf("nats %s {\nprefix o%d\n}", url, n)
			e.Store = fmt.Sprintf("nats %s {\nbucket o%d\nreplicas %d\n%s\n}", url, n, min(3, nodes), more)
		})
	}
	return list
}

// WithMaster gives an edge the master token of another one.
func WithMaster(of *Edge) Option {
	return func(e *Edge) {
		e.Master = of.Master
		e.Env[0] = of.Env[0]
	}
}

// Far is another edge of the overlay, from which a stage's publishers publish.
type Far struct {
	*Edge
	open        sync.Once
	here, there *Socket // on the stage's own edge, and on this one
	fences      int
}

const fenceTenant = "paint.fence"

// Connect opens the sessions by which the stage knows which messages have arrived. It is
// called only when a case needs them, since they count as sessions.
func (f *Far) Connect(c *Stage) {
	c.T.Helper()
	h := Handshake{Token: c.Issue(AllowAll("fence")).Token}
	f.here = c.accepted(c.Transport.TryOpen(c.Edge, h))
	f.there = c.accepted(c.Transport.TryOpen(f.Edge.With(c.T), h))
	f.here.Subscribe(fenceTenant, "to.here")
	f.there.Subscribe(fenceTenant, "to.there")
	f.pass(c.T, f.here, f.there, "to.there") // until each edge knows the other's subscription
	f.pass(c.T, f.there, f.here, "to.here")
}

// Leave ends the session of Connect at the stage's edge, for which a stop would wait.
func (f *Far) Leave(c *Stage) {
	c.T.Helper()
	must(c.T, f.here.Leave())
}

// pass returns when a message has arrived from one edge at the other: then so has
// everything that was sent before it, including subscriptions.
func (f *Far) pass(t *testing.T, from, to *Socket, channel string) {
	t.Helper()
	f.fences++
	mark := fmt.Sprint(f.fences)
	to.awaitPublished(t, mark, func() { from.Publish(fenceTenant, channel, mark) })
}

// awaitPublished publishes until a message with this payload comes: the first may find no
// subscriber.
func (s *Socket) awaitPublished(t *testing.T, payload string, publish func()) {
	t.Helper()
	arrived := make(chan error, 1)
	go func() { arrived <- s.untilPayload(payload) }() // ends with the message, or the link's timeout
	for {
		publish()
		select {
		case err := <-arrived:
			must(t, err)
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// untilPayload reads until a message with this payload.
func (s *Socket) untilPayload(payload string) error {
	for {
		_, frame, err := s.Read()
		if err != nil || string(PayloadOf(frame)) == payload {
			return err
		}
	}
}

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

// Session opens one at an edge, when that can check tokens: while the bucket has no leader, one that stood
// still cannot.
func (o *Overlay) Session(edge int) (s *Socket) {
	o.T.Helper()
	e := o.Edges[edge]
	e.Poll("an edge that checks tokens", func() bool {
		opened, a, err := e.TryOpen(Handshake{Token: o.Token})
		if err == nil && opened == nil && a.Status == http.StatusServiceUnavailable {
			return false
		}
		s = e.accepted(opened, a, err)
		return true
	})
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
	for from := range o.Edges {
		p, mark := o.Session(from), fmt.Sprintf("mark of %d", from)
		publish := func() { p.Publish("paint.room", channel, mark) }
		for _, there := range sessions {
			if len(there) > 0 {
				there[0].awaitPublished(o.T, mark, publish)
			}
		}
		mark = "last " + mark // after the others of this publisher
		publish()
		p.Ping()
		p.Close()
		for _, s := range slices.Concat(sessions...) {
			s.Must(s.untilPayload(mark))
		}
	}
	return sessions
}

func PayloadOf(frame []byte) []byte {
	d, err := wire.DecodeDeliver(frame)
	if err != nil {
		return nil
	}
	return d.Payload
}

// KillAndStart kills an edge, calls meanwhile, and starts it again on its data.
func (o *Overlay) KillAndStart(at int, caddyfile string, meanwhile func(), options ...Option) {
	o.T.Helper()
	gone := o.Edges[at]
	gone.Kill()
	meanwhile()
	o.Edges[at] = StartEdge(o.T, caddyfile, append([]Option{InDir(gone.Dir), Replacing(gone)}, options...)...)
}

// AwaitAll returns when all NATS servers answer again.
func (o *Overlay) AwaitAll(nodes ...*natstest.Node) {
	o.T.Helper()
	for _, node := range nodes {
		node.Await(o.T)
	}
}

// Replacing gives an edge the ports, the master token, the store and the broker of one that
// is gone.
func Replacing(gone *Edge) Option {
	return func(e *Edge) {
		WithMaster(gone)(e)
		e.Store, e.Broker, e.HTTP, e.HTTPS, e.Admin = gone.Store, gone.Broker, gone.HTTP, gone.HTTPS, gone.Admin
	}
}

// Replaced replaces pairs of texts, each of which must be there.
func Replaced(t *testing.T, text string, pairs ...string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("the guide has no %q in\n%s", pairs[i], text)
		}
		text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
	}
	return text
}

// Stamped is when a message was published, and when it came.
type Stamped struct {
	N    int
	Late time.Duration
}

// Stream publishes a number each few milliseconds at one edge, and notes what
// comes at others, until it is stopped.
type Stream struct {
	Stop  chan struct{}
	Sent  chan int
	Heard []chan []Stamped
}

const StreamEvery = 5 * time.Millisecond

// Stream publishes at one edge to sessions at others, each of which has a message when Stream
// returns.
func (o *Overlay) Stream(channel string, from int, to ...int) *Stream {
	o.T.Helper()
	counts := make([]int, len(o.Edges))
	for _, at := range to {
		counts[at]++
	}
	sessions := o.Spread(channel, channel, counts...)
	s := &Stream{Stop: make(chan struct{}), Sent: make(chan int, 1)}
	for _, at := range to {
		heard, begun := make(chan []Stamped, 1), make(chan struct{})
		s.Heard = append(s.Heard, heard)
		go func() { heard <- stampedUntilEnd(sessions[at][0].Link, sync.OnceFunc(func() { close(begun) })) }()
		defer func() { <-begun }()
	}
	p := o.Session(from)
	go func() { // ends with Stop
		tick := time.Tick(StreamEvery)
		for n := 0; ; n++ {
			text := "end"
			select {
			case <-s.Stop:
			case <-tick:
				text = fmt.Sprintf("%d %d", n, time.Now().UnixNano())
			}
			if p.Write(AsFrame, RawPublish("paint.room", channel, text)) != nil || text == "end" {
				s.Sent <- n
				return
			}
		}
	}()
	return s
}

// stampedUntilEnd reads until the end of a stream, of the session, or the link's timeout, and
// calls first after the first message, or the end.
func stampedUntilEnd(l Link, first func()) (list []Stamped) {
	defer first()
	for {
		_, frame, err := l.Read()
		text := string(PayloadOf(frame))
		if err != nil || text == "end" {
			return list
		}
		var sent int64
		var one Stamped
		if _, err := fmt.Sscanf(text, "%d %d", &one.N, &sent); err != nil {
			continue // one of Spread
		}
		one.Late = time.Since(time.Unix(0, sent))
		list = append(list, one)
		first()
	}
}

type listedEdge struct{ Host, Region string }

// Listed returns the edges that an edge lists.
func (o *Overlay) Listed(at int) []listedEdge {
	o.T.Helper()
	var got struct{ Edges []listedEdge }
	o.Edges[at].Rest("GET", "/edges", "", nil).Decode(o.T, http.StatusOK, &got)
	return got.Edges
}
