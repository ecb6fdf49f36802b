package cluster

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/history"
	"github.com/millrace/millrace/wire"
)

// Of 10,000 messages each reaches one of 1, 3 and 6 subscribers at three edges.
func TestDeliverOneOverEdges(t *testing.T) {
	t.Parallel()
	const messages = 10_000
	o := history.StartOverlay(t, harness.DefaultCaddyfile, "")
	counts := []int{1, 3, 6}
	sessions := o.Spread("jobs", "jobs", counts...)
	for _, mode := range []struct {
		name     string
		delivery wire.Delivery
		from     int
		want     []float64 // shares of the edges
	}{
		{"nearest, all are local", wire.OneNearest, 0, []float64{1, 0, 0}},
		{"nearest, all are local, at another edge", wire.OneNearest, 2, []float64{0, 0, 1}},
		{"random", wire.OneRandom, 1, []float64{1. / 3, 1. / 3, 1. / 3}},
	} {
		t.Run(mode.name, func(t *testing.T) {
			p := o.Session(mode.from)
			got := collectNumbers(t, sessions, messages, func() {
				for i := range messages {
					p.PublishTagged(mode.delivery, "paint.room", "jobs", strconv.Itoa(i))
				}
			})
			for at, list := range got {
				total := 0
				for i, n := range list {
					total += n
					share := float64(n) / (messages * mode.want[at]) * float64(len(list))
					// The edge's share, spread over its sessions: 555 of 10,000 or more, with a
					// standard deviation of 4.2 % at most.
					if mode.want[at] > 0 && (share < 0.75 || share > 1.25) {
						t.Errorf("edge %d, session %d got %d messages, %.2f of its share", at, i, n, share)
					}
				}
				if share := float64(total) / messages; share < mode.want[at]*0.9 || share > mode.want[at]*1.1 {
					t.Errorf("edge %d got %d of %d messages, want %.2f of them", at, total, messages, mode.want[at])
				}
			}
			t.Log(mode.name, got)
			p.Close()
		})
	}
}

// collectNumbers reads while numbered messages are published, requires that each
// comes exactly once, and in order for each reader, and counts them by session.
func collectNumbers(t *testing.T, sessions [][]*harness.Socket, messages int, publish func()) (counts [][]int) {
	t.Helper()
	var (
		mu      sync.Mutex
		times   = make([]int, messages)
		total   int
		readers sync.WaitGroup
		all     = make(chan struct{})
	)
	for at, list := range sessions {
		counts = append(counts, make([]int, len(list)))
		for i, s := range list {
			readers.Go(func() {
				before := -1
				for {
					kind, message, err := s.Read()
					if err != nil {
						t.Error(err)
						return
					}
					if kind == harness.AsText {
						if string(message) != "OK:UNSUB:paint.room:end" {
							t.Errorf("got the line %q", message)
						}
						return
					}
					n, err := strconv.Atoi(string(harness.PayloadOf(message)))
					if err != nil {
						t.Error(err)
						return
					}
					if n <= before {
						t.Errorf("edge %d, session %d: %d came after %d", at, i, n, before)
					}
					before = n
					mu.Lock()
					times[n]++
					counts[at][i]++
					if total++; total == messages {
						close(all)
					}
					mu.Unlock()
				}
			})
		}
	}
	publish()
	var err error
	select {
	case <-all:
	case <-time.After(harness.WaitTimeout):
		err = errors.New("not all messages came")
	}
	time.Sleep(200 * time.Millisecond) // for those that come twice
	for _, list := range sessions {
		for _, s := range list {
			s.SendLine("UNSUB:paint.room:end")
		}
	}
	readers.Wait()
	missing, double := 0, 0
	for _, n := range times {
		if n == 0 {
			missing++
		} else if n > 1 {
			double++
		}
	}
	if err != nil || missing > 0 || double > 0 {
		t.Fatalf("%d of %d messages are missing, %d came twice (%v); by session: %v", missing, messages, double, err, counts)
	}
	return counts
}

// Messages of several publishers keep their order over edges, each comes once. The
// publishers wait for the slowest subscriber: what an edge cannot keep up with, it
// drops, and counts.
func TestOrderOverEdges(t *testing.T) {
	t.Parallel()
	messages := harness.AtLength(100_000, 1_000_000)
	o := history.StartOverlay(t, strings.Replace(harness.DefaultCaddyfile, "bandwidth {", "limits {\n\t\t\tsend_queue 1GiB\n\t\t}\n\t\tbandwidth {", 1), "")
	sessions := o.Spread("seq.*", "seq.x", 0, 1, 2)
	const publishers = 2
	var wg sync.WaitGroup
	subscribers := slices.Concat(sessions...)
	slowest := newSlowest(len(subscribers))
	outcomes := make(chan error, len(subscribers))
	begin := time.Now()
	for at, s := range subscribers {
		go func() { // ends with the sequences, or the link's timeout
			outcomes <- readSequences(s.Link, publishers, messages/publishers, func() { slowest.Read(at, 1) })
			slowest.Read(at, messages) // nobody is to wait for it
		}()
	}
	const window = 10_000 // messages: less than the queue for an edge takes
	var sent atomic.Int64
	for n := range publishers {
		p := o.Session(0)
		wg.Go(func() {
			for i := range messages / publishers {
				slowest.Await(int(sent.Add(1)) - window)
				frame := wire.AppendPublish(nil, wire.Publish{
					Tenant: []byte("paint.room"), Channel: fmt.Appendf(nil, "seq.%d", n), Payload: strconv.AppendInt(nil, int64(i), 10),
				})
				if err := p.Write(harness.AsFrame, frame); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	for range subscribers {
		if err := <-outcomes; err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d messages to %d subscribers at 2 other edges in %v", messages, len(subscribers), time.Since(begin))
}

// slowest lets publishers wait for the slowest of several readers.
type slowest struct {
	mu    sync.Mutex
	moved *sync.Cond
	has   []int // read, by reader
	least int   // of them
}

func newSlowest(readers int) *slowest {
	s := &slowest{has: make([]int, readers)}
	s.moved = sync.NewCond(&s.mu)
	return s
}

// Read notes that a reader has read more messages.
func (s *slowest) Read(reader, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.has[reader] += n
	if least := slices.Min(s.has); least > s.least {
		s.least = least
		s.moved.Broadcast()
	}
}

// Await returns when every reader has read at least this many.
func (s *slowest) Await(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.least < n {
		s.moved.Wait()
	}
}

// readSequences reads numbers from 0, without a gap, on so many channels, and calls
// read after each.
func readSequences(l harness.Link, channels, each int, read func()) error {
	next := map[string]int{}
	for left := channels * each; left > 0; left-- {
		kind, frame, err := l.Read()
		if err != nil {
			return fmt.Errorf("after %v: %w", next, err)
		}
		d, err := wire.DecodeDeliver(frame)
		if kind != harness.AsFrame || err != nil {
			return fmt.Errorf("after %v: got %q", next, frame)
		}
		if string(d.Payload) != strconv.Itoa(next[string(d.Channel)]) {
			return fmt.Errorf("%s: got %s after %v", d.Channel, d.Payload, next)
		}
		next[string(d.Channel)]++
		read()
	}
	return nil
}
