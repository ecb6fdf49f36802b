package integration

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"maps"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/millrace/millrace/client"
)

// When one of two edges dies, its clients are at the other one soon: it refuses none of
// them, and those that were there before miss nothing.
func TestReconnectStorm(t *testing.T) {
	t.Parallel()
	n := soakCount(t, 100, 10_000)
	join := joining(startNATS(t, 1), "")[0]
	dies := startEdge(t, defaultCaddyfile, join)
	stays := startEdge(t, defaultCaddyfile, join, withMaster(dies))
	s := &storm{Dies: dies.httpsURL(""), Stays: stays.httpsURL(""), N: n}
	for _, e := range []*edge{dies, stays} {
		root, err := os.ReadFile(e.rootFile())
		if err != nil {
			t.Fatal(err)
		}
		s.Roots = append(s.Roots, root...)
	}
	for range s.most()/stormTogether + 1 {
		s.Tokens = append(s.Tokens, stays.issue(allowAll("room")).Token)
	}
	clients := startSubprocess(t, "TestStormProcess", s)
	clients.await("ready", 5*time.Minute)

	watch := &roomLoad{stop: make(chan struct{})}
	const watchers = 10
	outcomes := make(chan error, watchers+1)
	token := stays.issue(allowAll("room")).Token
	for range watchers {
		w := stays.dial(token)
		w.subscribe("paint.room", "watch")
		go func() { outcomes <- watch.follow(w.link) }() // ends with the last message, or the session
	}
	publisher := stays.dial(token)
	go func() { outcomes <- watch.publish(publisher.link, "watch") }() // ends with stop
	stays.poll("messages", func() bool { return watch.got.Load() > 20*watchers })

	before := stays.refusals()
	watch.reloading.Store(true) // what is counted apart
	dies.kill()
	clients.await("all are back", 5*time.Minute)
	watch.reloading.Store(false)
	if got := stays.refusals(); !maps.Equal(got, before) {
		t.Errorf("the edge that stays has refused handshakes: %v, and %v before", got, before)
	}
	after := watch.got.Load()
	stays.poll("messages after the storm", func() bool { return watch.got.Load() > after+20*watchers })
	close(watch.stop)
	for range watchers + 1 {
		if err := <-outcomes; err != nil {
			t.Error(err)
		}
	}
	clients.end("storm:")
	t.Logf("latency at the edge that stays, meanwhile: %v; before and after: %v", &watch.during, &watch.between)
}

// refusals is how many handshakes an edge has refused, by reason.
func (e *edge) refusals() map[string]float64 {
	e.t.Helper()
	n := map[string]float64{}
	for series, value := range e.metrics() {
		if reason, is := strings.CutPrefix(series, "millrace_handshakes_refused_total{"); is && value > 0 {
			n[reason] = value
		}
	}
	return n
}

// storm is clients of two edges, in a process of their own.
type storm struct {
	Dies, Stays string // the edges' URLs
	Roots       []byte
	Tokens      []string
	N           int // clients that the edge that dies must have

	t       *testing.T
	pool    *x509.CertPool
	options client.Options       // of each, beside what all have
	heard   func(client.Message) // by each
	clients []*client.Client

	mu     sync.Mutex
	atDies int
	lost   time.Time // when the first client lost its edge
	back   chan time.Duration
}

// stormTogether is how many clients connect at a time, with one token.
const stormTogether = 50

// most is how many clients there may be, until enough are at the edge that dies.
func (s *storm) most() int { return 3*s.N + stormTogether }

// TestStormProcess is the process of the clients.
func TestStormProcess(t *testing.T) {
	t.Parallel()
	s := &storm{t: t, pool: x509.NewCertPool()}
	if !isSubprocess(t, s) {
		return
	}
	s.pool.AppendCertsFromPEM(s.Roots)
	s.back = make(chan time.Duration, s.most())
	// This process has 10,000 clients, and little time for each.
	s.options = client.Options{OnEvent: s.event, PongTimeout: time.Minute}
	s.heard = func(client.Message) {}
	defer s.close()
	s.connect()
	fmt.Println("ready")
	var all latencies
	for all.total < s.N || all.total < s.had() {
		select {
		case took := <-s.back:
			all.add(took)
		case <-time.After(5 * time.Minute):
			t.Fatalf("only %d of %d clients are back", all.total, s.had())
		}
	}
	fmt.Printf("storm: %d clients lost their edge, %d had the other one; back after %v\nall are back\n", all.total, len(s.clients)-all.total, &all)
	awaitParent()
}

func (s *storm) close() {
	for _, c := range s.clients {
		_ = c.Close()
	}
}

// had is how many clients the edge that dies had.
func (s *storm) had() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.atDies
}

// connect opens connections, to whichever edge answers first, until the one that dies has
// enough.
func (s *storm) connect() {
	for _, token := range s.Tokens {
		if s.had() >= s.N {
			return
		}
		opened := make(chan *client.Client, stormTogether)
		for range stormTogether {
			go func() { opened <- s.one(token) }() // ends with the attempt
		}
		for range stormTogether {
			if c := <-opened; c != nil {
				s.clients = append(s.clients, c)
			}
		}
		if s.t.Failed() {
			s.t.FailNow()
		}
	}
	s.t.Fatalf("of %d clients, %d are at the edge that dies", len(s.clients), s.had())
}

func (s *storm) one(token string) *client.Client {
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	o := s.options
	o.Token, o.Transports, o.TLS = token, []client.Transport{client.WebSocket}, &tls.Config{RootCAs: s.pool}
	c, err := client.Connect(ctx, []string{s.Dies, s.Stays}, o)
	if err == nil {
		_, err = c.SubscribeFunc(ctx, "paint.room", "storm", s.heard)
	}
	if err != nil {
		s.t.Error(err)
		return nil
	}
	return c
}

func (s *storm) event(e client.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch e := e.(type) {
	case client.Connected:
		if e.Edge == s.Dies {
			s.atDies++
		}
	case client.Reconnected:
		s.back <- time.Since(s.lost)
	case client.Disconnected:
		if e.Edge != s.Dies {
			s.t.Errorf("a client has lost the edge that stays: %v", e.Err)
		}
		if s.lost.IsZero() {
			s.lost = time.Now()
		}
	case client.Closed:
		if e.Err != nil {
			s.t.Error(fmt.Errorf("a client has ended: %w", e.Err))
		}
	}
}
