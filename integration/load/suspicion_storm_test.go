package load

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
	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/wire"
)

// When all clients of an edge suspect it at once, as it is frozen, the other edge bears
// that: it refuses none of them, and those that were there before miss nothing. The edge
// that wakes is not met by a second connection of each. In the end each client has one.
func TestSuspicionStorm(t *testing.T) {
	t.Parallel()
	n := harness.SoakCount(t, 200, 2_000)
	join := harness.Joining(harness.StartNATS(t, 1), "")[0]
	freezes := harness.StartEdge(t, harness.DefaultCaddyfile, join)
	stays := harness.StartEdge(t, harness.DefaultCaddyfile, join, harness.WithMaster(freezes))
	s := &storm{Dies: freezes.HttpsURL(""), Stays: stays.HttpsURL(""), N: n}
	for _, e := range []*harness.Edge{freezes, stays} {
		root, err := os.ReadFile(e.RootFile())
		if err != nil {
			t.Fatal(err)
		}
		s.Roots = append(s.Roots, root...)
	}
	for range s.most()/stormTogether + 1 {
		s.Tokens = append(s.Tokens, stays.Issue(harness.AllowAll("room")).Token)
	}
	clients := harness.StartSubprocess(t, "TestSuspicionProcess", s)
	clients.Await("ready", 5*time.Minute)
	there := freezes.Sessions()

	watch := &roomLoad{stop: make(chan struct{})}
	token := stays.Issue(harness.AllowAll("room")).Token
	bystander := stays.Dial(token)
	bystander.Subscribe("paint.room", "watch")
	publisher, toAll := stays.Dial(token), stays.Dial(token)
	for _, s := range []*harness.Socket{publisher, toAll} {
		go drain(s) // ends with the test
	}
	quit := make(chan struct{})
	outcomes := make(chan error, 3)
	go func() { outcomes <- watch.follow(bystander.Link) }()               // ends with the last message, or the session
	go func() { outcomes <- watch.Publish(publisher.Link, "watch") }()     // ends with stop
	go func() { outcomes <- everyHalfSecond(toAll.Link, "storm", quit) }() // ends with quit
	total := freezes.Sessions() + stays.Sessions()
	clients.Await("used to messages", 5*time.Minute)

	refused := refusals(stays)
	watch.reloading.Store(true) // what is counted apart
	freezes.Signal(syscall.SIGSTOP)
	time.Sleep(harness.AtLength(6*time.Second, 15*time.Second)) // the edge stands still for so long
	freezes.Signal(syscall.SIGCONT)
	most := 0
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		most = max(most, freezes.Sessions())
	}
	watch.reloading.Store(false)
	if second := most - there; second > n/10 {
		t.Errorf("the edge that woke had %d connections, and %d before: %d clients met it with a second one", most, there, second)
	}
	if got := refusals(stays); !maps.Equal(got, refused) {
		t.Errorf("the edge that stays has refused handshakes: %v, and %v before", got, refused)
	}
	for end := time.Now().Add(2 * time.Minute); freezes.Sessions()+stays.Sessions() != total; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d connections in the end, and %d before", freezes.Sessions()+stays.Sessions(), total)
		}
	}
	after := watch.got.Load()
	stays.Poll("messages after the storm", func() bool { return watch.got.Load() > after+20 })
	close(watch.stop)
	close(quit)
	for range cap(outcomes) {
		if err := <-outcomes; err != nil {
			t.Error(err)
		}
	}
	left := freezes.Sessions()
	clients.End("suspicion:")
	t.Logf("%d clients at the edge that froze; it had up to %d connections when it woke, and %d in the end; latency of a bystander at the other edge, meanwhile: %v; before and after: %v",
		there, most, left, &watch.during, &watch.between)
}

// drain reads what comes for a publisher, to the end: else it answers no ping, and after a
// minute the edge takes it for dead.
func drain(s *harness.Socket) {
	w, ok := s.Link.(harness.WebSocket)
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
func everyHalfSecond(to harness.Link, room string, quit <-chan struct{}) error {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for number := 0; ; number++ {
		frame := wire.AppendPublish(nil, wire.Publish{Tenant: []byte("paint.room"), Channel: []byte(room), Payload: fmt.Append(nil, number)})
		if err := to.Write(websocket.BinaryMessage, frame); err != nil {
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
	if !harness.IsSubprocess(t, s) {
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
	defer s.Close()
	s.Connect()
	fmt.Println("ready")
	for heard.Load() < int64(20*len(s.clients)) { // so each knows how often they come
		time.Sleep(50 * time.Millisecond)
	}
	fmt.Println("used to messages")
	harness.AwaitParent()
	mu.Lock()
	defer mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(events)) {
		fmt.Printf("suspicion: %d times %s\n", events[name], name)
	}
	if events["Disconnected"]+events["Closed"] > 0 {
		t.Errorf("clients were disconnected: %v", events)
	}
}
