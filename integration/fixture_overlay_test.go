package integration

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/millrace/millrace/internal/natstest"
)

// natsServer returns the path of nats-server, which is built at first use.
func natsServer(t *testing.T) string {
	t.Helper()
	natsBuild.Do(func() { natsProgram = natstest.Build(t, built) })
	return natsProgram
}

var (
	natsBuild   sync.Once
	natsProgram string
)

// startNATS runs a cluster of NATS servers until the test ends. more are lines for the
// block of the cluster.
func startNATS(t *testing.T, n int, more ...string) []*natstest.Node {
	t.Helper()
	return natstest.Processes(t, natsServer(t), n, more...)
}

var overlays atomic.Int64

// joining returns, for each node, the option of an edge that connects to it; these edges
// are one overlay, with one token store.
func joining(nodes []*natstest.Node, more string) (list []option) {
	var urls []string
	for _, node := range nodes {
		urls = append(urls, node.URL())
	}
	return joiningBy(urls, len(nodes), more)
}

// joiningBy is joining for edges with these URLs, each one or several, of so many nodes.
func joiningBy(urls []string, nodes int, more string) (list []option) {
	n := overlays.Add(1)
	for _, url := range urls {
		list = append(list, func(e *edge) {
			e.Broker = fmt.Sprintf("nats %s {\nprefix o%d\n}", url, n)
			e.Store = fmt.Sprintf("nats %s {\nbucket o%d\nreplicas %d\n%s\n}", url, n, min(3, nodes), more)
		})
	}
	return list
}

// withMaster gives an edge the master token of another one.
func withMaster(of *edge) option {
	return func(e *edge) {
		e.master = of.master
		e.env[0] = of.env[0]
	}
}

// far is another edge of the overlay, from which a stage's publishers publish.
type far struct {
	*edge
	open        sync.Once
	here, there *socket // on the stage's own edge, and on this one
	fences      int
}

const fenceTenant = "paint.fence"

// connect opens the sessions by which the stage knows which messages have arrived. It is
// called only when a case needs them, since they count as sessions.
func (f *far) connect(c *stage) {
	c.t.Helper()
	token := c.issue(allowAll("fence")).Token
	open := func(e *edge) *socket {
		s, refused, err := c.transport.tryOpen(e, handshake{Token: token})
		if err != nil || s == nil {
			c.t.Fatalf("no session on an edge of the overlay: %v %d %s", err, refused.Status, refused.Body)
		}
		s.t = c.t
		return s
	}
	f.here, f.there = open(c.edge), open(f.edge)
	f.here.subscribe(fenceTenant, "to.here")
	f.there.subscribe(fenceTenant, "to.there")
	f.pass(c.t, f.here, f.there, "to.there") // until each edge knows the other's subscription
	f.pass(c.t, f.there, f.here, "to.here")
}

// pass returns when a message has arrived from one edge at the other: then so has
// everything that was sent before it, including subscriptions.
func (f *far) pass(t *testing.T, from, to *socket, channel string) {
	t.Helper()
	f.fences++
	mark := fmt.Sprint(f.fences)
	arrived := make(chan error, 1)
	go func() { // ends with the message, or the link's timeout
		for {
			_, frame, err := to.read()
			if err != nil || strings.Contains(string(frame), mark+"\x00") {
				arrived <- err
				return
			}
		}
	}()
	for {
		from.publish(fenceTenant, channel, mark+"\x00")
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
