package load

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/millrace/millrace/integration/harness"
)

const tenant = "paint.room"

func room(n int) string { return fmt.Sprintf("room.%d", n) }

// traffic is publishers and subscribers of rooms. A subscriber requires every message.
type traffic struct {
	e                *harness.Edge
	stop             func()
	parties          sync.WaitGroup
	got              atomic.Int64
	apart            atomic.Bool // what comes now is measured apart
	usual, meanwhile latencies
}

// startTraffic publishes at an edge that many times a second to each room, which has that many
// subscribers, the last of several over WebTransport. It returns when messages come.
func startTraffic(e *harness.Edge, rooms, each, rate int) *traffic {
	e.T.Helper()
	ctx, cancel := context.WithCancel(e.T.Context())
	l := &traffic{e: e, stop: cancel}
	e.T.Cleanup(l.end)
	request := harness.TokenRequest(harness.AllowAll("room"))
	request["right"].(harness.Object)["expires_at"] = harness.In(12 * time.Hour) // after any soak
	token := e.IssueAs(e.Master, request).Token
	for i := range rooms * each {
		s := enter(e, harness.Handshake{Token: token}, i%each > 0 && i%each == each-1)
		s.Subscribe(tenant, room(i/each))
		l.parties.Go(func() { l.follow(s.Link) })
	}
	for i := range rooms {
		p := e.Dial(token)
		l.parties.Go(func() {
			for n, last := 0, false; !last; n++ {
				pause(ctx, time.Second/time.Duration(rate))
				last = ctx.Err() != nil
				frame := harness.RawPublish(tenant, room(i), fmt.Sprintf("%d %d %v", n, time.Now().UnixNano(), last))
				if err := p.Write(harness.AsFrame, frame); err != nil {
					e.T.Errorf("message %d: %v", n, err)
					return
				}
			}
		})
		go func() { // ends with the connection: who reads nothing answers no ping
			for err := error(nil); err == nil; {
				_, _, err = p.Ws().ReadMessage()
			}
		}()
	}
	l.awaitMore(3 * rooms * each)
	return l
}

// enter opens a session, over WebSocket or WebTransport. A QUIC handshake has 5 s, which may
// go by on a busy machine: only a soak has the machine for itself.
func enter(e *harness.Edge, h harness.Handshake, quic bool) *harness.Socket {
	if !quic {
		return e.MustOpen(h)
	}
	h.URL = ""
	for end := time.Now().Add(patience); ; {
		s, a, err := e.TryWebTransport(h)
		if s != nil {
			return s
		}
		if err == nil || harness.Soaking || time.Now().After(end) {
			e.T.Fatalf("a client is not served: %v %d %s", err, a.Status, a.Body)
		}
	}
}

// awaitMore returns when n more messages have come.
func (l *traffic) awaitMore(n int) {
	l.e.T.Helper()
	before := l.got.Load()
	l.e.Poll(fmt.Sprintf("%d more messages", n), func() bool { return l.got.Load() >= before+int64(n) })
}

// end requires all messages until now.
func (l *traffic) end() {
	l.stop()
	l.parties.Wait()
}

func (l *traffic) follow(from harness.Link) {
	for want, last := -1, false; !last; {
		_, frame, err := from.Read()
		n, at := 0, int64(0)
		if err == nil {
			_, err = fmt.Sscan(string(harness.PayloadOf(frame)), &n, &at, &last)
		}
		if err != nil || want >= 0 && n != want {
			l.e.T.Errorf("got %q, %v in place of message %d", frame, err, want)
			return
		}
		want = n + 1
		l.got.Add(1)
		times := &l.usual
		if l.apart.Load() {
			times = &l.meanwhile
		}
		times.add(time.Since(time.Unix(0, at)))
	}
}

// pause is a pace, not a wait. It ends with the context at the latest.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// latencies are times that something took.
type latencies struct {
	mu   sync.Mutex
	list []time.Duration
}

func (l *latencies) add(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, d)
}

func (l *latencies) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.list)
}

func (l *latencies) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.list)
	if n == 0 {
		return "never"
	}
	slices.Sort(l.list)
	return fmt.Sprintf("p50 %v, p99 %v, longest %v (%d)", l.list[n/2], l.list[n*99/100], l.list[n-1], n)
}

// measure logs what the edge spends while do runs.
func measure(e *harness.Edge, what string, do func()) {
	e.T.Helper()
	cpu := func() float64 {
		metrics := e.Do(harness.Call{Method: "GET", URL: e.AdminURL("/metrics")}).Body
		found := regexp.MustCompile(`(?m)^process_cpu_seconds_total (.*)$`).FindSubmatch(metrics)
		seconds, err := strconv.ParseFloat(string(found[1]), 64)
		e.Must(err)
		return seconds
	}
	before, begin := cpu(), time.Now()
	do()
	used, took := cpu()-before, time.Since(begin)
	e.T.Logf("%s: %v, CPU of the edge %.2f s, %.3f cores; resident %d MiB", what, took, used, used/took.Seconds(), e.ResidentMiB())
}
