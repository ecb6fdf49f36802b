package main

import (
	"context"
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

	Subscribers int      // connections that read Channel
	Patterns    []string // subscribed by one more connection, which reads
	Stalled     int      // connections that subscribe to # and never read
	Fill        int      // bytes published before the measurement begins

	Publishers int     // connections that publish to Channel
	Payload    int     // bytes
	Rate       float64 // messages/s of each publisher; 0: as many as the edge reads
}

const fillPayload = 32 << 10 // bytes of a message that fills a queue

// A disturbance is a running disturbJob. Each connection has at most one goroutine that
// reads it and one that publishes; close ends them and waits.
type disturbance struct {
	job      disturbJob
	driver   loadgen.Driver
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
	d := &disturbance{job: j, driver: j.Target.driver(), failed: make(chan error, 1)}
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
	if len(d.job.Patterns) > 0 {
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
	conn, err := d.driver.Dial(ctx)
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
