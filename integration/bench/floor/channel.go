package floor

import (
	"net"
	"slices"
	"sync"
)

// channel holds the members that receive what is published to it.
type channel struct {
	prefix int // bytes before each payload

	mu      sync.RWMutex
	members []*member
}

// member is a connection that has subscribed.
type member struct {
	conn    net.Conn
	joined  []*channel
	writing sync.WaitGroup // its write, in mode Queue

	mu    sync.Mutex
	queue [][]byte
	wake  chan struct{} // capacity 1; closed at the end
}

// join makes m a member. The goroutine of its connection calls it.
func (m *member) join(ch *channel, mode Mode) {
	if mode == Queue && m.wake == nil {
		m.wake = make(chan struct{}, 1)
		m.writing.Go(m.write) // leave stops it and waits
	}
	m.joined = append(m.joined, ch)
	ch.mu.Lock()
	ch.members = append(ch.members, m)
	ch.mu.Unlock()
}

// leave ends the memberships, and returns when nothing writes to m any longer.
func (m *member) leave() {
	for _, ch := range m.joined {
		ch.mu.Lock()
		ch.members = slices.DeleteFunc(ch.members, func(other *member) bool { return other == m })
		ch.mu.Unlock()
	}
	if m.wake != nil {
		m.conn.Close() // a write that waits fails
		close(m.wake)
		m.writing.Wait()
	}
}

// publish delivers one payload. The members share the frame.
func (ch *channel) publish(payload []byte, mode Mode) {
	length := ch.prefix + len(payload)
	frame := appendHeader(make([]byte, 0, length+10), length)
	frame = append(frame[:len(frame)+ch.prefix], payload...)
	ch.mu.RLock()
	defer ch.mu.RUnlock()
	if mode == Each {
		for _, m := range ch.members {
			_, _ = m.conn.Write(frame) // a member that is gone leaves by itself
		}
		return
	}
	for _, m := range ch.members {
		m.mu.Lock()
		m.queue = append(m.queue, frame)
		first := len(m.queue) == 1
		m.mu.Unlock()
		if first {
			select {
			case m.wake <- struct{}{}:
			default:
			}
		}
	}
}

// write sends everything that is queued in one write.
func (m *member) write() {
	var taken [][]byte
	for range m.wake {
		m.mu.Lock()
		taken, m.queue = m.queue, taken[:0]
		m.mu.Unlock()
		if len(taken) == 1 {
			_, _ = m.conn.Write(taken[0]) // its reader notices the end
		} else {
			joined := joinBuffers.Get().(*[]byte)
			*joined = (*joined)[:0]
			for _, frame := range taken {
				*joined = append(*joined, frame...)
			}
			_, _ = m.conn.Write(*joined)
			joinBuffers.Put(joined)
		}
		clear(taken)
	}
}

var joinBuffers = sync.Pool{New: func() any { return new([]byte) }}
