package harness

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
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
	token := c.Issue(AllowAll("fence")).Token
	open := func(e *Edge) *Socket {
		s, refused, err := c.Transport.TryOpen(e, Handshake{Token: token})
		if err != nil || s == nil {
			c.T.Fatalf("no session on an edge of the overlay: %v %d %s", err, refused.Status, refused.Body)
		}
		s.T = c.T
		return s
	}
	f.here, f.there = open(c.Edge), open(f.Edge)
	f.here.Subscribe(fenceTenant, "to.here")
	f.there.Subscribe(fenceTenant, "to.there")
	f.pass(c.T, f.here, f.there, "to.there") // until each edge knows the other's subscription
	f.pass(c.T, f.there, f.here, "to.here")
}

// Leave ends the session of Connect at the stage's edge, for which a stop would wait.
func (f *Far) Leave(c *Stage) {
	c.T.Helper()
	if err := f.here.Leave(); err != nil {
		c.T.Fatal(err)
	}
}

// pass returns when a message has arrived from one edge at the other: then so has
// everything that was sent before it, including subscriptions.
func (f *Far) pass(t *testing.T, from, to *Socket, channel string) {
	t.Helper()
	f.fences++
	mark := fmt.Sprint(f.fences)
	arrived := make(chan error, 1)
	go func() { // ends with the message, or the link's timeout
		for {
			_, frame, err := to.Read()
			if err != nil || strings.Contains(string(frame), mark+"\x00") {
				arrived <- err
				return
			}
		}
	}()
	for {
		from.Publish(fenceTenant, channel, mark+"\x00")
		select {
		case err := <-arrived:
			if err != nil {
				t.Fatalf("no message came over the overlay: %v", err)
			}
			return
		case <-time.After(100 * time.Millisecond): // the first messages may find no subscriber
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
		e.Store, e.Broker = gone.Store, gone.Broker
		e.HTTP, e.HTTPS, e.Admin, e.Master, e.Env = gone.HTTP, gone.HTTPS, gone.Admin, gone.Master, slices.Clone(gone.Env[:1])
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

// Beat is a message that a listener of a stream does not count.
const Beat = "beat"

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
	var begun sync.WaitGroup
	for _, at := range to {
		heard := make(chan []Stamped, 1)
		s.Heard = append(s.Heard, heard)
		l := sessions[at][0].Link
		begun.Add(1)
		first := sync.OnceFunc(begun.Done)
		go func() { // ends with the end of the stream, the session, or the link's timeout
			defer first()
			var list []Stamped
			for {
				_, frame, err := l.Read()
				text := string(PayloadOf(frame))
				if err != nil || text == "end" {
					heard <- list
					return
				}
				if text == Beat {
					continue
				}
				number, at, _ := strings.Cut(text, " ")
				n, _ := strconv.Atoi(number)
				sent, _ := strconv.ParseInt(at, 10, 64)
				list = append(list, Stamped{n, time.Since(time.Unix(0, sent))})
				first()
			}
		}()
	}
	p := o.Session(from)
	go func() { // ends with stop
		tick := time.NewTicker(StreamEvery)
		defer tick.Stop()
		n := 0
		for ; ; n++ {
			text := "end"
			select {
			case <-s.Stop:
			case <-tick.C:
				text = fmt.Sprintf("%d %d", n, time.Now().UnixNano())
			}
			if p.Write(AsFrame, wire.AppendPublish(nil, wire.Publish{
				Tenant: []byte("paint.room"), Channel: []byte(channel), Payload: []byte(text),
			})) != nil || text == "end" {
				s.Sent <- n
				return
			}
		}
	}()
	begun.Wait()
	return s
}

type listedEdge struct{ Host, Region string }

// Listed returns the edges that an edge lists.
func (o *Overlay) Listed(at int) []listedEdge {
	o.T.Helper()
	answer := o.Edges[at].Do(Call{Method: "GET", URL: o.Edges[at].HttpURL("/edges")})
	var got struct{ Edges []listedEdge }
	answer.Decode(o.T, http.StatusOK, &got)
	return got.Edges
}
