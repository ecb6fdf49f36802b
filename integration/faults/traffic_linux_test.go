package faults

import (
	"fmt"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/wire"
)

const (
	talkEvery = 20 * time.Millisecond
	// maxAge is how long after it was sent a message may come: 5 s (docs/clustering.md), and a
	// second in which nobody looks. Only a soak has the machine for itself, and checks it.
	maxAge = 6 * time.Second
)

// traffic is a client at each edge that publishes and receives the messages of all others. Each
// message has a number: it must not arrive twice, nor before an earlier one, nor be missing
// between two edges without a fault.
type traffic struct {
	l     *lab
	token token
	quit  chan struct{}
	gone  sync.WaitGroup

	mu    sync.Mutex
	heard map[[2]int]hearing // from an edge, at an edge
	lost  int                // of what may be lost
}

type hearing struct {
	number uint64
	sent   time.Time
}

// startTraffic starts the traffic, until the test ends.
func (l *lab) startTraffic() {
	l.Helper()
	t, err := l.edges[0].issue()
	if err != nil {
		l.Fatal(err)
	}
	l.traffic = &traffic{l: l, token: t, quit: make(chan struct{}), heard: map[[2]int]hearing{}}
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
	for {
		conn, err := e.dial(t.token)
		if err == nil {
			number = t.over(e, conn, number)
		}
		select {
		case <-t.quit:
			return
		case <-time.After(100 * time.Millisecond): // between two attempts
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
	err := conn.WriteMessage(websocket.TextMessage, []byte("SUB:t.room:talk"))
	tick := time.NewTicker(talkEvery)
	defer tick.Stop()
	for err == nil {
		select {
		case <-t.quit:
			return number
		case <-ended:
			return number
		case now := <-tick.C:
			payload := fmt.Sprintf("%d %d %d", e.number, number, now.UnixNano())
			number++
			_ = conn.SetWriteDeadline(now.Add(waitTimeout))
			err = conn.WriteMessage(websocket.BinaryMessage, harness.RawPublish("t.room", "talk", payload))
		}
	}
	return number
}

// hear checks a message.
func (t *traffic) hear(at *edge, frame []byte) {
	var machine int
	var got hearing
	var sent int64
	d, err := wire.DecodeDeliver(frame)
	if _, broken := fmt.Sscan(string(d.Payload), &machine, &got.number, &sent); err != nil || broken != nil {
		t.l.Errorf("got %q", frame)
		return
	}
	from := t.l.edges[machine-1]
	got.sent = time.Unix(0, sent)
	t.mu.Lock()
	defer t.mu.Unlock()
	key := [2]int{from.number, at.number}
	last, known := t.heard[key]
	t.heard[key] = got
	switch {
	case !known || got.number == last.number+1:
	case got.number <= last.number:
		t.l.Errorf("edge %d to edge %d: message %d came after %d", from.number, at.number, got.number, last.number)
	case !from.suspect.Load() && !at.suspect.Load():
		t.l.Errorf("edge %d to edge %d, which nothing has happened to: %d messages are lost from %d on",
			from.number, at.number, got.number-last.number-1, last.number+1)
	default:
		t.lost += int(got.number - last.number - 1)
	}
	// Else it may have waited before its edge, or within.
	if age := time.Since(got.sent); harness.Soaking && age > maxAge && !from.suspect.Load() && !at.stood.Load() {
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
