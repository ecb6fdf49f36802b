package loadgen

import (
	"bytes"
	"fmt"
	"time"
)

// channel runs fanout and latency: publishers, and the subscribers of one channel.
func (r *run) channel() {
	o, s := &r.o, &r.result
	s.Subscribers, s.PayloadBytes = o.Subscribers, o.Payload
	r.fanout = int64(o.Subscribers)
	publishers := make([]Conn, 1)
	if o.Scenario == Fanout {
		publishers = make([]Conn, o.Publishers)
		s.Publishers, s.Window, s.Burst = o.Publishers, o.Window, o.Burst
		r.window = newWindow(o.Subscribers, o.Window)
	} else {
		s.Rate = o.Rate
	}
	if !r.open(o.Subscribers, len(publishers), func(int) string { return r.name }) {
		return
	}
	for i := range publishers {
		c, err := r.connect("", 0)
		if err != nil {
			r.fail(fmt.Errorf("the publisher: %w", err))
			return
		}
		publishers[i] = c.conn
		r.receivers = append(r.receivers, c)
		s.Connections++
	}
	if o.Scenario == Fanout {
		r.traffic(func(stop <-chan struct{}) error { return r.flood(publishers, stop) })
		return
	}
	p := r.newPublisher()
	r.traffic(func(stop <-chan struct{}) error {
		return r.paced(o.Rate, stop, func(n int) error { return p.one(publishers[0], r.name, 0, uint64(n)+1) })
	})
}

// rooms lets every member of every room publish in turn.
func (r *run) rooms() {
	o, s := &r.o, &r.result
	s.Rooms, s.Members, s.MemberRate, s.PayloadBytes = o.Rooms, o.Members, o.MemberRate, o.Payload
	r.fanout = int64(o.Members)
	total := o.Rooms * o.Members
	names := make([]string, o.Rooms)
	for i := range names {
		names[i] = fmt.Sprintf("%s.%d", r.name, i)
	}
	if !r.open(total, o.Members, func(i int) string { return names[i%o.Rooms] }) {
		return
	}
	p := r.newPublisher()
	r.traffic(func(stop <-chan struct{}) error {
		return r.paced(float64(total)*o.MemberRate, stop, func(n int) error {
			i := n % total
			return p.one(r.receivers[i].conn, names[i%o.Rooms], uint32(i/o.Rooms), uint64(n/total)+1)
		})
	})
}

// idle opens connections and measures the server's memory.
func (r *run) idle() {
	before, known := r.server.memory()
	if !r.open(r.o.Connections, 0, func(i int) string { return fmt.Sprintf("%s.%d", r.name, i) }) {
		return
	}
	start := r.takeReading()
	r.wait(r.o.Settle, "settling")
	r.recordFigures(start, r.takeReading())
	if after, ok := r.server.memory(); ok && known {
		each := float64(after-before) / float64(r.o.Connections)
		r.result.ServerBytesPerConnection = &each
	}
}

// traffic runs publish in a goroutine through warm-up and measurement, closes stop, and
// waits for the messages in flight.
func (r *run) traffic(publish func(stop <-chan struct{}) error) {
	stop, published := make(chan struct{}), make(chan struct{})
	r.ended.Go(func() {
		defer close(published)
		if err := publish(stop); err != nil && !r.closing.Load() {
			r.fail(fmt.Errorf("the publisher: %w", err))
		}
	})
	if r.wait(r.o.Warmup, "warming up") {
		before := r.takeReading()
		r.from.Store(nanotime())
		r.wait(r.o.Duration, r.o.Scenario)
		r.to.Store(nanotime())
		r.recordFigures(before, r.takeReading())
	}
	close(stop)
	select {
	case <-published:
	case <-time.After(r.o.Patience): // the server does not read: closing ends it
	}
	r.drain()
}

// recordFigures records the figures of the time between two readings.
func (r *run) recordFigures(before, after reading) {
	s := &r.result
	if s.Seconds = after.seconds(before); s.Seconds == 0 {
		return
	}
	cpu, delivered := after.server-before.server, float64(after.delivered-before.delivered)
	s.DeliveriesPerSecond = delivered / s.Seconds
	s.ServerCores = cpu / s.Seconds
	s.GeneratorCores = (after.self - before.self) / s.Seconds
	if delivered > 0 {
		s.ServerCPUSecondsPerMillion = cpu / delivered * 1e6
	}
}

// drain returns when everything that was published has been delivered, or nothing more
// arrives. It also waits when the run has failed, or the caller has ended it.
func (r *run) drain() {
	start := time.Now()
	last, lastAt := int64(-1), start
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for now := start; now.Sub(start) < max(drainTimeout, r.o.Patience); now = <-tick.C {
		delivered := r.delivered()
		if delivered >= r.published.Load()*r.fanout {
			return
		}
		if delivered != last {
			last, lastAt = delivered, now
		} else if now.Sub(lastAt) > r.o.Patience {
			return
		}
	}
}

// A publisher encodes and sends messages, in buffers of its own.
type publisher struct {
	run           *run
	payload, wire []byte
}

func (r *run) newPublisher() *publisher {
	return &publisher{run: r, payload: bytes.Repeat([]byte{'.'}, r.o.Payload)}
}

func (p *publisher) add(conn Conn, channel string, s stamp) {
	s.run = p.run.tag
	s.put(p.payload)
	p.wire = conn.AppendPublish(p.wire, channel, p.payload)
}

// send writes n messages. Messages that cannot be written count as published, too: some of
// them may arrive.
func (p *publisher) send(conn Conn, n int64) error {
	p.run.published.Add(n)
	err := conn.Write(p.wire)
	p.wire = p.wire[:0]
	return err
}

// one publishes one message.
func (p *publisher) one(conn Conn, channel string, publisher uint32, number uint64) error {
	p.add(conn, channel, stamp{publisher: publisher, number: number, sent: nanotime()})
	return p.send(conn, 1)
}

// flood publishes as fast as the window and the highest rate allow, a burst on each
// connection in turn.
func (r *run) flood(conns []Conn, stop <-chan struct{}) error {
	p := r.newPublisher()
	numbers := make([]uint64, len(conns))
	pace := newPace(r.o.MaxRate)
	defer func() { r.heldBack.Store(pace.limiting()) }()
	published := uint64(0)
	for turn := 0; ; turn = (turn + 1) % len(conns) {
		free := r.window.await(published, stop)
		pace.await(published, stop)
		select {
		case <-stop:
			return nil
		default:
		}
		n := min(free, uint64(r.o.Burst))
		now := nanotime()
		for range n {
			numbers[turn]++
			p.add(conns[turn], r.name, stamp{publisher: uint32(turn), number: numbers[turn], sent: now})
		}
		published += n
		if err := p.send(conns[turn], int64(n)); err != nil {
			return err
		}
	}
}

// paced calls publish for 0, 1, 2 … at this rate, messages/s, and catches up after a slow
// call.
func (r *run) paced(rate float64, stop <-chan struct{}, publish func(n int) error) error {
	begin := nanotime()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for n := 0; ; n++ {
		due := begin + int64(float64(n)/rate*1e9)
		timer.Reset(time.Duration(due - nanotime()))
		select {
		case <-stop:
			return nil
		case <-timer.C:
		}
		if lag := nanotime() - due; due >= r.from.Load() && lag > r.maxLag.Load() {
			r.maxLag.Store(lag)
		}
		if err := publish(n); err != nil {
			return err
		}
	}
}
