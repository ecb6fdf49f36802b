package faults

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/millrace/millrace/internal/netlab"
	"github.com/millrace/millrace/internal/smalldisk"
)

var (
	millrace string // the program
	whyNot   error  // there can be no network namespaces here; nil: there can
)

// builtEnv names the path of the program if it is already built: in a namespace there is no
// network to build it.
const builtEnv = "MILLRACE_FAULTS_PROGRAM"

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "faults")
	if err == nil {
		defer os.RemoveAll(dir)
		whyNot = netlab.Possible()
		if millrace = os.Getenv(builtEnv); millrace == "" {
			millrace, err = build(dir)
		}
	}
	if err == nil {
		var code int
		var again bool
		if code, again, err = netlab.Apart(builtEnv + "=" + millrace); again && err == nil {
			return code
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// between connects the edges: a network of its own, or proxies.
type between interface {
	machine(number int) (ip, ns string)
	admin(number int) (ip string)        // where an edge's admin API listens
	route(from, to int) (address string) // of the NATS server of another
	set(a, b int, how treatment)         // both ways
	close() error                        // when the edges have ended
	String() string                      // where packets are lost and late
}

// treatment is what happens to packets from one machine to another.
type treatment = netlab.Treatment

// switched is a network of its own.
type switched struct{ *netlab.Network }

func newSwitched(machines int) (between, error) {
	n, err := netlab.New(machines)
	return switched{n}, err
}

func (s switched) machine(number int) (ip, ns string) {
	m := s.Machine(number)
	return m.IP, m.Namespace
}

func (s switched) admin(int) string            { return "127.0.0.1" }
func (s switched) route(_, to int) string      { return s.Machine(to).IP + ":6222" }
func (s switched) set(a, b int, how treatment) { s.Set(a, b, how) }
func (s switched) close() error                { return s.Close() }
func (s switched) String() string              { return "a switch of this process" }

// lab is three edges with embedded NATS servers, which are one cluster.
type lab struct {
	*testing.T
	network between
	edges   []*edge // the first is machine 1
	traffic *traffic
}

// soaking says that this is a run of `make soak`.
var soaking = os.Getenv("MILLRACE_SOAK") != ""

// machines is the number of edges.
const machines = 3

// diskSize is the size of the disk of an edge's NATS server.
const diskSize = 160 << 20

var subnets = make(chan int, 100) // of loopback, one for each lab of this process with proxies

func init() {
	for i := range cap(subnets) {
		subnets <- 100 + (os.Getpid()+i)%100
	}
}

// startLab starts three edges, with proxies between them if proxied is set or network
// namespaces are not possible.
func startLab(t *testing.T, proxied bool) *lab {
	t.Helper()
	var n between
	var err error
	if proxied {
		n, err = newProxies(<-subnets, machines)
	} else {
		n, err = newSwitched(machines)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("packets are lost and late in %v", n)
	l := &lab{T: t, network: n}
	t.Cleanup(func() {
		for _, e := range l.edges {
			if e.cmd != nil {
				_ = e.cmd.Process.Signal(syscall.SIGCONT)
				_ = e.cmd.Process.Signal(syscall.SIGKILL) // it may have ended
				<-e.end
			}
		}
		if err := n.close(); err != nil {
			t.Error(err)
		}
	})
	for i := range machines {
		e := &edge{t: t, number: i + 1, dir: t.TempDir(), program: millrace}
		e.ip, e.ns = n.machine(i + 1)
		if proxied {
			e.disk = t.TempDir()
		} else {
			e.disk = smalldisk.Mount(t, diskSize)
		}
		e.client.Timeout = 10 * time.Second
		l.edges = append(l.edges, e)
	}
	for _, e := range l.edges {
		e.config(n)
		e.start()
	}
	l.await("three edges that issue tokens", l.issues)
	l.startTraffic()
	l.await("messages from each edge to each", func() bool { return l.traffic.crossed(time.Time{}) })
	return l
}

func (l *lab) await(what string, is func() bool) {
	l.Helper()
	for end := time.Now().Add(waitTimeout); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			for _, e := range l.edges {
				if e.out == nil { // it did not start
					continue
				}
				l.Logf("edge %d wrote:\n%s", e.number, e.out.String())
			}
			l.Fatalf("%v in vain for %s", waitTimeout, what)
		}
	}
}

// issues reports whether each edge is ready, and issues tokens.
func (l *lab) issues() bool {
	for _, e := range l.edges {
		if !e.ready() {
			return false
		}
		if _, err := l.issue(e); err != nil {
			return false
		}
	}
	return true
}

// tokenTime is the lifetime of tokens: longer than clocks are wrong by.
const tokenTime = 5 * time.Hour

type token struct {
	Token string `json:"token"`
	ID    string `json:"token_id"`
}

func (l *lab) issue(e *edge) (t token, err error) {
	status, err := e.call(http.MethodPost, "/v1/get-token", map[string]any{
		"created_by": "faults",
		"right": map[string]any{
			"tenant_grants": []any{map[string]any{"tenant_ids": []string{"room"}, "allow_channels_pub": []string{"#"}, "allow_channels_sub": []string{"#"}}},
			"expires_at":    time.Now().Add(tokenTime).UTC().Format(time.RFC3339),
		},
	}, &t)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("status %d", status)
	}
	return t, err
}

// statuses returns the status of all tokens at an edge, by id.
func (l *lab) statuses(e *edge) (map[string]string, error) {
	all := map[string]string{}
	for cursor := ""; ; {
		var page struct {
			Tokens []struct {
				ID     string `json:"token_id"`
				Status string `json:"status"`
			} `json:"tokens"`
			Next string `json:"next_cursor"`
		}
		query := url.Values{"limit": {"1000"}}
		if cursor != "" {
			query.Set("cursor", cursor)
		}
		status, err := e.call(http.MethodGet, "/v1/tokens?"+query.Encode(), nil, &page)
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("status %d", status)
		}
		if err != nil {
			return nil, err
		}
		for _, t := range page.Tokens {
			all[t.ID] = t.Status
		}
		if cursor = page.Next; cursor == "" {
			return all, nil
		}
	}
}

// session is a client with a token at an edge.
type session struct {
	edge  *edge
	conn  *websocket.Conn
	mu    sync.Mutex
	ended time.Time
	done  chan struct{}
}

// errUnauthorized: the edge does not accept the token.
var errUnauthorized = errors.New("the token was refused with 401")

func (l *lab) connect(e *edge, t token) (*session, error) {
	dialer := websocket.Dialer{HandshakeTimeout: 10 * time.Second}
	conn, res, err := dialer.Dial("ws://"+e.ip+":8080/ws", http.Header{"Authorization": {"Bearer " + t.Token}})
	if res != nil && res.StatusCode == http.StatusUnauthorized {
		return nil, errUnauthorized
	}
	if err != nil {
		return nil, err
	}
	s := &session{edge: e, conn: conn, done: make(chan struct{})}
	go func() { // ends with the session
		for {
			if _, _, err := conn.ReadMessage(); err != nil {
				break
			}
		}
		s.mu.Lock()
		s.ended = time.Now()
		s.mu.Unlock()
		close(s.done)
	}()
	l.Cleanup(func() { _ = conn.Close(); <-s.done })
	return s, nil
}
