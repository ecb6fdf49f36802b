package loadgen

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	connectTimeout = 30 * time.Second // for a connection with its subscription
	drainTimeout   = 30 * time.Second
	tickInterval   = 100 * time.Millisecond
	progressTicks  = 10 // ticks between two lines of progress
)

// A run is one call of Run, which owns it. It starts three kinds of goroutines:
// dialers, for which open waits; a receiver for each connection; and a publisher.
// close ends the last two, and waits for them.
type run struct {
	ctx    context.Context // ends with the caller's, or with the first failure
	cancel context.CancelFunc
	caller context.Context
	driver Driver
	server process
	o      Options

	tag       uint32  // of this run's messages
	name      string  // of its channel, or of its channels before a dot
	window    *window // nil: none
	receivers []*receiver
	from, to  atomic.Int64 // the measured time; both are the end of time before it
	published atomic.Int64
	fanout    int64        // deliveries of one message
	maxLag    atomic.Int64 // ns that a paced message was published late at most
	heldBack  atomic.Bool  // by MaxRate

	closing atomic.Bool
	ended   sync.WaitGroup
	result  Result

	failOnce sync.Once
	failure  error // the first
}

const endOfTime = 1<<63 - 1

func newRun(ctx context.Context, d Driver, o Options, server process) *run {
	r := &run{caller: ctx, driver: d, server: server, o: o, tag: rand.Uint32()}
	r.ctx, r.cancel = context.WithCancel(ctx)
	r.name = fmt.Sprintf("bench.%04x", r.tag>>16)
	r.from.Store(endOfTime)
	r.to.Store(endOfTime)
	r.result.Scenario = o.Scenario
	return r
}

// fail ends the run early. It records only the first failure: later ones, and those after
// the caller has ended the run, mostly follow from it.
func (r *run) fail(err error) {
	r.failOnce.Do(func() {
		if r.ctx.Err() == nil {
			r.failure = err
		}
		r.cancel()
	})
}

func (r *run) progress(line string) {
	if r.o.Progress != nil {
		r.o.Progress(line)
	}
}

// open opens n connections, each subscribed to its channel, on which that many publishers
// publish, and reads them. It reports whether all are open.
func (r *run) open(n, publishers int, channel func(i int) string) bool {
	r.receivers = make([]*receiver, n, n+1)
	before := r.takeReading()
	var (
		next, done atomic.Int64
		dialers    sync.WaitGroup
		opened     = make(chan struct{})
	)
	for range min(r.o.Dialers, n) {
		dialers.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && r.ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				c, err := r.connect(channel(i), publishers)
				if err != nil {
					r.fail(err)
					return
				}
				r.receivers[i] = c
				done.Add(1)
			}
		})
	}
	go func() { dialers.Wait(); close(opened) }()
	tick := time.NewTicker(tickInterval * progressTicks)
	defer tick.Stop()
	for waiting := true; waiting; {
		select {
		case <-tick.C:
			r.progress(fmt.Sprintf("%s of %s connections", Thousands(done.Load()), Thousands(int64(n))))
		case <-opened:
			waiting = false
		}
	}
	after := r.takeReading()
	r.result.Connections = int(done.Load())
	if seconds := after.seconds(before); seconds > 0 {
		r.result.HandshakesPerSecond = float64(done.Load()) / seconds
	}
	if done.Load() > 0 {
		r.result.ServerCPUSecondsPerThousandHandshakes = (after.server - before.server) / float64(done.Load()) * 1000
	}
	return r.ctx.Err() == nil
}

// connect opens one connection and starts to read it. Without a channel it is the
// connection of the publisher.
func (r *run) connect(channel string, publishers int) (*receiver, error) {
	ctx, cancel := context.WithTimeout(r.ctx, max(connectTimeout, r.o.Patience))
	defer cancel()
	dial := r.driver.Dial
	if p, splits := r.driver.(PublisherDialer); splits && channel == "" {
		dial = p.DialPublisher
	}
	conn, err := dial(ctx)
	if errors.Is(err, syscall.EMFILE) {
		return nil, fmt.Errorf("%w: raise the limit with `ulimit -n`, or use fewer connections", err)
	}
	if err != nil {
		return nil, err
	}
	unwatch := context.AfterFunc(ctx, func() { conn.Close() })
	if channel != "" {
		err = conn.Subscribe(channel)
	}
	if !unwatch() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	c := &receiver{conn: conn, run: r, orders: make([]order, publishers)}
	for i := range c.orders {
		c.orders[i].next = 1
	}
	r.ended.Go(func() {
		if err := c.receive(); !r.closing.Load() {
			r.fail(fmt.Errorf("a connection ended: %w", err))
		}
	})
	return c, nil
}

// takeReading takes a reading. The connections must be open, or not started.
func (r *run) takeReading() reading {
	return reading{at: time.Now(), server: r.server.cpu(), self: ownCPU(), delivered: r.delivered(), sent: r.published.Load()}
}

func (r *run) delivered() (sum int64) {
	for _, c := range r.receivers {
		if c != nil {
			sum += c.delivered.Load()
		}
	}
	return sum
}

// wait lets the run go on for d, and reports its progress as what. It returns false if the
// run ended early.
func (r *run) wait(d time.Duration, what string) bool {
	start := time.Now()
	last, lastAt := r.delivered(), start
	shown := last
	end := time.NewTimer(d)
	defer end.Stop()
	tick := time.NewTicker(tickInterval)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-r.ctx.Done():
			return false
		case <-end.C:
			return true
		case now := <-tick.C:
			delivered := r.delivered()
			if delivered != last || r.published.Load()*r.fanout == delivered {
				last, lastAt = delivered, now
			} else if now.Sub(lastAt) > r.o.Patience {
				r.fail(fmt.Errorf("no message has arrived for %v, though some are due", r.o.Patience))
				return false
			}
			if n%progressTicks > 0 {
				continue
			}
			line := fmt.Sprintf("%s: %.0f of %.0f s", what, now.Sub(start).Seconds(), d.Seconds())
			if r.fanout > 0 {
				rate := float64(delivered-shown) / (tickInterval * progressTicks).Seconds()
				line += fmt.Sprintf(", %s deliveries/s", Thousands(int64(rate)))
				shown = delivered
			}
			r.progress(line)
		}
	}
}

// close ends all connections, and waits for all goroutines. Further calls do nothing.
func (r *run) close() {
	r.closing.Store(true)
	r.cancel()
	for _, c := range r.receivers {
		if c != nil {
			c.conn.Close()
		}
	}
	r.ended.Wait()
}

// finish closes the connections and returns the result of the run.
func (r *run) finish() (*Result, error) {
	interrupted := context.Cause(r.caller)
	r.close()
	s := &r.result
	var times summary
	for _, c := range r.receivers {
		if c != nil {
			s.Delivered += c.count
			s.Duplicates += c.duplicates
			s.Reordered += c.reordered
			times.add(&c.times)
		}
	}
	s.Published = r.published.Load()
	s.Lost = s.Published*r.fanout - s.Delivered
	s.P50us, s.P90us, s.P99us, s.P999us = times.quantile(0.5), times.quantile(0.9), times.quantile(0.99), times.quantile(0.999)
	s.Maxus = float64(times.max) / 1e3
	s.PublishLagMaxus = float64(r.maxLag.Load()) / 1e3
	if cores := float64(runtime.GOMAXPROCS(0)); s.GeneratorCores > 0.95*cores {
		s.Notes = append(s.Notes, fmt.Sprintf("this program used all of its %.0f cores: the server may be able to do more", cores))
	}
	if r.heldBack.Load() {
		s.Notes = append(s.Notes, fmt.Sprintf("held back to %s messages/s, below the caps of the token: with more subscribers the server may be able to do more",
			Thousands(int64(r.o.MaxRate))))
	}
	var errs []error
	if r.failure != nil {
		errs = append(errs, r.failure)
	} else if s.Lost != 0 {
		errs = append(errs, fmt.Errorf("lost %s of %s deliveries: the figures are void (a smaller window keeps the server's queues shorter)",
			Thousands(s.Lost), Thousands(s.Published*r.fanout)))
	}
	if s.Duplicates > 0 || s.Reordered > 0 {
		errs = append(errs, fmt.Errorf("%s deliveries arrived twice, and %s after later ones: the figures are void",
			Thousands(s.Duplicates), Thousands(s.Reordered)))
	}
	if adviser, ok := r.driver.(Adviser); ok && s.Seconds > 0 {
		if err := adviser.Advise(r.o, s); err != nil {
			errs = append(errs, err)
		}
	}
	for _, err := range errs {
		s.Errors = append(s.Errors, err.Error())
	}
	if interrupted != nil {
		s.Interrupted = true
		errs = append(errs, fmt.Errorf("interrupted after %.1f s of measuring: %w", s.Seconds, interrupted))
	}
	return s, errors.Join(errs...)
}
