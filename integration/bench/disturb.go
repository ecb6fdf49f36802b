package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/millrace/millrace/internal/loadgen"
)

// disturbJob is load beside a measurement, until it is stopped.
type disturbJob struct {
	Target  target
	Channel string // of its own traffic
	// Tenants of its connections, in turns, all of which the target's token names; none: the target's.
	Tenants []string

	Subscribers  int      // connections that read Channel
	Patterns     []string // subscribed by one more connection, which reads
	PatternsEach int      // so many connections subscribe to them, in place of one
	Stalled      int      // connections that subscribe to # and never read
	Fill         int      // bytes published before the measurement begins

	// Searchers are connections that fill a history with Stored messages each, and ask for the past of
	// patterns that match none of them, as often as the edge lets them.
	Searchers, Stored int

	Publishers int     // connections that publish to Channel
	Payload    int     // bytes
	Rate       float64 // messages/s of each publisher; 0: as many as the edge reads
}

const fillPayload = 32 << 10 // bytes of a message that fills a queue

// A disturbance is a running disturbJob. Each connection has at most one goroutine that
// reads it and one that publishes; close ends them and waits.
type disturbance struct {
	job      disturbJob
	drivers  []loadgen.Driver
	opened   atomic.Int64 // connections
	received atomic.Int64 // bytes of payload
	group    sync.WaitGroup
	failed   chan error // capacity 1: the first failure

	mu     sync.Mutex
	conns  []loadgen.Conn
	closed bool
}

// run sets everything up, calls ready, and continues until ctx ends. It returns the
// payload that each subscriber received since ready, KB/s.
func (j disturbJob) run(ctx context.Context, ready func() error) (through float64, err error) {
	d := &disturbance{job: j, drivers: []loadgen.Driver{j.Target.driver()}, failed: make(chan error, 1)}
	if len(j.Tenants) > 0 {
		d.drivers = nil
	}
	for _, name := range j.Tenants {
		to := j.Target
		to.Tenant = name
		d.drivers = append(d.drivers, to.driver())
	}
	defer d.close()
	defer context.AfterFunc(ctx, d.hangUp)() // also during the setup
	if err := d.setUp(ctx); err != nil {
		return 0, err
	}
	if err := ready(); err != nil {
		return 0, err
	}
	start, before := time.Now(), d.received.Load()
	select {
	case <-ctx.Done():
	case err = <-d.failed:
	}
	bytes := d.received.Load() - before
	return float64(bytes) / float64(max(1, j.Subscribers)) / kilobyte / time.Since(start).Seconds(), err
}

func (d *disturbance) setUp(ctx context.Context) error {
	if err := d.openSubscribers(ctx); err != nil {
		return err
	}
	for i := 0; len(d.job.Patterns) > 0 && i < max(1, d.job.PatternsEach); i++ {
		conn, err := d.open(ctx, d.job.Patterns...)
		if err != nil {
			return err
		}
		d.read(conn)
	}
	for range d.job.Stalled {
		if _, err := d.open(ctx, "#"); err != nil {
			return err
		}
	}
	if d.job.Fill > 0 {
		conn, err := d.open(ctx)
		if err != nil {
			return err
		}
		message := conn.AppendPublish(nil, d.job.Channel, make([]byte, fillPayload))
		for range d.job.Fill / fillPayload {
			if err := conn.Write(message); err != nil {
				return err
			}
		}
	}
	for i := range d.job.Searchers {
		if err := d.openSearcher(ctx, i); err != nil {
			return err
		}
	}
	for range d.job.Publishers {
		conn, err := d.open(ctx)
		if err != nil {
			return err
		}
		d.read(conn)
		d.group.Go(func() { d.publish(conn) })
	}
	return nil
}

// searcher is a connection to an edge that can search histories.
type searcher interface{ Search(pattern string) error }

// openSearcher fills a history and begins to search it.
func (d *disturbance) openSearcher(ctx context.Context, i int) error {
	conn, err := d.open(ctx)
	if err != nil {
		return err
	}
	to, ok := conn.(searcher)
	if !ok {
		return errors.New("only edges have histories")
	}
	d.read(conn)
	for n := range d.job.Stored {
		if err := conn.Write(conn.AppendPublish(nil, fmt.Sprintf("%s.%d", d.job.Channel, n%100), make([]byte, 16))); err != nil {
			return err
		}
	}
	d.group.Go(func() {
		for n := 0; ; n++ {
			if err := to.Search(fmt.Sprintf("%s.none.%d.%d.*", d.job.Channel, i, n%16)); err != nil {
				d.fail(err)
				return
			}
		}
	})
	return nil
}

// openSubscribers opens the subscribers with several dialers at a time.
func (d *disturbance) openSubscribers(ctx context.Context) error {
	var (
		next    atomic.Int64
		dialers sync.WaitGroup
		failed  = make(chan error, 1)
	)
	for range min(16, d.job.Subscribers) {
		dialers.Go(func() {
			for next.Add(1) <= int64(d.job.Subscribers) {
				conn, err := d.open(ctx, d.job.Channel)
				if err != nil {
					select {
					case failed <- err:
					default:
					}
					return
				}
				d.read(conn)
			}
		})
	}
	dialers.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

// open connects and subscribes.
func (d *disturbance) open(ctx context.Context, patterns ...string) (loadgen.Conn, error) {
	n := int(d.opened.Add(1)) - 1
	conn, err := d.drivers[n%len(d.drivers)].Dial(ctx)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	d.conns = append(d.conns, conn)
	if d.closed {
		conn.Close()
	}
	d.mu.Unlock()
	for _, p := range patterns {
		if err := conn.Subscribe(p); err != nil {
			return nil, fmt.Errorf("subscribing to %s: %w", p, err)
		}
	}
	return conn, nil
}

// read counts deliveries and discards them.
func (d *disturbance) read(conn loadgen.Conn) {
	d.group.Go(func() { // ends with the connection
		for {
			bytes := 0
			err := conn.Receive(func(payload []byte) { bytes += len(payload) })
			d.received.Add(int64(bytes))
			if len(d.job.Tenants) > 0 && loadgen.IsRefusal(err) { // that is what an attacker gets
				continue
			}
			if err != nil {
				d.fail(err)
				return
			}
		}
	})
}

// publish sends at the job's rate until the connection ends.
func (d *disturbance) publish(conn loadgen.Conn) {
	var (
		payload = make([]byte, d.job.Payload)
		message = conn.AppendPublish(nil, d.job.Channel, payload)
		start   = time.Now()
	)
	for n := 0; ; n++ {
		if d.job.Rate > 0 {
			time.Sleep(time.Until(start.Add(time.Duration(float64(n) / d.job.Rate * float64(time.Second)))))
		}
		if err := conn.Write(message); err != nil {
			d.fail(err)
			return
		}
	}
}

func (d *disturbance) fail(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return
	}
	select {
	case d.failed <- err:
	default:
	}
}

// hangUp closes the connections, which ends everything that waits for them.
func (d *disturbance) hangUp() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	for _, conn := range d.conns {
		conn.Close()
	}
}

func (d *disturbance) close() {
	d.hangUp()
	d.group.Wait()
}
