package main

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	nats "github.com/nats-io/nats-server/v2/server"

	"github.com/millrace/millrace/internal/loadgen"
)

// The servers of the group hop beside the others: what it costs that publisher
// and subscribers are not at the same server.
const (
	// millraceNATS is one edge with `broker nats`, to which all clients connect.
	millraceNATS = "millrace-nats"
	// millraceHop is two edges that a nats-server connects. The measured process is the
	// edge of the subscribers.
	millraceHop = "millrace-hop"
)

// hopDriver connects the publisher to another server.
type hopDriver struct{ here, there loadgen.Driver }

// propagation is how long the subscriptions of one server take to be known at another.
const propagation = 300 * time.Millisecond

func (d hopDriver) Dial(ctx context.Context) (loadgen.Conn, error) { return d.here.Dial(ctx) }

// DialPublisher implements [loadgen.PublisherDialer].
func (d hopDriver) DialPublisher(ctx context.Context) (loadgen.Conn, error) {
	select {
	case <-time.After(propagation):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return d.there.Dial(ctx)
}

// hopCap is the cap of connections in the group hop, KB/s: a single subscriber would
// reach the usual one.
const hopCap = 1 << 20

// served is a server with all of its processes; the first is measured.
type served struct {
	*child
	beside []*child
}

func (s served) pids() []int {
	list := []int{s.pid()}
	for _, c := range s.beside {
		if c != s.child {
			list = append(list, c.pid())
		}
	}
	return list
}

func (s served) stop() {
	s.child.stop()
	for _, c := range s.beside {
		c.stop()
	}
}

// startHop starts a nats-server and one or two edges.
func (r *runner) startHop(ctx context.Context, server, transport string, o edgeOptions) (s served, to target, err error) {
	core, at, err := startServer(ctx, r.serving, natsCore, false)
	if err != nil {
		return s, to, err
	}
	s.beside = append(s.beside, core)
	defer func() {
		if err != nil {
			for _, c := range s.beside {
				c.stop()
			}
		}
	}()
	o.Broker = "nats " + at.URL
	edges := 1
	if server == millraceHop {
		edges = 2
	}
	var targets []target
	for range edges {
		e, err := r.startEdge(ctx, o)
		if err != nil {
			return s, to, err
		}
		s.beside = append(s.beside, e.child)
		t, err := e.reach(ctx, transport, tenant, 0, 0)
		if err != nil {
			return s, to, err
		}
		targets = append(targets, t)
	}
	to = targets[0]
	to.Server = server
	if edges == 2 {
		to.Publish = &targets[1]
	}
	s.child = s.beside[1]
	return s, to, nil
}

// servePair runs two nats-servers as one cluster.
func servePair(ctx context.Context, ready io.Writer) error {
	var pair []*nats.Server
	var urls []string
	for i := range 2 {
		o := &nats.Options{
			ServerName: fmt.Sprint("n", i),
			Cluster:    nats.ClusterOpts{Name: "pair", Host: "127.0.0.1", Port: nats.RANDOM_PORT},
			Websocket:  nats.WebsocketOpts{Host: "127.0.0.1", Port: nats.RANDOM_PORT, NoTLS: true},
		}
		for _, other := range pair {
			o.Routes = append(o.Routes, &url.URL{Scheme: "nats", Host: other.ClusterAddr().String()})
		}
		s, err := startNATS(o)
		if err != nil {
			return err
		}
		defer s.WaitForShutdown()
		defer s.Shutdown()
		pair = append(pair, s)
		urls = append(urls, s.WebsocketURL())
	}
	for end := time.Now().Add(waitTimeout); pair[0].NumRoutes() == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			return fmt.Errorf("the two nats-servers find no route")
		}
	}
	fmt.Fprintln(ready, strings.Join(urls, ","))
	<-ctx.Done()
	return nil
}
