//go:build unix

package pubsub

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/metrics"
	"runtime/pprof"
	"slices"
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

const roomMembers = 100

// layouts say what the i-th session subscribes to, and where the j-th message goes.
var layouts = []struct {
	name      string
	subscribe func(i int) string
	publish   func(j, sessions int) (channel string, deliveries int)
}{
	{"idle", nil, nil},
	{
		"rooms of 100",
		func(i int) string { return fmt.Sprintf("room.%d", i/roomMembers) },
		func(j, sessions int) (string, int) {
			return fmt.Sprintf("room.%d", j%(sessions/roomMembers)), roomMembers
		},
	},
	{
		"one channel",
		func(int) string { return "all" },
		func(_, sessions int) (string, int) { return "all", sessions },
	},
}

// crowd is a hub with many sessions whose transports discard what they get.
type crowd struct {
	hub      *Hub
	sessions []*Session
}

func newCrowd(n int, subscribe func(i int) string) *crowd {
	c := &crowd{hub: NewHub(new(localBroker), fastLimits(), zap.NewNop())}
	limits := fastLimits()
	limits.MaxConnections = 0
	c.hub.SetLimits(limits)
	c.sessions = make([]*Session, n)
	for i := range c.sessions {
		c.sessions[i] = c.connect(i, subscribe)
	}
	return c
}

// connect adds a session with a token of its own.
func (c *crowd) connect(i int, subscribe func(i int) string) *Session {
	s, err := c.hub.Admit(Identity{
		TokenID: fmt.Sprintf("%032x", i), Version: 1, ExpiresAt: time.Now().Add(time.Hour), Rights: allRights{},
	}, Client{Transport: "test"})
	if err != nil {
		panic(err)
	}
	s.Attach(discardNow{})
	if subscribe != nil {
		s.HandleLine([]byte("SUB:t:" + subscribe(i)))
	}
	return s
}

// settle waits until n frames were written in all.
func (c *crowd) settle(n uint64) {
	for c.hub.count.framesOut.Load() < n {
		time.Sleep(100 * time.Microsecond)
	}
}

func (c *crowd) close(t *testing.T) {
	for _, s := range c.sessions {
		s.Detach()
	}
	must(t, c.hub.Close())
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

// pauses returns the longest stop of the world for the collector since before.
func pauses(before *metrics.Float64Histogram) (*metrics.Float64Histogram, time.Duration) {
	sample := []metrics.Sample{{Name: "/sched/pauses/total/gc:seconds"}}
	metrics.Read(sample)
	now := sample[0].Value.Float64Histogram()
	copied := &metrics.Float64Histogram{Counts: slices.Clone(now.Counts), Buckets: now.Buckets}
	longest := 0.0
	for i, n := range now.Counts {
		if (before == nil || n > before.Counts[i]) && n > 0 && !math.IsInf(now.Buckets[i+1], 1) {
			longest = now.Buckets[i+1]
		}
	}
	return copied, time.Duration(longest * float64(time.Second))
}

// What a session costs does not depend on how many there are. The bytes are checked;
// the times are for docs/hardening.md.
func TestManySessions(t *testing.T) {
	const deliveries = 3_000_000 // of each broadcast run, at least, when there are many sessions
	sizes := simulated(t)
	for _, l := range layouts {
		t.Run(l.name, func(t *testing.T) {
			var first float64
			for _, n := range sizes {
				before := heap()
				collected, _ := pauses(nil)
				begin := processorTime()
				c := newCrowd(n, l.subscribe)
				opened := processorTime() - begin
				c.settleGoroutines()
				bytes := float64(heap()-before) / float64(n)
				line := fmt.Sprintf("%-12s %8d sessions: %5.0f bytes each, %.2f µs to open", l.name, n, bytes, micros(opened, n))
				if first == 0 {
					first = bytes
				}
				if bytes > 1.3*first || bytes < first/1.3 {
					t.Errorf("%s: %.0f bytes for each of %d sessions, %.0f for each of %d", l.name, bytes, n, first, sizes[0])
				}
				if l.publish != nil {
					line += c.broadcast(l.publish, max(min(deliveries, 20*n), 3*n))
				}
				start := time.Now()
				c.hub.Metrics()
				scrape := time.Since(start)
				start = time.Now()
				runtime.GC()
				collection := time.Since(start)
				_, longest := pauses(collected)
				line += fmt.Sprintf("; a scrape %v, a collection %v, the longest pause %v",
					scrape.Round(10*time.Microsecond), collection.Round(10*time.Microsecond), longest.Round(time.Microsecond))
				begin = processorTime()
				c.close(t)
				line += fmt.Sprintf("; %.2f µs to close", micros(processorTime()-begin, n))
				t.Log(line)
			}
		})
	}
}

func micros(d time.Duration, n int) float64 { return float64(d.Nanoseconds()) / 1000 / float64(n) }

// settleGoroutines waits for the writers.
func (c *crowd) settleGoroutines() {
	for range 1000 {
		idle := true
		for _, s := range c.sessions {
			s.mu.Lock()
			idle = idle && !s.queue.mainLane.writing
			s.mu.Unlock()
		}
		if idle {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// broadcast publishes messages of 128 bytes until there were so many deliveries.
func (c *crowd) broadcast(where func(j, sessions int) (string, int), deliveries int) string {
	frames, done := map[string][]byte{}, uint64(0)
	begin, start := processorTime(), time.Now()
	for j := 0; done < uint64(deliveries); j++ {
		channel, n := where(j, len(c.sessions))
		f := frames[channel]
		if f == nil {
			f = wire.AppendPublish(nil, wire.Publish{Tenant: []byte("t"), Channel: []byte(channel), Payload: make([]byte, 128)})
			frames[channel] = f
		}
		c.sessions[j%len(c.sessions)].HandleFrame(f)
		done += uint64(n)
		if n == len(c.sessions) || j%100 == 99 {
			c.settle(done)
		}
	}
	c.settle(done)
	took, cpu := time.Since(start), processorTime()-begin
	return fmt.Sprintf("; %d deliveries, %.0f ns of CPU and %.0f ns each",
		done, 1000*micros(cpu, int(done)), 1000*micros(took, int(done)))
}

// Where eight threads wait for each other, by the mutex profile: they publish to
// rooms, come and go.
func TestManySessionsContention(t *testing.T) {
	sizes := simulated(t)
	n := sizes[len(sizes)-1]
	const threads = 8
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
	for _, l := range layouts[1:] {
		c := newCrowd(n, l.subscribe)
		rounds := n / 100
		defer runtime.SetMutexProfileFraction(runtime.SetMutexProfileFraction(1))
		before := contention()
		start := time.Now()
		var busy sync.WaitGroup
		for thread := range threads {
			busy.Go(func() {
				for j := range rounds {
					i := n + thread*rounds + j
					s := c.connect(i, l.subscribe)
					if each := j%16 == 0; l.name != "one channel" || each && j < 64 {
						channel, _ := l.publish(i, n)
						s.HandleFrame(wire.AppendPublish(nil, wire.Publish{Tenant: []byte("t"), Channel: []byte(channel), Payload: make([]byte, 128)}))
					}
					s.Detach()
				}
			})
		}
		busy.Wait()
		took := time.Since(start)
		t.Logf("%s, %d sessions, %d threads: %d came and went in %v, %.1f µs each; waited for locks:",
			l.name, n, threads, threads*rounds, took.Round(time.Millisecond), micros(took, threads*rounds))
		for i, w := range contention().since(before) {
			if i < 8 {
				t.Logf("  %5.1f %% of the threads' time  %s", 100*w.waited.Seconds()/took.Seconds()/threads, w.where)
			}
		}
		c.close(t)
	}
}

// waits is how long was waited for locks, by the function that released them.
type waits map[string]time.Duration

type wait struct {
	where  string
	waited time.Duration
}

func contention() waits {
	perNS := cyclesPerNS()
	records := make([]runtime.BlockProfileRecord, 10_000)
	n, _ := runtime.MutexProfile(records)
	all := waits{}
	for _, r := range records[:n] {
		where := ""
		frames := runtime.CallersFrames(r.Stack())
		for more := true; more; {
			var f runtime.Frame
			f, more = frames.Next()
			if _, name, ours := strings.Cut(f.Function, "millrace/pubsub."); ours && !strings.HasPrefix(name, "Test") {
				where = name
				break
			}
			if where == "" {
				where = f.Function
			}
		}
		all[where] += time.Duration(float64(r.Cycles) / perNS)
	}
	return all
}

// cyclesPerNS is the unit of the profile, which its text form names.
func cyclesPerNS() float64 {
	var text bytes.Buffer
	_ = pprof.Lookup("mutex").WriteTo(&text, 1) // a buffer takes all
	_, rest, _ := strings.Cut(text.String(), "cycles/second=")
	n, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	if err != nil {
		panic(err)
	}
	return n / 1e9
}

func (w waits) since(before waits) (list []wait) {
	for where, d := range w {
		if d -= before[where]; d > 0 {
			list = append(list, wait{where, d})
		}
	}
	slices.SortFunc(list, func(a, b wait) int { return cmp.Compare(b.waited, a.waited) })
	return list
}
