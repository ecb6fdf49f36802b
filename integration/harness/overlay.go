package harness

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/millrace/millrace/internal/natstest"
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
