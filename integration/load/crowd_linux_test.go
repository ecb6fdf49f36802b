package load

import (
	"context"
	"crypto/tls"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/integration/harness"
)

const (
	together = 50              // clients that connect at a time, with one token
	patience = 5 * time.Minute // bounds a wait for something that a load may take long to do
)

// crowd is clients of the Go SDK in a process of their own. They listen to room 0.
type crowd struct {
	Edges  []string // URLs; a client takes the edge that answers first
	Tokens []string
	N      int    // clients at the edge Leaves; there are more at the others
	Leaves string // the edge that dies or freezes
	Dies   bool

	await func(word string, within time.Duration) // the process to write a word
	end   func(lines string)                      // ends it, and logs lines with a text

	t       *testing.T
	got     atomic.Int64
	mu      sync.Mutex
	clients []*client.Client
	there   int             // clients that N counts
	lost    time.Time       // when the first one lost its edge
	back    []time.Duration // since then
}

// start starts the clients of these edges, and returns when they are connected.
func (c *crowd) start(t *testing.T, edges ...*harness.Edge) {
	t.Helper()
	for _, e := range edges {
		c.Edges = append(c.Edges, e.HttpsURL(""))
	}
	for range 3*c.N/together + 20 { // others are at the other edge
		c.Tokens = append(c.Tokens, edges[0].Issue(harness.AllowAll("room")).Token)
	}
	p := harness.StartSubprocess(t, "TestCrowdProcess", c)
	c.await, c.end = p.Await, p.End
	c.await("connected", patience)
}

// TestCrowdProcess is the process of a crowd. It says what has happened to the clients.
func TestCrowdProcess(t *testing.T) {
	t.Parallel()
	c := &crowd{t: t}
	if !harness.IsSubprocess(t, c) {
		return
	}
	defer func() {
		for _, one := range c.clients {
			_ = one.Close()
		}
	}()
	for batch := 0; c.there < c.N; batch++ {
		if batch == len(c.Tokens) || t.Failed() {
			t.Fatalf("of %d clients, %d are at %q", len(c.clients), c.there, c.Leaves)
		}
		var opening sync.WaitGroup
		for range min(together, c.N-c.there) {
			opening.Go(func() { c.connect(c.Tokens[batch]) })
		}
		opening.Wait()
	}
	fmt.Println("connected")
	for what, is := range map[string]func() bool{
		"all know how often messages come": func() bool { return c.got.Load() > int64(20*len(c.clients)) },
		"all are back":                     func() bool { return len(c.back) >= c.there },
	} {
		go func() { // ends with the process
			for so := false; !so; time.Sleep(10 * time.Millisecond) { // of thousands of clients; no single event ends it
				c.mu.Lock()
				so = is()
				c.mu.Unlock()
			}
			fmt.Println(what)
		}()
	}
	harness.AwaitParent()
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Printf("crowd: %d clients\n", len(c.clients))
	if n := len(c.back); n > 0 { // in the order of time
		fmt.Printf("crowd: half are back after %v, all after %v\n", c.back[n/2], c.back[n-1])
	}
}

func (c *crowd) connect(token string) {
	ctx, cancel := context.WithTimeout(c.t.Context(), patience)
	defer cancel()
	one, err := client.Connect(ctx, c.Edges, client.Options{ // the process has many clients, and little time for each
		Token: token, Transports: []client.Transport{client.WebSocket}, TLS: &tls.Config{InsecureSkipVerify: true},
		PongTimeout: time.Minute, ConnectTimeout: time.Minute, OnEvent: c.event,
	})
	if err != nil {
		c.t.Error(err)
		return
	}
	c.mu.Lock()
	c.clients = append(c.clients, one)
	if one.Edge() == c.Leaves {
		c.there++
	}
	c.mu.Unlock()
	_, err = one.SubscribeFunc(ctx, tenant, room(0), func(client.Message) { c.got.Add(1) })
	if err != nil {
		c.t.Error(err)
	}
}

func (c *crowd) event(e client.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch e := e.(type) {
	case client.Closed:
		if e.Err != nil {
			c.t.Errorf("a client has ended: %v", e.Err)
		}
	case client.Disconnected:
		if !c.Dies || e.Edge != c.Leaves {
			c.t.Errorf("a client has lost %s, which did not die: %v", e.Edge, e.Err)
		}
		if c.lost.IsZero() {
			c.lost = time.Now()
		}
	case client.Reconnected:
		c.back = append(c.back, time.Since(c.lost))
	}
}
