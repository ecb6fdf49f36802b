package integration

import (
	"crypto/x509"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/wire"
)

// When all clients of an edge suspect it at once, as it is frozen, the other edge bears
// that: it refuses none of them, and those that were there before miss nothing. The edge
// that wakes is not met by a second connection of each. In the end each client has one.
func TestSuspicionStorm(t *testing.T) {
	t.Parallel()
	n := soakCount(t, 200, 2_000)
	join := joining(startNATS(t, 1), "")[0]
	freezes := startEdge(t, defaultCaddyfile, join)
	stays := startEdge(t, defaultCaddyfile, join, withMaster(freezes))
	s := &storm{Dies: freezes.httpsURL(""), Stays: stays.httpsURL(""), N: n}
	for _, e := range []*edge{freezes, stays} {
		root, err := os.ReadFile(e.rootFile())
		if err != nil {
			t.Fatal(err)
		}
		s.Roots = append(s.Roots, root...)
	}
	for range s.most()/stormTogether + 1 {
		s.Tokens = append(s.Tokens, stays.issue(allowAll("room")).Token)
	}
	clients := startSubprocess(t, "TestSuspicionProcess", s)
	clients.await("ready", 5*time.Minute)
	there := freezes.sessions()

	watch := &roomLoad{stop: make(chan struct{})}
	token := stays.issue(allowAll("room")).Token
	bystander := stays.dial(token)
	bystander.subscribe("paint.room", "watch")
	publisher, toAll := stays.dial(token), stays.dial(token)
	for _, s := range []*socket{publisher, toAll} {
		go drain(s) // ends with the test
	}
	quit := make(chan struct{})
	outcomes := make(chan error, 3)
	go func() { outcomes <- watch.follow(bystander.link) }()               // ends with the last message, or the session
	go func() { outcomes <- watch.publish(publisher.link, "watch") }()     // ends with stop
	go func() { outcomes <- everyHalfSecond(toAll.link, "storm", quit) }() // ends with quit
	total := freezes.sessions() + stays.sessions()
	clients.await("used to messages", 5*time.Minute)

	refused := stays.refusals()
	watch.reloading.Store(true) // what is counted apart
	freezes.signal(syscall.SIGSTOP)
	time.Sleep(atLength(6*time.Second, 15*time.Second)) // the edge stands still for so long
	freezes.signal(syscall.SIGCONT)
	most := 0
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		most = max(most, freezes.sessions())
	}
	watch.reloading.Store(false)
	if second := most - there; second > n/10 {
		t.Errorf("the edge that woke had %d connections, and %d before: %d clients met it with a second one", most, there, second)
	}
	if got := stays.refusals(); !maps.Equal(got, refused) {
		t.Errorf("the edge that stays has refused handshakes: %v, and %v before", got, refused)
	}
	for end := time.Now().Add(2 * time.Minute); freezes.sessions()+stays.sessions() != total; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d connections in the end, and %d before", freezes.sessions()+stays.sessions(), total)
		}
	}
	after := watch.got.Load()
	stays.poll("messages after the storm", func() bool { return watch.got.Load() > after+20 })
	close(watch.stop)
	close(quit)
	for range cap(outcomes) {
		if err := <-outcomes; err != nil {
			t.Error(err)
		}
	}
	left := freezes.sessions()
	clients.end("suspicion:")
	t.Logf("%d clients at the edge that froze; it had up to %d connections when it woke, and %d in the end; latency of a bystander at the other edge, meanwhile: %v; before and after: %v",
		there, most, left, &watch.during, &watch.between)
}

// sessions is how many sessions an edge has.
func (e *edge) sessions() int {
	e.t.Helper()
	got := e.metrics()
	return int(got["millrace_connections{transport=websocket}"] + got["millrace_connections{transport=webtransport}"])
}

// drain reads what comes for a publisher, to the end: else it answers no ping, and after a
// minute the edge takes it for dead.
func drain(s *socket) {
	w, ok := s.link.(webSocket)
	if !ok || w.SetReadDeadline(time.Time{}) != nil {
		return
	}
	for {
		if _, _, err := w.ReadMessage(); err != nil {
			return
		}
	}
}

// everyHalfSecond publishes to a room until quit.
func everyHalfSecond(to link, room string, quit <-chan struct{}) error {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for number := 0; ; number++ {
		frame := wire.AppendPublish(nil, wire.Publish{Tenant: []byte("paint.room"), Channel: []byte(room), Payload: fmt.Append(nil, number)})
		if err := to.write(websocket.BinaryMessage, frame); err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-quit:
			return nil
		}
	}
}

// TestSuspicionProcess is the process of the clients.
func TestSuspicionProcess(t *testing.T) {
	t.Parallel()
	s := &storm{t: t, pool: x509.NewCertPool()}
	if !isSubprocess(t, s) {
		return
	}
	s.pool.AppendCertsFromPEM(s.Roots)
	var (
		mu     sync.Mutex
		events = map[string]int{}
		heard  atomic.Int64
	)
	s.heard = func(client.Message) { heard.Add(1) }
	s.options = client.Options{OnEvent: func(e client.Event) {
		if e, is := e.(client.Connected); is && e.Edge == s.Dies {
			s.mu.Lock()
			s.atDies++
			s.mu.Unlock()
		}
		mu.Lock()
		events[reflect.TypeOf(e).Name()]++
		mu.Unlock()
	}}
	defer s.close()
	s.connect()
	fmt.Println("ready")
	for heard.Load() < int64(20*len(s.clients)) { // so each knows how often they come
		time.Sleep(50 * time.Millisecond)
	}
	fmt.Println("used to messages")
	awaitParent()
	mu.Lock()
	defer mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(events)) {
		fmt.Printf("suspicion: %d times %s\n", events[name], name)
	}
	if events["Disconnected"]+events["Closed"] > 0 {
		t.Errorf("clients were disconnected: %v", events)
	}
}
