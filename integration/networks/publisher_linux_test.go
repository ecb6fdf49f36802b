package networks

import (
	"encoding/binary"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/millrace/millrace/wire"
)

const (
	publishEvery = 50 * time.Millisecond
	channel      = "numbers"
)

// publisher publishes numbered messages at an edge, over a plain WebSocket that no case
// breaks: it waits as long as the edge does.
type publisher struct {
	t    *testing.T
	conn *websocket.Conn
	size int // bytes of a payload

	quit chan struct{}
	gone sync.WaitGroup

	mu   sync.Mutex
	sent []time.Time // by number
}

// publish begins to publish, until stop.
func (l *lab) publish(at *edge, size int) *publisher {
	l.Helper()
	conn, _, err := websocket.DefaultDialer.Dial("ws://"+at.machine.IP+":8080/ws", http.Header{"Authorization": {"Bearer " + l.token}})
	if err != nil {
		l.Fatal(err)
	}
	p := &publisher{t: l.T, conn: conn, size: max(size, 8), quit: make(chan struct{})}
	p.gone.Go(func() { // ends with the connection
		for {
			kind, text, err := conn.ReadMessage()
			if err != nil {
				return
			}
			if kind == websocket.TextMessage {
				l.Errorf("the publisher got %s", text)
			}
		}
	})
	p.gone.Go(p.run) // ends with stop
	return p
}

func (p *publisher) run() {
	tick := time.NewTicker(publishEvery)
	defer tick.Stop()
	for number := uint64(0); ; number++ {
		payload := make([]byte, p.size)
		binary.BigEndian.PutUint64(payload, number)
		frame := wire.AppendPublish(nil, wire.Publish{Tenant: []byte(tenant), Channel: []byte(channel), Payload: payload})
		p.mu.Lock()
		p.sent = append(p.sent, time.Now())
		p.mu.Unlock()
		if err := p.conn.WriteMessage(websocket.BinaryMessage, frame); err != nil {
			p.t.Errorf("publish: %v", err)
			return
		}
		select {
		case <-tick.C:
		case <-p.quit:
			return
		}
	}
}

// stop ends it, and returns when each message was sent.
func (p *publisher) stop() []time.Time {
	close(p.quit)
	time.AfterFunc(time.Second, func() { _ = p.conn.Close() }) // what was written last still goes
	p.gone.Wait()
	return p.sent
}

// sentAt is when a message was sent.
func (p *publisher) sentAt(number uint64) (time.Time, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if number >= uint64(len(p.sent)) {
		return time.Time{}, false
	}
	return p.sent[number], true
}
