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
	s := &storm{t: t, pool: x509.NewCertPool(), dies: dies, stays: stays, back: make(chan time.Duration, 4*n)}
	for _, e := range []*edge{dies, stays} {
		root, err := os.ReadFile(e.rootFile())
		if err != nil {
			t.Fatal(err)
		}
		s.pool.AppendCertsFromPEM(root)
	}
	s.connect(n)
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

	had := stays.refusals()
	watch.reloading.Store(true) // what is counted apart
	lost := s.kill()
	var all latencies
	for range lost {
		select {
		case took := <-s.back:
			all.add(took)
		case <-time.After(5 * time.Minute):
			t.Fatalf("only %d of %d clients are back", all.total, lost)
		}
	}
	watch.reloading.Store(false)
	if got := stays.refusals(); !maps.Equal(got, had) {
		t.Errorf("the edge that stays has refused handshakes: %v, and %v before", got, had)
	}
	after := watch.got.Load()
	stays.poll("messages after the storm", func() bool { return watch.got.Load() > after+20*watchers })
	close(watch.stop)
	for range watchers + 1 {
		if err := <-outcomes; err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d clients lost their edge, %d had the other one; back after %v", lost, len(s.clients)-lost, &all)
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

// storm is clients of two edges.
type storm struct {
	t           *testing.T
	pool        *x509.CertPool
	dies, stays *edge
	clients     []*client.Client

	mu     sync.Mutex
	atDies int
	killed time.Time
	back   chan time.Duration // since the kill, of each client that is back
}

// connect opens connections, to whichever edge answers first, until the one that dies has
// so many.
func (s *storm) connect(n int) {
	s.t.Helper()
	begin := time.Now()
	s.t.Cleanup(func() {
		for _, c := range s.clients {
			_ = c.Close()
		}
	})
	const together = 50
	for {
		s.mu.Lock()
		enough := s.atDies >= n
		s.mu.Unlock()
		switch {
		case enough:
			s.t.Logf("%d clients after %v", len(s.clients), time.Since(begin))
			return
		case len(s.clients) > 3*n+together:
			s.t.Fatalf("of %d clients, %d are at the edge that dies", len(s.clients), s.atDies)
		}
		token := s.stays.issue(allowAll("room")).Token
		opened := make(chan *client.Client, together)
		for range together {
			go func() { opened <- s.one(token) }() // ends with the attempt
		}
		for range together {
			if c := <-opened; c != nil {
				s.clients = append(s.clients, c)
			}
		}
		if s.t.Failed() {
			s.t.FailNow()
		}
	}
}

func (s *storm) one(token string) *client.Client {
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	c, err := client.Connect(ctx, []string{s.dies.httpsURL(""), s.stays.httpsURL("")}, client.Options{
		Token: token, Transports: []client.Transport{client.WebSocket}, TLS: &tls.Config{RootCAs: s.pool},
		OnEvent: s.event,
	})
	if err == nil {
		_, err = c.SubscribeFunc(ctx, "paint.room", "storm", func(client.Message) {})
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
		if e.Edge == s.dies.httpsURL("") {
			s.atDies++
		}
	case client.Reconnected:
		s.back <- time.Since(s.killed)
	case client.Disconnected:
		if e.Edge != s.dies.httpsURL("") {
			s.t.Errorf("a client has lost the edge that stays: %v", e.Err)
		}
	case client.Closed:
		if e.Err != nil {
			s.t.Error(fmt.Errorf("a client has ended: %w", e.Err))
		}
	}
}

// kill kills the edge, and returns how many clients it had.
func (s *storm) kill() int {
	s.t.Helper()
	s.mu.Lock()
	lost := s.atDies
	s.killed = time.Now()
	s.mu.Unlock()
	s.dies.kill()
	return lost
}
