package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/integration/harness"
)

// rollingCrowd is clients of edges that are replaced, in a process of their own.
type rollingCrowd struct {
	Edges         []string // URLs
	Roots         []byte
	Master        string
	Tokens        []string // one for each rollingTogether clients
	N, Publishers int
	Every         time.Duration // between two messages of a publisher

	t   *testing.T
	tls *tls.Config

	mu    sync.Mutex
	moves int
}

// rollingTogether is how many clients connect at a time, with one token.
const rollingTogether = 50

// heardNumbers are what a subscriber has got of a publisher.
type heardNumbers struct {
	first int // -1: nothing yet
	last  int
	got   map[int]heardNumber
}

// heardNumber is a number that has come.
type heardNumber struct {
	at    time.Time
	noted bool // by the SDK, which knows a copy for a second at least
}

// rollingSubscriber is a client that hears all publishers.
type rollingSubscriber struct {
	client *client.Client
	mu     sync.Mutex
	of     []heardNumbers
	faults []string  // a few
	copies int       // of what the SDK does not promise to know
	moving time.Time // since when; zero: it does not move
}

// surelyMoving is how long after the event of a move a message comes that the SDK has read
// after the move began: events and messages come by different goroutines.
const surelyMoving = 200 * time.Millisecond

// TestRollingUpgradeProcess is the process of the clients.
func TestRollingUpgradeProcess(t *testing.T) {
	t.Parallel()
	c := &rollingCrowd{t: t}
	if !harness.IsSubprocess(t, c) {
		return
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(c.Roots)
	c.tls = &tls.Config{RootCAs: pool}
	subscribers := c.subscribers()
	stop := make(chan struct{})
	published := make([]chan int, c.Publishers)
	for i := range published {
		published[i] = make(chan int, 1)
		p := c.Connect(c.N+i, c.Event)
		go func() { published[i] <- c.Publish(p, i, stop) }() // ends with stop
	}
	end := time.Now().Add(2 * time.Minute)
	for _, s := range subscribers {
		s.Await(c.t, end, "a message of each publisher", func(_ int, n *heardNumbers) bool { return n.first >= 0 })
	}
	operations := make(chan string, 1)
	go func() { operations <- c.operate(stop) }() // ends with stop
	fmt.Println("ready")
	harness.AwaitParent()
	close(stop)
	totals := make([]int, c.Publishers)
	for i := range totals {
		totals[i] = <-published[i]
	}
	received, copies := 0, 0
	end = time.Now().Add(2 * time.Minute)
	for _, s := range subscribers {
		s.Await(c.t, end, "the last message of each publisher", func(i int, n *heardNumbers) bool { return n.last == totals[i]-1 })
		received += s.Check(c.t, totals)
		copies += s.copies
	}
	if c.moves < c.N { // each edge was replaced, so each client has left one at least
		t.Errorf("%d clients have moved %d times", c.N, c.moves)
	}
	fmt.Printf("upgrade: %d clients got %d messages of %v, with %d moves: none lost, all in order unless said otherwise; %d came twice, from just before a move or more than a second apart\nupgrade: %s\n",
		c.N, received, totals, c.moves, copies, <-operations)
}

// Connect connects the client with a number, which is closed when the test ends. Some use
// WebTransport.
func (c *rollingCrowd) Connect(number int, event func(client.Event)) *client.Client {
	ctx, cancel := context.WithTimeout(c.t.Context(), 2*time.Minute)
	defer cancel()
	transport := client.WebSocket
	if number%5 == 0 {
		transport = client.WebTransport
	}
	// This process has very many clients, and little time for each.
	opened, err := client.Connect(ctx, c.Edges, client.Options{
		Token: c.Tokens[number/rollingTogether], Transports: []client.Transport{transport}, TLS: c.tls, PongTimeout: time.Minute,
		ConnectTimeout: time.Minute, OnEvent: event,
	})
	if err != nil {
		c.t.Error(err)
		return nil
	}
	c.t.Cleanup(func() { _ = opened.Close() })
	return opened
}

func (c *rollingCrowd) Event(e client.Event) {
	switch e := e.(type) {
	case client.Moved:
		c.mu.Lock()
		c.moves++
		c.mu.Unlock()
	case client.Disconnected:
		c.t.Errorf("a client has lost its connection to %s: %v", e.Edge, e.Err)
	case client.PublishError:
		c.t.Errorf("a publish was refused: %s", e.Code)
	case client.SlowConsumer, client.QueueFull:
		c.t.Errorf("messages were dropped: %+v", e)
	case client.Closed:
		if e.Err != nil {
			c.t.Errorf("a client has ended: %v", e.Err)
		}
	}
}

func (c *rollingCrowd) subscribers() []*rollingSubscriber {
	list := make([]*rollingSubscriber, c.N)
	for begin := 0; begin < c.N; begin += rollingTogether {
		var opening sync.WaitGroup
		for i := begin; i < min(begin+rollingTogether, c.N); i++ {
			opening.Go(func() { list[i] = c.Subscriber(i) })
		}
		opening.Wait()
		if c.t.Failed() {
			c.t.FailNow()
		}
	}
	return list
}

func (c *rollingCrowd) Subscriber(number int) *rollingSubscriber {
	s := &rollingSubscriber{of: make([]heardNumbers, c.Publishers)}
	s.client = c.Connect(number, func(e client.Event) {
		s.Event(e)
		c.Event(e)
	})
	if s.client == nil {
		return nil
	}
	for i := range s.of {
		s.of[i] = heardNumbers{first: -1, last: -1, got: map[int]heardNumber{}}
	}
	ctx, cancel := context.WithTimeout(c.t.Context(), 2*time.Minute)
	defer cancel()
	if _, err := s.client.SubscribeFunc(ctx, "paint.room", "n.*", s.Take); err != nil {
		c.t.Error(err)
	}
	return s
}

// Event notes when a move begins and ends.
func (s *rollingSubscriber) Event(e client.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch e.(type) {
	case client.Moving:
		s.moving = time.Now()
	case client.Moved:
		s.moving = time.Time{}
	}
}

// Take takes a number of a publisher.
func (s *rollingSubscriber) Take(m client.Message) {
	i, errI := strconv.Atoi(strings.TrimPrefix(m.Channel, "n."))
	number, err := strconv.Atoi(string(m.Payload))
	s.mu.Lock()
	defer s.mu.Unlock()
	n := &s.of[i]
	switch {
	case errI != nil || err != nil:
		s.fault("%s %s came", m.Channel, m.Payload)
	case !n.got[number].at.IsZero():
		// What came before a move began has no note (docs/decisions/0008-clients.md).
		if behind := time.Since(n.got[number].at); n.got[number].noted && behind < time.Second {
			s.fault("%s %d came twice, %v after the first time", m.Channel, number, behind)
		}
		s.copies++
		return
	case number < n.last && !m.Late:
		s.fault("%s %d came after %d", m.Channel, number, n.last)
	}
	if n.first < 0 {
		n.first = number
	}
	n.last = max(n.last, number)
	n.got[number] = heardNumber{time.Now(), !s.moving.IsZero() && time.Since(s.moving) > surelyMoving}
}

// fault notes what is wrong. The caller holds s.mu.
func (s *rollingSubscriber) fault(format string, args ...any) {
	if len(s.faults) < 5 {
		s.faults = append(s.faults, fmt.Sprintf(format, args...))
	}
}

// Await waits until something is so for each publisher, until end at most.
func (s *rollingSubscriber) Await(t *testing.T, end time.Time, what string, is func(publisher int, n *heardNumbers) bool) {
	all := func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		for i := range s.of {
			if !is(i, &s.of[i]) {
				return false
			}
		}
		return true
	}
	for ; !all(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Errorf("%s has not got %s", s.client.Edge(), what)
			return
		}
	}
}

// Check requires all numbers from the first that came on, and returns how many they are.
func (s *rollingSubscriber) Check(t *testing.T, totals []int) (received int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, n := range s.of {
		received += len(n.got)
		if lost := totals[i] - n.first - len(n.got); lost != 0 {
			t.Errorf("%s has got %d messages of n.%d, from %d on, of %d: %d are lost", s.client.Edge(), len(n.got), i, n.first, totals[i], lost)
		}
	}
	for _, f := range s.faults {
		t.Error(f)
	}
	return received
}

// Publish publishes numbers until stop is closed, and returns how many.
func (c *rollingCrowd) Publish(p *client.Client, i int, stop <-chan struct{}) (n int) {
	if p == nil {
		return 0
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	tick := time.NewTicker(c.Every)
	defer tick.Stop()
	for ; ; n++ {
		select {
		case <-tick.C:
		case <-stop:
			if err := p.Flush(ctx); err != nil {
				c.t.Error(err)
			}
			return n
		}
		if err := p.Publish(ctx, "paint.room", "n."+strconv.Itoa(i), strconv.AppendInt(nil, int64(n), 10)); err != nil {
			c.t.Error(err)
			return n
		}
	}
}

// operate issues, refreshes and revokes tokens, each at another edge than the step before,
// until stop is closed. An edge that stops may not answer: then the next one must.
func (c *rollingCrowd) operate(stop <-chan struct{}) (summary string) {
	var admins []*client.TokenAdmin
	for _, url := range c.Edges {
		a, err := client.NewTokenAdmin(url, c.Master, client.WithTLS(c.tls))
		if err != nil {
			c.t.Error(err)
			return ""
		}
		admins = append(admins, a)
	}
	var slowest time.Duration
	tokens, calls, elsewhere := 0, 0, 0
	at := func(turn int, call func(context.Context, *client.TokenAdmin) error) error {
		began := time.Now()
		defer func() { slowest = max(slowest, time.Since(began)) }()
		for try := 0; ; try++ {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			err := call(ctx, admins[(turn+try)%len(admins)])
			cancel()
			calls++
			var answer *client.Error
			if try == len(admins)-1 || !errors.Is(err, client.ErrUnreachable) && !(errors.As(err, &answer) && answer.Status == 503) {
				return err
			}
			elsewhere++
		}
	}
	for ; ; tokens++ {
		select {
		case <-stop:
			return fmt.Sprintf("%d tokens were issued, refreshed and revoked, each at three edges, by %d calls, %d of them at an edge that stopped and repeated elsewhere; the slowest took %v",
				tokens, calls, elsewhere, slowest.Round(time.Millisecond))
		case <-time.After(20 * time.Millisecond): // a load, not a wait
		}
		var issued client.Issued
		err := at(tokens, func(ctx context.Context, a *client.TokenAdmin) (err error) {
			issued, err = a.Issue(ctx, client.IssueRequest{CreatedBy: "upgrade", ExpiresIn: time.Minute, Grants: []client.Grant{{Tenants: []string{"room"}, Publish: []string{"#"}}}})
			return err
		})
		if err == nil {
			err = at(tokens+1, func(ctx context.Context, a *client.TokenAdmin) error {
				_, err := a.Refresh(ctx, issued.TokenID, client.Expiry{In: 2 * time.Minute})
				return err
			})
		}
		if err == nil {
			err = at(tokens+2, func(ctx context.Context, a *client.TokenAdmin) error { return a.Revoke(ctx, issued.Token) })
		}
		if err != nil {
			c.t.Errorf("a token operation failed: %v", err)
			return ""
		}
		err = at(tokens, func(ctx context.Context, a *client.TokenAdmin) error {
			_, err := a.Refresh(ctx, issued.TokenID, client.Expiry{In: 3 * time.Minute})
			return err
		})
		if !errors.Is(err, client.ErrTokenRevoked) {
			c.t.Errorf("a token that was revoked at another edge: %v, want %v", err, client.ErrTokenRevoked)
			return ""
		}
	}
}
