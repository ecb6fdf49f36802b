package load

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
	"github.com/millrace/millrace/integration/harness"
)

// When one of two edges dies, its clients are at the other one soon: it refuses none of
// them, and those that were there before miss nothing.
func TestReconnectStorm(t *testing.T) {
	t.Parallel()
	n := harness.SoakCount(t, 100, 10_000)
	join := harness.Joining(harness.StartNATS(t, 1), "")[0]
	dies := harness.StartEdge(t, harness.DefaultCaddyfile, join)
	stays := harness.StartEdge(t, harness.DefaultCaddyfile, join, harness.WithMaster(dies))
	s := &storm{Dies: dies.HttpsURL(""), Stays: stays.HttpsURL(""), N: n}
	for _, e := range []*harness.Edge{dies, stays} {
		root, err := os.ReadFile(e.RootFile())
		if err != nil {
			t.Fatal(err)
		}
		s.Roots = append(s.Roots, root...)
	}
	for range s.most()/stormTogether + 1 {
		s.Tokens = append(s.Tokens, stays.Issue(harness.AllowAll("room")).Token)
	}
	clients := harness.StartSubprocess(t, "TestStormProcess", s)
	clients.Await("ready", 5*time.Minute)

	watch := &roomLoad{stop: make(chan struct{})}
	const watchers = 10
	outcomes := make(chan error, watchers+1)
	token := stays.Issue(harness.AllowAll("room")).Token
	for range watchers {
		w := stays.Dial(token)
		w.Subscribe("paint.room", "watch")
		go func() { outcomes <- watch.follow(w.Link) }() // ends with the last message, or the session
	}
	publisher := stays.Dial(token)
	go func() { outcomes <- watch.Publish(publisher.Link, "watch") }() // ends with stop
	stays.Poll("messages", func() bool { return watch.got.Load() > 20*watchers })

	before := refusals(stays)
	watch.reloading.Store(true) // what is counted apart
	dies.Kill()
	clients.Await("all are back", 5*time.Minute)
	watch.reloading.Store(false)
	if got := refusals(stays); !maps.Equal(got, before) {
		t.Errorf("the edge that stays has refused handshakes: %v, and %v before", got, before)
	}
	after := watch.got.Load()
	stays.Poll("messages after the storm", func() bool { return watch.got.Load() > after+20*watchers })
	close(watch.stop)
	for range watchers + 1 {
		if err := <-outcomes; err != nil {
			t.Error(err)
		}
	}
	clients.End("storm:")
	t.Logf("latency at the edge that stays, meanwhile: %v; before and after: %v", &watch.during, &watch.between)
}

// refusals is how many handshakes an edge has refused, by reason.
func refusals(e *harness.Edge) map[string]float64 {
	e.T.Helper()
	n := map[string]float64{}
	for series, value := range e.Metrics() {
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
	if !harness.IsSubprocess(t, s) {
		return
	}
	s.pool.AppendCertsFromPEM(s.Roots)
	s.back = make(chan time.Duration, s.most())
	// This process has 10,000 clients, and little time for each.
	s.options = client.Options{OnEvent: s.Event, PongTimeout: time.Minute}
	s.heard = func(client.Message) {}
	defer s.Close()
	s.Connect()
	fmt.Println("ready")
	var all latencies
	for all.total < s.N || all.total < s.had() {
		select {
		case took := <-s.back:
			all.Add(took)
		case <-time.After(5 * time.Minute):
			t.Fatalf("only %d of %d clients are back", all.total, s.had())
		}
	}
	fmt.Printf("storm: %d clients lost their edge, %d had the other one; back after %v\nall are back\n", all.total, len(s.clients)-all.total, &all)
	harness.AwaitParent()
}

func (s *storm) Close() {
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

// Connect opens connections, to whichever edge answers first, until the one that dies has
// enough.
func (s *storm) Connect() {
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

func (s *storm) Event(e client.Event) {
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
