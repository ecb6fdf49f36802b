package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/millrace/millrace/caddymodule/guest"
)

// worker has the queue of events and the goroutine that sends them, from the first event
// until Destruct. Its methods may be called concurrently.
type worker struct {
	options
	log        *zap.Logger
	limitedLog *zap.Logger // one line a second
	backend    *backend
	slots      *slots

	quit   chan struct{}      // closed by Destruct
	ctx    context.Context    // of requests with events
	cancel context.CancelFunc // when their time is over after quit
	added  chan struct{}      // tells the sender of a new event; has room for one
	done   chan struct{}      // closed when the sender has ended

	mu        sync.Mutex // guards what follows
	started   bool       // the sender runs
	stopped   bool       // it does no longer take events
	waiting   []event    // those on their way first
	perCause  map[string]int
	perIssuer map[string]int
	lost      uint64    // events that no batch has reported yet
	warned    time.Time // of a loss
}

// Pauses between the attempts to send a batch: each is twice as long as the one before,
// and up to as much again is drawn at random.
const (
	minPause = 250 * time.Millisecond
	maxPause = 30 * time.Second
)

func newWorker(o options, log *zap.Logger) *worker {
	w := &worker{
		options: o, log: log, limitedLog: guest.OncePerSecond(log), backend: newBackend(o), slots: newSlots(o.ask.maxInFlight),
		quit: make(chan struct{}), added: make(chan struct{}, 1), done: make(chan struct{}),
		perCause: map[string]int{}, perIssuer: map[string]int{},
	}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	return w
}

// Destruct implements [caddy.Destructor]: it sends what waits, for the time of one
// request, and waits for the sender.
func (w *worker) Destruct() error {
	w.mu.Lock()
	started := w.started
	w.stopped = true
	w.mu.Unlock()
	close(w.quit)
	if started {
		timer := time.AfterFunc(w.timeout, w.cancel)
		<-w.done
		timer.Stop()
	}
	w.cancel()
	w.backend.close()
	return nil
}

func (w *worker) sends(name string) bool      { return slices.Contains(w.events, name) }
func (w *worker) asksBefore(name string) bool { return slices.Contains(w.ask.before, name) }

// add queues an event. It waits for nothing: one that finds no room is lost, and the next
// batch says so. One token has half of the queue at most, and so has one subject, so that a
// client that comes and goes all the time does not take the events of others with it. So has one
// issuer, where there are several.
func (w *worker) add(e event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	half := max(1, w.queue/2)
	if w.stopped || len(w.waiting) >= w.queue || w.perCause[e.cause()] >= half || w.perIssuer[e.issuer] >= half {
		w.loseLocked(1, "the queue has no room")
		return
	}
	w.waiting = append(w.waiting, e)
	w.perCause[e.cause()]++
	if e.issuer != "" {
		w.perIssuer[e.issuer]++
	}
	queued.Inc()
	if !w.started {
		w.started = true
		go w.run()
	}
	select {
	case w.added <- struct{}{}:
	default:
	}
}

// loseLocked counts lost events, and warns of them once a second. The caller holds w.mu.
func (w *worker) loseLocked(n int, why string) {
	w.lost += uint64(n)
	eventsTotal.WithLabelValues("lost").Add(float64(n))
	if now := time.Now(); now.Sub(w.warned) >= time.Second {
		w.warned = now
		w.log.Warn("events are lost", zap.String("why", why), zap.Uint64("not_told_yet", w.lost))
	}
}

// run sends what comes until Destruct.
func (w *worker) run() {
	defer close(w.done)
	for {
		events, lost := w.next()
		if len(events) == 0 {
			return
		}
		if w.deliver(events, lost) {
			w.finish(len(events), lost)
			eventsTotal.WithLabelValues("delivered").Add(float64(len(events)))
			continue
		}
		w.finish(len(events), 0)
		w.mu.Lock()
		w.loseLocked(len(events), "the backend did not take them")
		w.mu.Unlock()
	}
}

// next waits for a batch: until it is full, or its first event has waited for batchDelay.
// The events stay in the queue. It returns none when the worker ends and there are none.
func (w *worker) next() (events []event, lost uint64) {
	var delayOver <-chan time.Time
	for {
		w.mu.Lock()
		n := len(w.waiting)
		if n >= w.batchSize || n > 0 && w.stopped {
			events, lost = slices.Clone(w.waiting[:min(n, w.batchSize)]), w.lost
			w.mu.Unlock()
			return events, lost
		}
		stopped := w.stopped
		w.mu.Unlock()
		if stopped {
			return nil, 0
		}
		if n > 0 && delayOver == nil {
			timer := time.NewTimer(w.batchDelay)
			defer timer.Stop()
			delayOver = timer.C
		}
		select {
		case <-w.added:
		case <-w.quit:
		case <-delayOver:
			w.mu.Lock()
			defer w.mu.Unlock()
			return slices.Clone(w.waiting[:min(len(w.waiting), w.batchSize)]), w.lost
		}
	}
}

// finish takes n events out of the queue; told is how many lost ones the backend knows of
// now.
func (w *worker) finish(n int, told uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.waiting[:n] {
		if w.perCause[e.cause()]--; w.perCause[e.cause()] == 0 {
			delete(w.perCause, e.cause())
		}
		if e.issuer == "" {
			continue
		}
		if w.perIssuer[e.issuer]--; w.perIssuer[e.issuer] == 0 {
			delete(w.perIssuer, e.issuer)
		}
	}
	clear(w.waiting[:n])
	w.waiting = w.waiting[n:]
	w.lost -= told
	queued.Sub(float64(n))
}

// batch is the body of a request with events.
type batch struct {
	ID     string  `json:"id"`   // the same whenever it is sent again
	Edge   string  `json:"edge"` // of this process
	Lost   uint64  `json:"lost"` // events since the last batch that the backend took
	Events []event `json:"events"`
}

// deliver sends a batch until the backend takes it, and reports whether it did. After
// quit it tries once more.
func (w *worker) deliver(events []event, lost uint64) bool {
	id := newID()
	body, err := json.Marshal(batch{id, instance(), lost, events})
	if err != nil { // no event has what JSON does not know
		w.log.Error("events cannot be encoded", zap.Error(err))
		return false
	}
	begin := time.Now()
	for pause := minPause; ; pause = min(2*pause, maxPause) {
		last := w.quitting() // before the attempt: so there is one after quit
		ctx, cancel := context.WithTimeout(w.ctx, w.timeout)
		answer, err := w.backend.post(ctx, id, body)
		cancel()
		if err == nil && answer.ok() {
			return true
		}
		if err == nil {
			err = fmt.Errorf("status %d", answer.status)
		}
		wait := max(pause+rand.N(pause), answer.retryAfter)
		over := last || time.Since(begin)+wait > w.retryFor
		w.log.Warn("the backend did not take a batch", zap.Error(err), zap.Int("events", len(events)), zap.Bool("given_up", over))
		if over {
			return false
		}
		select {
		case <-time.After(wait):
		case <-w.quit:
		}
	}
}

func (w *worker) quitting() bool {
	select {
	case <-w.quit:
		return true
	default:
		return false
	}
}
