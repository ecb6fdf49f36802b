package loadgen

import "testing"

// The receiving side allocates nothing for a message, nor for a read.
func TestReceiveAllocatesNothing(t *testing.T) {
	r := newRun(t.Context(), nil, short(Fanout), process{})
	defer r.cancel()
	r.window = newWindow(1, 64)
	var stream []byte
	payload := make([]byte, 128)
	const messages = 64
	conn := &canned{piece: 1 << 20}
	number := uint64(0)
	refill := func() {
		stream = stream[:0]
		for range messages {
			number++
			stamp{run: r.tag, number: number, sent: nanotime()}.put(payload)
			stream = append(stream, serverFrame(0x82, deliverFrame(string(payload)))...)
		}
	}
	c := &receiver{conn: &edgeConn{link: &webSocket{conn: conn}, tenant: []byte("t")}, run: r, orders: []order{{next: 1}}}
	refill()
	conn.sent = stream
	if err := c.receive(); err == nil { // grows the buffer
		t.Fatal("the connection does not end")
	}
	refill()
	message := c.message
	got := testing.AllocsPerRun(1, func() { // runs it twice
		conn.sent = stream
		for len(conn.sent) > 0 {
			if err := c.conn.Receive(message); err != nil {
				t.Fatal(err)
			}
		}
	})
	if got != 0 || c.count != 2*messages || c.duplicates != messages {
		t.Errorf("%v allocations for %d messages", got, c.count)
	}
}

// What is measured is the time since a message was sent, of those that were sent
// in the measured time.
func TestLatencyOfMessages(t *testing.T) {
	r := newRun(t.Context(), nil, short(Fanout), process{})
	defer r.cancel()
	now := nanotime()
	r.from.Store(now - 50e6)
	r.to.Store(now - 20e6)
	c := &receiver{run: r, orders: []order{{next: 1}}}
	payload := make([]byte, MinPayload)
	for i, ago := range []int64{60e6, 50e6, 40e6, 20e6, 10e6} {
		stamp{run: r.tag, number: uint64(i) + 1, sent: now - ago}.put(payload)
		c.now = 0
		c.message(payload)
	}
	var times summary
	times.add(&c.times)
	late := float64(nanotime()-now) / 1e3
	if longest := times.quantile(0.9); times.total != 2 || longest < 49_000 || longest > 51_000+late || c.count != 5 {
		t.Errorf("got %d times, the longest %v µs; want 2 and about 50,000", times.total, longest)
	}
}
