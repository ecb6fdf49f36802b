//go:build unix

package pubsub

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/millrace/millrace/wire"
)

// simulated are the numbers of sessions that TestManySessions goes through:
// those of MILLRACE_SESSIONS, as scripts/soak-million.sh sets it, or small ones that
// show the same within a second.
func simulated(t *testing.T) (sizes []int) {
	text := os.Getenv("MILLRACE_SESSIONS")
	if text == "" {
		text = "2000 8000"
	}
	for _, field := range strings.Fields(text) {
		n, err := strconv.Atoi(field)
		if err != nil || n < 100 {
			t.Fatalf("MILLRACE_SESSIONS=%q: want numbers of sessions, 100 at least", text)
		}
		sizes = append(sizes, n)
	}
	return sizes
}

// layouts say what the i-th session subscribes to, and how many sessions get a message to
// the channel of one of them.
var layouts = []struct {
	name    string
	channel func(i int) string // nil: sessions are idle
	members func(sessions int) int
}{
	{"idle", nil, nil},
	{"rooms of 100", func(i int) string { return fmt.Sprintf("room.%d", i/100) }, func(int) int { return 100 }},
	{"one channel", func(int) string { return "all" }, func(sessions int) int { return sessions }},
}

// crowd is a hub with many sessions whose transports discard what they get.
type crowd struct {
	hub       *Hub
	sessions  []*Session
	transport Transport
}

func newCrowd(n int, transport Transport, channel func(i int) string) *crowd {
	limits := with(func(l *Limits) { l.MaxConnections = 0 })
	c := &crowd{hub: NewHub(new(localBroker), limits, zap.NewNop()), transport: transport}
	for i := range n {
		c.sessions = append(c.sessions, c.connect(i, channel))
	}
	return c
}

// connect adds a session with a token of its own.
func (c *crowd) connect(i int, channel func(i int) string) *Session {
	s, err := c.hub.Admit(Identity{
		TokenID: fmt.Sprintf("%032x", i), Version: 1, ExpiresAt: time.Now().Add(time.Hour), Rights: allRights{},
	}, Client{Transport: "test"})
	if err != nil {
		panic(err)
	}
	s.Attach(c.transport)
	if channel != nil {
		s.HandleLine([]byte("SUB:t:" + channel(i)))
	}
	return s
}

// settle waits for the writers, and until n frames were written in all.
func (c *crowd) settle(n uint64) {
	for c.hub.count.framesOut.Load() < n {
		time.Sleep(100 * time.Microsecond)
	}
	for _, s := range c.sessions {
		for idle := false; !idle; {
			s.mu.Lock()
			idle = !s.queue.mainLane.writing
			s.mu.Unlock()
			runtime.Gosched()
		}
	}
}

// heap is how many bytes are in use. What pools hold goes with the second
// collection, and what stopped timers hold some time later.
func heap() int64 {
	var m runtime.MemStats
	for last := int64(0); ; last = int64(m.HeapAlloc) {
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		if now := int64(m.HeapAlloc); now <= last+last/1000 && now >= last-last/1000 {
			return now
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// processorTime is what the process has used, of all processors.
func processorTime() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// longestPause is the longest stop of the world for the collector since start.
func longestPause(start time.Time) (longest time.Duration) {
	var stats debug.GCStats
	debug.ReadGCStats(&stats)
	for i, end := range stats.PauseEnd {
		if end.After(start) {
			longest = max(longest, stats.Pause[i])
		}
	}
	return longest
}

// What a session costs does not depend on how many there are. The bytes are checked;
// the times are for docs/decisions/0042-what-soaks-found.md.
func TestManySessions(t *testing.T) {
	const deliveries = 3_000_000 // of each broadcast run, at least, when there are many sessions
	for _, l := range layouts {
		t.Run(l.name, func(t *testing.T) {
			var first float64
			for _, n := range simulated(t) {
				before, start, begin := heap(), time.Now(), processorTime()
				c := newCrowd(n, discardNow{}, l.channel)
				opened := processorTime() - begin
				c.settle(0)
				bytes := float64(heap()-before) / float64(n)
				if first == 0 {
					first = bytes
				}
				if bytes > 1.3*first || bytes < first/1.3 {
					t.Errorf("%.0f bytes for each of %d sessions, before %.0f", bytes, n, first)
				}
				t.Logf("%d sessions: %5.0f bytes each, %.2f µs to open", n, bytes, micros(opened, n))
				if l.channel != nil {
					c.broadcast(t, l.channel, l.members(n), max(min(deliveries, 20*n), 3*n))
				}
				scrape := time.Now()
				c.hub.Metrics()
				collect := time.Now()
				runtime.GC()
				t.Logf("a scrape %v, a collection %v, the longest pause %v",
					collect.Sub(scrape), time.Since(collect), longestPause(start))
				begin = processorTime()
				emptied(t, c.hub, c.sessions)
				t.Logf("%.2f µs to close", micros(processorTime()-begin, n))
			}
		})
	}
}

func micros(d time.Duration, n int) float64 { return float64(d.Nanoseconds()) / 1000 / float64(n) }

func message(channel string) []byte {
	return wire.AppendPublish(nil, wire.Publish{Tenant: []byte("t"), Channel: []byte(channel), Payload: make([]byte, 128)})
}

// broadcast publishes messages of 128 bytes until there were so many deliveries.
func (c *crowd) broadcast(t *testing.T, channel func(i int) string, members, deliveries int) {
	frames, done := map[string][]byte{}, 0
	begin, start := processorTime(), time.Now()
	for j := 0; done < deliveries; j++ {
		to := channel(j * members % len(c.sessions))
		if frames[to] == nil {
			frames[to] = message(to)
		}
		c.sessions[j%len(c.sessions)].HandleFrame(frames[to])
		done += members
		if members == len(c.sessions) || j%100 == 99 {
			c.settle(uint64(done))
		}
	}
	c.settle(uint64(done))
	took, cpu := time.Since(start), processorTime()-begin
	t.Logf("%d deliveries, %.0f ns of CPU and %.0f ns each", done, 1000*micros(cpu, done), 1000*micros(took, done))
}

// Eight threads publish to rooms, come and go. scripts/soak-million.sh prints where they wait
// for each other.
func TestManySessionsContention(t *testing.T) {
	sizes := simulated(t)
	n := sizes[len(sizes)-1]
	const threads = 8
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
	for _, l := range layouts[1:] {
		c, rounds, start := newCrowd(n, discardNow{}, l.channel), n/100, time.Now()
		var busy sync.WaitGroup
		for thread := range threads {
			busy.Go(func() {
				for j := range rounds {
					i := n + thread*rounds + j
					s := c.connect(i, l.channel)
					if l.name != "one channel" || j%16 == 0 && j < 64 {
						s.HandleFrame(message(l.channel(i % n)))
					}
					s.Detach()
				}
			})
		}
		busy.Wait()
		t.Logf("%s, %d sessions: %d came and went in %v", l.name, n, threads*rounds, time.Since(start))
		emptied(t, c.hub, c.sessions)
	}
}
