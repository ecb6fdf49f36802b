package loadgen

import (
	"context"
	"encoding/binary"
	"io"
	"sync"
	"time"
)

// A broker is a server in this process, as bad as a test wishes.
type broker struct {
	mu      sync.Mutex
	members map[string][]*client

	dialed int
	// spoil returns what becomes of the n-th delivery to one client, from 1; nil:
	// nothing.
	spoil func(n int, payload string) []string
	lag   time.Duration // of each connection, and before each read
	// refuse is the error of the n-th Dial, from 1; nil: none.
	refuse func(n int) error
}

type client struct {
	broker *broker
	closed chan struct{}
	once   sync.Once

	mu      sync.Mutex
	queue   []string
	n       int
	arrived chan struct{}
}

func (b *broker) Dial(context.Context) (Conn, error) {
	time.Sleep(b.lag)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.dialed++
	if b.refuse != nil {
		if err := b.refuse(b.dialed); err != nil {
			return nil, err
		}
	}
	return &client{broker: b, closed: make(chan struct{}), arrived: make(chan struct{}, 1)}, nil
}

func (c *client) Subscribe(channel string) error {
	c.broker.mu.Lock()
	defer c.broker.mu.Unlock()
	if c.broker.members == nil {
		c.broker.members = map[string][]*client{}
	}
	c.broker.members[channel] = append(c.broker.members[channel], c)
	return nil
}

func (c *client) AppendPublish(dst []byte, channel string, payload []byte) []byte {
	dst = append(append(dst, byte(len(channel))), channel...)
	return append(binary.BigEndian.AppendUint16(dst, uint16(len(payload))), payload...)
}

func (c *client) Write(b []byte) error {
	for len(b) > 0 {
		c.broker.mu.Lock()
		members := c.broker.members[string(b[1:1+b[0]])]
		c.broker.mu.Unlock()
		b = b[1+b[0]:]
		n := binary.BigEndian.Uint16(b)
		for _, m := range members {
			m.push(string(b[2 : 2+n]))
		}
		b = b[2+n:]
	}
	return nil
}

func (c *client) push(payload string) {
	c.mu.Lock()
	c.n++
	payloads := []string{payload}
	if c.broker.spoil != nil {
		payloads = c.broker.spoil(c.n, payload)
	}
	c.queue = append(c.queue, payloads...)
	c.mu.Unlock()
	select {
	case c.arrived <- struct{}{}:
	default:
	}
}

func (c *client) Receive(message func([]byte)) error {
	select {
	case <-c.arrived:
	case <-c.closed:
		return io.ErrClosedPipe
	}
	time.Sleep(c.broker.lag)
	c.mu.Lock()
	queue := c.queue
	c.queue = nil
	c.mu.Unlock()
	for _, payload := range queue {
		message([]byte(payload))
	}
	return nil
}

func (c *client) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}
