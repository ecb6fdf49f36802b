package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/millrace/millrace/internal/loadgen"
)

// capJob measures one cap of one connection. It counts bytes as the protocol does: those
// of a message, without the transport's framing, and 32 more.
type capJob struct {
	Free   target // without a cap that matters here
	Capped target
	// Ingress: the publisher is capped, and sends as much as it can. Otherwise the
	// subscriber is capped, and gets somewhat more than its cap.
	Ingress  bool
	KBPerSec int
	Payload  int // bytes
	Channel  string

	Warmup, Duration time.Duration
}

const (
	messageCost = 32   // bytes that each message counts beyond its own
	kilobyte    = 1024 // bytes in a KB of caps

	overload = 1.1 // times the cap
	// headStart is how much is sent at once, in time: what the bucket of one second
	// lets pass freely, and some more that has to wait.
	headStart = 1200 * time.Millisecond
)

type capResult struct {
	BytesPerSecond float64
	Error          string
}

// measureCaps runs the jobs at the same time.
func measureCaps(ctx context.Context, jobs []capJob) []capResult {
	results := make([]capResult, len(jobs))
	var group sync.WaitGroup
	for i, j := range jobs {
		group.Go(func() {
			rate, err := j.run(ctx)
			results[i].BytesPerSecond = rate
			if err != nil {
				results[i].Error = err.Error()
			}
		})
	}
	group.Wait()
	return results
}

// arrivals are the deliveries of one job.
type arrivals struct {
	first chan struct{} // closed by the first of them

	mu    sync.Mutex
	count int64
	last  time.Time // when the last of them arrived
	err   error
}

func (a *arrivals) read() (count int64, last time.Time, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.count, a.last, a.err
}

// receive counts until the connection ends.
func (a *arrivals) receive(conn loadgen.Conn) {
	for {
		n := int64(0)
		err := conn.Receive(func([]byte) { n++ })
		a.mu.Lock()
		if n > 0 {
			if a.count == 0 {
				close(a.first)
			}
			a.count += n
			a.last = time.Now()
		}
		if err != nil && a.err == nil {
			a.err = err
		}
		a.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// run returns the rate at which the cap let bytes pass: between the last
// arrival before the measured time and the last one in it, so that neither
// large messages nor bursts are cut in the middle.
func (j capJob) run(ctx context.Context) (bytesPerSecond float64, err error) {
	var (
		conns []loadgen.Conn
		group sync.WaitGroup
		seen  = arrivals{first: make(chan struct{})}
	)
	defer func() { // ends the goroutines, and waits
		for _, conn := range conns {
			conn.Close()
		}
		group.Wait()
	}()
	open := func(t target, channels ...string) (loadgen.Conn, error) {
		conn, err := t.driver().Dial(ctx)
		if err != nil {
			return nil, err
		}
		conns = append(conns, conn)
		for _, channel := range channels {
			if err := conn.Subscribe(channel); err != nil {
				return nil, err
			}
		}
		return conn, nil
	}

	publisher, subscriber := j.Capped, j.Free
	if !j.Ingress {
		publisher, subscriber = j.Free, j.Capped
	}
	// Two channels for a capped publisher, so that neither of its subscribers
	// needs the highest cap; two publishers for a capped subscriber.
	channels := []string{j.Channel + ".0"}
	publishers := 2
	if j.Ingress {
		channels, publishers = append(channels, j.Channel+".1"), 1
	}
	for _, channel := range channels {
		conn, err := open(subscriber, channel)
		if err != nil {
			return 0, err
		}
		group.Go(func() { seen.receive(conn) })
	}
	for range publishers {
		conn, err := open(publisher)
		if err != nil {
			return 0, err
		}
		group.Go(func() { _ = conn.Receive(func([]byte) {}) }) // receives nothing but its end
		group.Go(func() { j.publish(conn, channels, publishers) })
	}

	select {
	case <-seen.first:
	case <-time.After(waitTimeout):
		return 0, fmt.Errorf("no message arrived in %v", waitTimeout)
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	if err := sleep(ctx, j.Warmup); err != nil {
		return 0, err
	}
	before, from, _ := seen.read()
	after, to, err := before, from, error(nil)
	for end := time.Now().Add(waitTimeout); err == nil && after == before; { // a busy machine may take longer
		if time.Now().After(end) {
			return 0, fmt.Errorf("no message arrived in %v", waitTimeout)
		}
		if err := sleep(ctx, j.Duration); err != nil {
			return 0, err
		}
		after, to, err = seen.read()
	}
	if err != nil {
		return 0, err
	}
	return float64((after-before)*j.cost()) / to.Sub(from).Seconds(), nil
}

// cost is what one message counts against the cap: a publish frame of version 1,
// or a deliver frame, without the names' common digits.
func (j capJob) cost() int64 {
	channel := len(j.Channel) + 2
	if j.Ingress {
		return int64(2 + len(tenant) + 2 + channel + j.Payload + messageCost)
	}
	return int64(deliverHead(j.Channel+".0") + j.Payload + messageCost)
}

// publish publishes to the channels in turn until the connection ends: without a pause,
// or at the publisher's share of the overload.
func (j capJob) publish(conn loadgen.Conn, channels []string, publishers int) {
	var (
		payload = make([]byte, j.Payload)
		batch   []byte
		rate    = float64(j.KBPerSec*kilobyte) * overload / float64(j.cost()) / float64(publishers) // messages/s
		start   = time.Now().Add(-headStart)
	)
	for n := 0; ; {
		batch = batch[:0]
		for len(batch) == 0 || len(batch) < 16<<10 && (j.Ingress || due(start, rate) > n) {
			batch = conn.AppendPublish(batch, channels[n%len(channels)], payload)
			n++
		}
		if conn.Write(batch) != nil {
			return
		}
		if !j.Ingress {
			time.Sleep(time.Until(start.Add(time.Duration(float64(n) / rate * float64(time.Second)))))
		}
	}
}

// due is how many messages should have been sent by now.
func due(start time.Time, rate float64) int {
	return int(time.Since(start).Seconds() * rate)
}

// sleep waits for d, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
