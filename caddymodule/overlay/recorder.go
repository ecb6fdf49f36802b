package overlay

import (
	"sync"
	"time"
)

const (
	interval  = 5 * time.Second
	remember  = 15 * time.Minute
	maxSample = int(remember / interval)
)

// Samples are the last 15 minutes of an edge, one for each 5 s of the wall clock, so that
// those of several edges fit together. All lists are as long, at most 180, and oldest first.
type Samples struct {
	End             int64     `json:"end"` // of the newest, in seconds since 1970
	IntervalSeconds int       `json:"interval_seconds"`
	Connections     []int     `json:"connections"`
	MemoryBytes     []uint64  `json:"memory_bytes"`
	MessagesIn      []float64 `json:"messages_in"` // this and what follows: a second
	Deliveries      []float64 `json:"deliveries"`
	Dropped         []float64 `json:"dropped"`
	Refused         []float64 `json:"refused"` // ERR lines and handshakes
}

// sound reports whether samples are as an edge makes them: those of another one may not be.
func (s *Samples) sound() bool {
	n := len(s.Connections)
	for _, list := range [][]float64{s.MessagesIn, s.Deliveries, s.Dropped, s.Refused} {
		if list == nil || len(list) != n {
			return false
		}
	}
	return s.Connections != nil && s.MemoryBytes != nil && len(s.MemoryBytes) == n && n <= maxSample && s.IntervalSeconds > 0
}

// recorder takes a sample every interval. Its goroutine ends with close, which waits for it.
type recorder struct {
	counts func() Counts
	quit   chan struct{}
	done   chan struct{}

	mu    sync.Mutex
	taken []record // oldest first, at most maxSample and the one before
}

type record struct {
	Counts
	at time.Time
}

func newRecorder(counts func() Counts) *recorder {
	r := &recorder{counts: counts, quit: make(chan struct{}), done: make(chan struct{})}
	r.take(time.Now()) // so that there is one when somebody asks
	go r.run()
	return r
}

func (r *recorder) close() {
	close(r.quit)
	<-r.done
}

func (r *recorder) run() {
	defer close(r.done)
	timer := time.NewTimer(untilNext(time.Now()))
	defer timer.Stop()
	for {
		select {
		case now := <-timer.C:
			r.take(now)
			timer.Reset(untilNext(time.Now()))
		case <-r.quit:
			return
		}
	}
}

// untilNext is how long it is until the wall clock shows a multiple of interval.
func untilNext(now time.Time) time.Duration {
	return interval - time.Duration(now.UnixNano()%int64(interval))
}

// take takes a sample. Of the same interval it keeps the first, as after a clock was set.
func (r *recorder) take(now time.Time) {
	counts := r.counts()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.taken = append(r.taken, record{counts, now})
	if len(r.taken) > maxSample+1 {
		r.taken = append(r.taken[:0:0], r.taken[1:]...)
	}
}

// recent returns the samples that were taken, and the reasons in their time until now.
func (r *recorder) recent() (Samples, Reasons) {
	r.mu.Lock()
	taken := r.taken
	r.mu.Unlock()
	first, last := taken[0], taken[len(taken)-1]
	s := Samples{
		End: last.at.Unix(), IntervalSeconds: int(interval / time.Second),
		Connections: []int{}, MemoryBytes: []uint64{}, MessagesIn: []float64{}, Deliveries: []float64{}, Dropped: []float64{}, Refused: []float64{},
	}
	for i, now := range taken[1:] {
		before := taken[i]
		seconds := max(now.at.Sub(before.at).Seconds(), 0.001)
		rate := func(before, now uint64) float64 { return float64(max(now, before)-before) / seconds }
		s.Connections = append(s.Connections, now.Connections)
		s.MemoryBytes = append(s.MemoryBytes, now.MemoryBytes)
		s.MessagesIn = append(s.MessagesIn, rate(before.MessagesIn, now.MessagesIn))
		s.Deliveries = append(s.Deliveries, rate(before.Deliveries, now.Deliveries))
		s.Dropped = append(s.Dropped, rate(sum(before.Reasons.Dropped), sum(now.Reasons.Dropped)))
		s.Refused = append(s.Refused, rate(before.refused(), now.refused()))
	}
	return s, r.counts().Reasons.since(first.Reasons)
}

func (c Counts) refused() uint64 { return sum(c.Reasons.Refused) + sum(c.Reasons.HandshakesRefused) }
