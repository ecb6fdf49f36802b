package load

import (
	"fmt"
	"math/bits"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/conformance"
	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/wire"
)

const (
	roomSize = 100
	roomRate = 100 * time.Millisecond // between two messages to a room
)

// The configuration is loaded again and again below many connections with traffic:
// none is lost, and no message.
func TestReloadsUnderLoad(t *testing.T) {
	t.Parallel()
	connections, reloads := harness.SoakCount(t, 300, 10_000), harness.AtLength(10, 100)
	e := harness.StartEdge(t, conformance.American)
	token := e.Issue(harness.AllowAll("room")).Token
	l := &roomLoad{stop: make(chan struct{})}
	outcomes := make(chan error, connections+connections/roomSize)
	begin := time.Now()
	for i := range connections {
		s := e.Dial(token)
		room := fmt.Sprintf("room.%d", i/roomSize)
		s.Subscribe("paint.room", room)
		go func() { outcomes <- l.follow(s.Link) }() // ends with the last message, or the session
	}
	t.Logf("%d connections after %v", connections, time.Since(begin))
	rooms := (connections + roomSize - 1) / roomSize
	for i := range rooms {
		p := e.Dial(token)
		go func() { outcomes <- l.Publish(p.Link, fmt.Sprintf("room.%d", i)) }() // ends with stop
	}

	e.Poll("messages", func() bool { return l.got.Load() > int64(3*connections) })
	begin = time.Now()
	for n := range reloads {
		l.reloading.Store(true)
		e.Reload([]string{conformance.European, conformance.American}[n%2])
		l.reloading.Store(false)
		before := l.got.Load()
		e.Poll("messages after a reload", func() bool { return l.got.Load() > before+int64(connections) })
	}
	t.Logf("%d reloads in %v", reloads, time.Since(begin))
	close(l.stop)
	for range connections + rooms {
		if err := <-outcomes; err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d deliveries; latency during reloads: %v; between them: %v", l.got.Load(), &l.during, &l.between)
}

// roomLoad is traffic in rooms.
type roomLoad struct {
	stop            chan struct{}
	got             atomic.Int64
	reloading       atomic.Bool
	during, between latencies
}

// Publish sends numbers with the time to a room, until stop is closed.
func (l *roomLoad) Publish(to harness.Link, room string) error {
	tick := time.NewTicker(roomRate)
	defer tick.Stop()
	send := func(payload string) error {
		return to.Write(harness.AsFrame, wire.AppendPublish(nil, wire.Publish{Tenant: []byte("paint.room"), Channel: []byte(room), Payload: []byte(payload)}))
	}
	for n := 1; ; n++ {
		select {
		case <-l.stop:
			return send(fmt.Sprintf("%d end", n))
		case <-tick.C:
		}
		if err := send(fmt.Sprintf("%d %d", n, time.Now().UnixNano())); err != nil {
			return fmt.Errorf("%s: message %d: %w", room, n, err)
		}
	}
}

// follow requires every message of a room.
func (l *roomLoad) follow(from harness.Link) error {
	for want := 1; ; want++ {
		_, frame, err := from.Read()
		if err != nil {
			return fmt.Errorf("in place of message %d: %w", want, err)
		}
		d, err := wire.DecodeDeliver(frame)
		if err != nil {
			return fmt.Errorf("in place of message %d: %q: %w", want, frame, err)
		}
		if strings.HasSuffix(string(d.Payload), " end") {
			return nil
		}
		var n, at int
		if _, err := fmt.Sscan(string(d.Payload), &n, &at); err != nil || n != want {
			return fmt.Errorf("%s: got message %q in place of %d", d.Channel, d.Payload, want)
		}
		took := time.Since(time.Unix(0, int64(at)))
		if l.reloading.Load() {
			l.during.Add(took)
		} else {
			l.between.Add(took)
		}
		l.got.Add(1)
	}
}

// latencies counts in steps of an eighth of a power of two.
type latencies struct {
	mu     sync.Mutex
	counts [64 * 8]int
	total  int
	worst  time.Duration
}

func (l *latencies) Add(d time.Duration) {
	us := uint64(max(1, d.Microseconds()))
	power := bits.Len64(us) - 1
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counts[power*8+int(us<<3>>power&7)]++
	l.total++
	l.worst = max(l.worst, d)
}

// quantile is an upper bound of it, at most an eighth too high.
func (l *latencies) quantile(q float64) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	seen := 0
	for i, n := range l.counts {
		if seen += n; n > 0 && float64(seen) >= q*float64(l.total) {
			return time.Duration((8+i%8+1)<<(i/8)>>3) * time.Microsecond
		}
	}
	return 0
}

func (l *latencies) String() string {
	p50, p99 := l.quantile(0.5), l.quantile(0.99)
	l.mu.Lock()
	defer l.mu.Unlock()
	return fmt.Sprintf("p50 %v, p99 %v, longest %v (%d)", p50, p99, l.worst.Round(time.Microsecond), l.total)
}
