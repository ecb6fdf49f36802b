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
	// Tenants of its connections, in turns, which the target's token names; none: the target's.
	Tenants []string

	Subscribers  int      // connections that read Channel
	Patterns     []string // subscribed by one more connection, which reads
	PatternsEach int      // so many connections subscribe to them, in place of one
	Stalled      int      // connections that subscribe to # and never read
	Fill         int      // bytes published before the measurement begins

	// Searchers are connections that fill a history with Stored messages each, and ask for the past of
	// patterns that match none of them, as often as the edge lets them.
	Searchers, Stored int

	// Reconnectors connect and hang up, again and again, as fast as the edge lets them.
	Reconnectors int

	Publishers int     // connections that publish to Channel
	Payload    int     // bytes
	Rate       float64 // messages/s of each publisher; 0: as many as the edge reads
}

const fillPayload = 32 << 10 // bytes of a message that fills a queue

// effect is what a disturbance did.
type effect struct {
	Through float64 // payload that each subscriber received, KB/s
	Dialed  float64 // connections/s that Reconnectors opened and closed
	Lost    int     // connections of an attacker that ended too early
}

// A disturbance is a running disturbJob. Each connection has at most one goroutine that
// reads it and one that publishes; close ends them and waits.
type disturbance struct {
	job      disturbJob
	drivers  []loadgen.Driver
	opened   atomic.Int64 // connections
	received atomic.Int64 // bytes of payload
	dialed   atomic.Int64 // connections of Reconnectors
	lost     atomic.Int64 // connections that ended: see end
	group    sync.WaitGroup
	failed   chan error // capacity 1: the first failure

	mu     sync.Mutex
	conns  []loadgen.Conn
	closed bool
}

// run sets everything up, calls ready, and continues until ctx ends. It returns
// what it did since ready.
func (j disturbJob) run(ctx context.Context, ready func() error) (did effect, err error) {
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
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ctx, d.hangUp)() // also during the setup
	if err := d.setUp(ctx); err != nil {
		return did, err
	}
	if err := ready(); err != nil {
		return did, err
	}
	start, before, dialedBefore := time.Now(), d.received.Load(), d.dialed.Load()
	select {
	case <-ctx.Done():
	case err = <-d.failed:
	}
	seconds := time.Since(start).Seconds()
	did.Through = float64(d.received.Load()-before) / float64(max(1, j.Subscribers)) / kilobyte / seconds
	did.Dialed, did.Lost = float64(d.dialed.Load()-dialedBefore)/seconds, int(d.lost.Load())
	return did, err
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
	if d.job.Reconnectors > 0 {
		conn, err := d.open(ctx) // which says why if none can connect
		if err != nil {
			return err
		}
		d.read(conn)
	}
	for range d.job.Reconnectors {
		d.group.Go(func() { d.reconnect(ctx) })
	}
	var publishers []loadgen.Conn
	for range d.job.Publishers {
		conn, err := d.open(ctx)
		if err != nil {
			return err
		}
		d.read(conn)
		publishers = append(publishers, conn)
	}
	for _, conn := range publishers { // at once: none has to connect beside the load of others
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
			if to.Search(fmt.Sprintf("%s.none.%d.%d.*", d.job.Channel, i, n%16)) != nil {
				return // its reader says why
			}
		}
	})
	return nil
}

// reconnect connects and hangs up until ctx ends. A failure is no end: the edge may refuse connections, and
// the machine may have no port left for the moment.
func (d *disturbance) reconnect(ctx context.Context) {
	for ctx.Err() == nil {
		conn, err := d.drivers[0].Dial(ctx)
		if err != nil {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		conn.Close()
		d.dialed.Add(1)
	}
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
			if d.attacks() && loadgen.IsRefusal(err) { // that is what an attacker gets
				continue
			}
			if err != nil {
				d.end(err)
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
		if conn.Write(message) != nil {
			return // its reader says why
		}
	}
}

// attacks reports whether the disturbance is that of another issuer, which goes on whatever the edge does.
func (d *disturbance) attacks() bool { return len(d.job.Tenants) > 0 }

// end notes that a connection has ended. An attacker may lose half of them: the edge ends them, or the machine
// has no time left to read.
func (d *disturbance) end(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return
	}
	if d.attacks() && d.lost.Add(1) <= d.opened.Load()/2 {
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
	var closing sync.WaitGroup
	for _, conn := range d.conns { // at once: each may have to wait for a second, as the edge does not read
		closing.Go(func() { conn.Close() })
	}
	closing.Wait()
}

func (d *disturbance) close() {
	d.hangUp()
	d.group.Wait()
}
