package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/history"
	"github.com/millrace/millrace/integration/sdk"
	"github.com/millrace/millrace/internal/programs"
	"github.com/millrace/millrace/internal/version"
)

// nextVersion is that of the program that replaces the one under test.
const nextVersion = "0.1.1-test"

// upgraded returns the programs of before and after an upgrade, with their versions. With
// MILLRACE_UPGRADE_FROM, the program of an earlier release, the one under test is that of
// after. Else it is that of before, and built again to name nextVersion; scripts/test.sh
// builds that, too.
func upgraded(t *testing.T) (before, after, from, to string) {
	t.Helper()
	if before = os.Getenv("MILLRACE_UPGRADE_FROM"); before == "" {
		next, err := programs.Build(harness.Built, "millrace-next", "../cmd/millrace", "-ldflags=-X "+version.Module+"/internal/version.number="+nextVersion)
		if err != nil {
			t.Fatal(err)
		}
		return harness.Program, next, version.Number(), nextVersion
	}
	out, err := exec.Command(before, "version").Output()
	if err != nil {
		t.Fatal(err)
	}
	from, _, _ = strings.Cut(strings.TrimPrefix(string(out), "Millrace "), ",")
	return before, harness.Program, from, version.Number()
}

// Three edges are replaced by those of another version, one after the other, below clients
// that publish and subscribe: these lose nothing, and none loses its connection. What a history
// keeps comes once, in order. Tokens are issued, refreshed and revoked all the time, at edges
// of both versions. "drain by SIGTERM" of TestSDKs has the clients of all SDKs.
func TestRollingUpgrade(t *testing.T) {
	t.Parallel()
	before, after, from, to := upgraded(t)
	join := harness.Joining(harness.StartNATS(t, 1), "")[0]
	// Clients may take long to move where they share two busy cores with the edges.
	caddyfile := strings.NewReplacer("drain 7s", "drain 2m", "\tpubsub\n", "\tpubsub\n\tpubsub_ready\n").Replace(history.Caddyfile("nats"))
	edges := make([]*harness.Edge, 3)
	crowd := &rollingCrowd{N: harness.SoakCount(t, 10, 1_000), Every: harness.AtLength(100*time.Millisecond, 500*time.Millisecond)}
	for i := range edges {
		options := []harness.Option{join, func(e *harness.Edge) { e.Program = before }}
		if i > 0 {
			options = append(options, harness.WithMaster(edges[0]))
		}
		edges[i] = harness.StartEdge(t, caddyfile, options...)
		root, err := os.ReadFile(edges[i].RootFile())
		edges[i].Must(err)
		crowd.Roots, crowd.Edges = append(crowd.Roots, root...), append(crowd.Edges, edges[i].HttpsURL(""))
	}
	crowd.Master = edges[0].Master
	for range crowd.N/rollingTogether + 2 {
		crowd.Tokens = append(crowd.Tokens, edges[0].Issue(history.AllowHistory("room")).Token)
	}
	clients := harness.StartSubprocessBy(t, "TestRollingUpgradeProcess", crowd) // which yields to nobody: clients that get no time seem lost
	clients.Await("ready", 5*time.Minute)

	for i, e := range edges {
		began, there := time.Now(), e.Sessions()
		if i == 0 {
			asTheGuideSays(e, `"$PROGRAM" pubsub drain`, "while curl ")
		} else {
			e.DrainByAdminAPI()
		}
		e.Poll("its clients to leave", func() bool { return e.Sessions() == 0 })
		moved := time.Since(began)
		e.Stop()
		edges[i] = harness.StartEdge(t, caddyfile, sdk.Again(e), func(next *harness.Edge) { next.Program = after })
		if i == 0 {
			asTheGuideSays(edges[i], "until curl ")
		}
		edges[i].Poll("readiness", func() bool { return edges[i].Rest("GET", "/ready", "", nil).Status == http.StatusOK })
		t.Logf("edge %d: %d clients have moved after %v, the next version is ready after %v", i, there, moved, time.Since(began))
		want := map[string]int{to: i + 1}
		if i < 2 {
			want[from] = 2 - i
		}
		for _, asked := range edges {
			asked.Poll(fmt.Sprintf("an overlay of %v", want), func() bool {
				got := map[string]int{}
				for _, other := range asked.OverlayEdges() {
					if other.Answered {
						got[other.Status.Version]++
					}
				}
				return fmt.Sprint(got) == fmt.Sprint(want)
			})
		}
	}
	clients.End("upgrade:")
}

// asTheGuideSays runs those lines of docs/upgrading.md that begin so, at this edge.
func asTheGuideSays(e *harness.Edge, beginnings ...string) {
	e.T.Helper()
	text, err := os.ReadFile("../docs/upgrading.md")
	e.Must(err)
	_, block, _ := strings.Cut(string(text), "```sh\nNEW=")
	block, _, _ = strings.Cut(block, "```")
	script := "set -eu\n"
	for _, beginning := range beginnings {
		_, line, found := strings.Cut(block, "\n"+beginning)
		if !found {
			e.T.Fatalf("the guide has no line that begins with %s in\n%s", beginning, block)
		}
		line, _, _ = strings.Cut(line, "\n")
		script += beginning + line + "\n"
	}
	ctx, cancel := context.WithTimeout(e.T.Context(), 4*harness.WaitTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", script)
	cmd.Dir, cmd.Env = e.Dir, append(slices.Clone(e.Env),
		"PROGRAM="+e.Program, "CADDY_ADMIN="+e.AdminAddress(), "METRICS="+e.AdminURL("/metrics"), "READY="+e.HttpURL("/ready"))
	if out, err := cmd.CombinedOutput(); err != nil {
		e.T.Fatalf("%s%v\n%s", script, err, out)
	}
}

// rollingCrowd is clients of edges that are replaced, in a process of their own.
type rollingCrowd struct {
	Edges  []string // URLs
	Roots  []byte
	Master string
	Tokens []string // one for each rollingTogether clients
	N      int
	Every  time.Duration // between two messages

	t     *testing.T
	tls   *tls.Config
	mu    sync.Mutex
	moves int
}

// rollingTogether is how many clients connect at a time, with one token.
const rollingTogether = 50

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
	list := make([]*rollingSubscriber, c.N)
	for begin := 0; begin < c.N; begin += rollingTogether {
		var opening sync.WaitGroup
		for i := begin; i < min(begin+rollingTogether, c.N); i++ {
			opening.Go(func() { list[i] = c.Subscriber(i) })
		}
		if opening.Wait(); t.Failed() {
			t.FailNow()
		}
	}
	stop, totals, operations := make(chan struct{}), make(chan int, 1), make(chan string, 1)
	p := c.Connect(c.N, nil)
	go func() { totals <- c.publish(p, stop) }()  // ends with stop
	go func() { operations <- c.operate(stop) }() // ends with stop
	end := time.Now().Add(2 * time.Minute)
	for _, s := range list {
		s.Await(t, end, -1)
	}
	fmt.Println("ready")
	harness.AwaitParent()
	close(stop)
	total, copies := <-totals, 0
	end = time.Now().Add(2 * time.Minute)
	for _, s := range list {
		s.Await(t, end, total-1)
		copies += s.Check(t, total)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.moves < c.N { // each edge was replaced, so each client has left one at least
		t.Errorf("%d clients have moved %d times", c.N, c.moves)
	}
	fmt.Printf("upgrade: %d clients, %d messages with a history and as many without, %d moves; %d copies from just before a move\nupgrade: %s\n", c.N, total, c.moves, copies, <-operations)
}

// Connect connects the client with a number, which is closed when the test ends. Some use
// WebTransport. moving is told when a move begins.
func (c *rollingCrowd) Connect(number int, moving func()) *client.Client {
	ctx, cancel := context.WithTimeout(c.t.Context(), 2*time.Minute)
	defer cancel()
	transport := client.WebSocket
	if number%5 == 0 {
		transport = client.WebTransport
	}
	opened, err := client.Connect(ctx, c.Edges, client.Options{ // the process has very many clients, and little time for each
		Token: c.Tokens[number/rollingTogether], Transports: []client.Transport{transport}, TLS: c.tls, PongTimeout: time.Minute, ConnectTimeout: time.Minute,
		OnEvent: func(e client.Event) {
			switch e := e.(type) {
			case client.Moving:
				if moving != nil {
					moving()
				}
			case client.Moved:
				c.mu.Lock()
				c.moves++
				c.mu.Unlock()
			case client.Disconnected, client.PublishError, client.SlowConsumer, client.QueueFull, client.Gap:
				c.t.Errorf("something was lost: %T %+v", e, e)
			case client.Closed:
				if e.Err != nil {
					c.t.Errorf("a client has ended: %v", e.Err)
				}
			}
		},
	})
	if err != nil {
		c.t.Error(err)
		return nil
	}
	c.t.Cleanup(func() { _ = opened.Close() })
	return opened
}

// The channels of numbers: of a history, and of none.
const (
	keptNumbers  = "chat.n"
	plainNumbers = "plain.n"
)

// rollingSubscriber is a client that hears all numbers.
type rollingSubscriber struct {
	mu     sync.Mutex
	kept   []int             // in the order in which they came
	plain  map[int]time.Time // when each came
	last   int               // of the plain ones
	moving time.Time         // since when it moves, or moved
	copies int               // of plain numbers that came before a move began, which the SDK need not know
	faults []string
}

func (c *rollingCrowd) Subscriber(number int) *rollingSubscriber {
	s := &rollingSubscriber{plain: map[int]time.Time{}, last: -1}
	opened := c.Connect(number, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.moving = time.Now()
	})
	if opened == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(c.t.Context(), 2*time.Minute)
	defer cancel()
	_, err := opened.SubscribeFunc(ctx, "paint.room", plainNumbers, s.takePlain)
	if err == nil {
		_, err = opened.SubscribeFunc(ctx, "paint.room", keptNumbers, s.takeKept, client.WithHistory(client.Now))
	}
	if err != nil {
		c.t.Error(err)
	}
	return s
}

func (s *rollingSubscriber) takeKept(m client.Message) {
	n, _ := strconv.Atoi(string(m.Payload))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = append(s.kept, n)
}

func (s *rollingSubscriber) takePlain(m client.Message) {
	n, _ := strconv.Atoi(string(m.Payload))
	s.mu.Lock()
	defer s.mu.Unlock()
	first, again := s.plain[n]
	switch {
	// What came before a move began has no note, nor has what came more than a second ago
	// (docs/decisions/0008-clients.md). Events and messages come by different goroutines.
	case again && time.Since(first) < time.Second && first.Sub(s.moving) > 200*time.Millisecond:
		s.faults = append(s.faults, fmt.Sprintf("%d came twice, after %v", n, time.Since(first)))
	case again:
		s.copies++
		return
	case n < s.last && !m.Late:
		s.faults = append(s.faults, fmt.Sprintf("%d came after %d", n, s.last))
	}
	s.plain[n], s.last = time.Now(), max(s.last, n)
}

// Await waits until a number has come, of both kinds; below 0: any.
func (s *rollingSubscriber) Await(t *testing.T, end time.Time, number int) {
	for ; ; time.Sleep(10 * time.Millisecond) {
		s.mu.Lock()
		_, plain := s.plain[number]
		kept := slices.Contains(s.kept, number)
		if number < 0 {
			plain, kept = len(s.plain) > 0, len(s.kept) > 0
		}
		s.mu.Unlock()
		if plain && kept {
			return
		}
		if time.Now().After(end) {
			t.Errorf("a client has not got message %d: plain %v, kept %v", number, plain, kept)
			return
		}
	}
}

// Check requires all numbers, plain ones from the first that came on: another edge hears of a
// subscription a moment later. It returns how many came twice.
func (s *rollingSubscriber) Check(t *testing.T, total int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range total {
		if i >= len(s.kept) || s.kept[i] != i {
			t.Errorf("of a history of %d messages came %v", total, s.kept)
			break
		}
	}
	first := slices.Min(slices.Collect(maps.Keys(s.plain)))
	if len(s.plain) != total-first || len(s.kept) != total || len(s.faults) > 0 {
		t.Errorf("of %d messages came %d, and %d of the history; faults: %.5q", total, len(s.plain), len(s.kept), s.faults)
	}
	return s.copies
}

// publish publishes numbers until stop is closed, and returns how many. Each third is published
// to the history again with its key, whichever edge gets that, and is there once.
func (c *rollingCrowd) publish(p *client.Client, stop <-chan struct{}) (n int) {
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
		text := []byte(strconv.Itoa(n))
		err := p.Publish(ctx, "paint.room", plainNumbers, text)
		for at, try := "", 0; err == nil && try < 1+n%3/2; try++ {
			before := at
			if at, err = p.PublishConfirmed(ctx, "paint.room", keptNumbers, text, client.WithKey(string(text))); before != "" && at != before {
				c.t.Errorf("%s was published again, and is at %s and %s", text, before, at)
			}
		}
		if err != nil {
			c.t.Errorf("message %d: %v", n, err)
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
	tokens, elsewhere := 0, 0
	at := func(turn int, call func(context.Context, *client.TokenAdmin) error) error {
		for try := 0; ; try++ {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			err := call(ctx, admins[(turn+try)%len(admins)])
			cancel()
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
			return fmt.Sprintf("%d tokens were issued, refreshed and revoked, each at three edges; %d calls met an edge that stopped, and another one answered", tokens, elsewhere)
		case <-time.After(20 * time.Millisecond): // a load, not a wait
		}
		var issued client.Issued
		refresh := func(ctx context.Context, a *client.TokenAdmin) error {
			_, err := a.Refresh(ctx, issued.TokenID, client.Expiry{In: 2 * time.Minute})
			return err
		}
		err := at(tokens, func(ctx context.Context, a *client.TokenAdmin) (err error) {
			issued, err = a.Issue(ctx, client.IssueRequest{CreatedBy: "upgrade", ExpiresIn: time.Minute, Grants: []client.Grant{{Tenants: []string{"room"}, Publish: []string{"#"}}}})
			return err
		})
		if err == nil {
			err = at(tokens+1, refresh)
		}
		if err == nil {
			err = at(tokens+2, func(ctx context.Context, a *client.TokenAdmin) error { return a.Revoke(ctx, issued.Token) })
		}
		if err == nil {
			if err = at(tokens, refresh); errors.Is(err, client.ErrTokenRevoked) {
				continue
			}
			err = fmt.Errorf("a token that was revoked at another edge: %w", err)
		}
		c.t.Errorf("a token operation failed: %v", err)
		return ""
	}
}
