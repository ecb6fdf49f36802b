package faults

import (
	"encoding/binary"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/millrace/millrace/wire"
)

const (
	talkEvery = 20 * time.Millisecond
	// maxAge is how long after it was sent a message may come: 5 s (docs/clustering.md),
	// and a second in which nobody looks.
	maxAge = 6 * time.Second
)

// traffic is a client at each edge that publishes and receives the messages of all others.
// Each message has a number: it must not arrive twice, nor before an earlier one, nor be
// missing between two edges without a fault.
type traffic struct {
	l     *lab
	token token
	quit  chan struct{}
	gone  sync.WaitGroup

	mu    sync.Mutex
	heard map[[2]int]hearing // from an edge, at an edge
	lost  int                // of what may be lost
	ones  map[one]*fate
	taken int // messages to one
	never int // and those that nobody took, and that may be lost
}

// one is a message to one random subscriber.
type one struct {
	from   int
	number uint64
}

// fate is what became of a message to one.
type fate struct {
	sent  time.Time
	sure  bool // nothing had happened to any edge
	taken int  // times
}

type hearing struct {
	number uint64
	sent   time.Time
}

// startTraffic starts the traffic, until the test ends.
func (l *lab) startTraffic() {
	l.Helper()
	t, err := l.issue(l.edges[0])
	if err != nil {
		l.Fatal(err)
	}
	l.traffic = &traffic{l: l, token: t, quit: make(chan struct{}), heard: map[[2]int]hearing{}, ones: map[one]*fate{}}
	for _, e := range l.edges {
		l.traffic.gone.Go(func() { l.traffic.at(e) })
	}
	l.Cleanup(func() {
		close(l.traffic.quit)
		l.traffic.gone.Wait()
	})
}

// at runs the client of an edge, which reconnects when its connection is lost.
func (t *traffic) at(e *edge) {
	number := uint64(0)
	dialer := websocket.Dialer{HandshakeTimeout: 5 * time.Second}
	for {
		conn, _, err := dialer.Dial("ws://"+e.ip+":8080/ws", http.Header{"Authorization": {"Bearer " + t.token.Token}})
		if err == nil {
			number = t.over(e, conn, number)
		}
		select {
		case <-t.quit:
			return
		case <-time.After(100 * time.Millisecond):
		}
		if err == nil && !e.suspect.Load() {
			t.l.Errorf("edge %d, which nothing has happened to, has lost a client", e.number)
		}
	}
}

// over publishes over a connection, from a number on, and returns the next number.
func (t *traffic) over(e *edge, conn *websocket.Conn, number uint64) uint64 {
	ended := make(chan struct{})
	go func() { // ends with the connection
		defer close(ended)
		for {
			kind, data, err := conn.ReadMessage()
			if err != nil {
				return
			}
			if kind == websocket.BinaryMessage {
				t.hear(e, data)
			}
		}
	}()
	defer func() {
		_ = conn.Close()
		<-ended
	}()
	for _, channel := range []string{"talk", "one"} {
		if conn.WriteMessage(websocket.TextMessage, []byte("SUB:t.room:"+channel)) != nil {
			return number
		}
	}
	tick := time.NewTicker(talkEvery)
	defer tick.Stop()
	for {
		select {
		case <-t.quit:
			return number
		case <-ended:
			return number
		case now := <-tick.C:
			payload := binary.BigEndian.AppendUint64([]byte{byte(e.number)}, number)
			payload = binary.BigEndian.AppendUint64(payload, uint64(now.UnixNano()))
			frame := wire.AppendPublish(nil, wire.Publish{Tenant: []byte("t.room"), Channel: []byte("talk"), Payload: payload})
			toOne := wire.AppendPublish(nil, wire.Publish{
				Tenant: []byte("t.room"), Channel: []byte("one"), Payload: payload, Tagged: true, Delivery: wire.OneRandom,
			})
			t.sends(e, number, now)
			number++
			_ = conn.SetWriteDeadline(now.Add(waitTimeout))
			if conn.WriteMessage(websocket.BinaryMessage, frame) != nil || conn.WriteMessage(websocket.BinaryMessage, toOne) != nil {
				return number
			}
		}
	}
}

// hear checks a message.
func (t *traffic) hear(at *edge, frame []byte) {
	d, err := wire.DecodeDeliver(frame)
	if err != nil || len(d.Payload) != 17 {
		t.l.Errorf("got %q", frame)
		return
	}
	from := t.l.edges[d.Payload[0]-1]
	got := hearing{binary.BigEndian.Uint64(d.Payload[1:]), time.Unix(0, int64(binary.BigEndian.Uint64(d.Payload[9:])))}
	fine := !from.suspect.Load() && !at.suspect.Load()
	t.mu.Lock()
	defer t.mu.Unlock()
	if string(d.Channel) == "one" {
		t.takes(at, one{from.number, got.number})
		return
	}
	key := [2]int{from.number, at.number}
	last, known := t.heard[key]
	t.heard[key] = got
	switch {
	case !known || got.number == last.number+1:
	case got.number <= last.number:
		t.l.Errorf("edge %d to edge %d: message %d came after %d", from.number, at.number, got.number, last.number)
	case fine:
		t.l.Errorf("edge %d to edge %d, which nothing has happened to: %d messages are lost from %d on",
			from.number, at.number, got.number-last.number-1, last.number+1)
	default:
		t.lost += int(got.number - last.number - 1)
	}
	// Else it may have waited before its edge, or within.
	if age := time.Since(got.sent); age > maxAge && !from.suspect.Load() && !at.stood.Load() {
		t.l.Errorf("edge %d to edge %d: a message came after %v", from.number, at.number, age)
	}
}

// crossed reports whether a message that was sent after a time has arrived from each edge at
// each other edge.
func (t *traffic) crossed(after time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, from := range t.l.edges {
		for _, to := range t.l.edges {
			if !t.heard[[2]int{from.number, to.number}].sent.After(after) {
				return false
			}
		}
	}
	return true
}

// sends records a message to one that is about to be sent.
func (t *traffic) sends(e *edge, number uint64, now time.Time) {
	sure := !slices.ContainsFunc(t.l.edges, func(e *edge) bool { return e.suspect.Load() })
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ones[one{e.number, number}] = &fate{sent: now, sure: sure}
}

// takes records that a message to one was received. The caller holds t.mu.
func (t *traffic) takes(at *edge, o one) {
	f := t.ones[o]
	if f == nil {
		t.l.Errorf("edge %d took message %d of edge %d, which nobody sent", at.number, o.number, o.from)
		return
	}
	if f.taken++; f.taken > 1 {
		t.l.Errorf("edge %d took message %d of edge %d, which was taken before", at.number, o.number, o.from)
	}
}

// oneTime is how soon a message to one arrives without a fault; a message that was sent
// this long before a fault is not in flight when it begins.
const oneTime = 5 * time.Second

// begins records that a fault begins: messages to one sent a moment before may be lost.
func (t *traffic) begins() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range t.ones {
		if time.Since(f.sent) < oneTime {
			f.sure = false
		}
	}
}

// lostToOne counts the messages to one of edges without a fault, sent during a course or a
// moment before, that nobody received.
func (l *lab) lostToOne(c course, r *running) (n int) {
	l.Helper()
	t := l.traffic
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range r.healthy() {
		var wrong []time.Duration
		for o, f := range t.ones {
			if o.from != e.number || f.taken > 0 || f.sent.Before(r.began.Add(-oneTime)) || f.sent.After(r.ended) {
				continue
			}
			if n++; !c.mayLose(r, f.sent) {
				wrong = append(wrong, f.sent.Sub(r.began))
			}
		}
		if len(wrong) > 0 {
			l.Errorf("%d messages to one of edge %d are lost that may not be, sent after the fault by %v", len(wrong), e.number, slices.Sorted(slices.Values(wrong)))
		}
	}
	return n
}

// settle counts what became of messages to one.
func (t *traffic) settle() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.taken, t.never = 0, 0
	for o, f := range t.ones {
		switch {
		case time.Since(f.sent) < oneTime:
		case f.taken > 0:
			t.taken++
		case f.sure:
			t.l.Errorf("message %d of edge %d to one is lost, though nothing had happened to any edge", o.number, o.from)
			f.sure = false // said once
		default:
			t.never++
		}
	}
}
