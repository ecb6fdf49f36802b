package sdks

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/wire"
)

// numbersEvery is how often [numbers] publishes.
const numbersEvery = 10 * time.Millisecond

// numbers publishes 0, 1, 2 and so on to a channel, until it is halted.
type numbers struct {
	t      *testing.T
	socket *harness.Socket
	every  time.Duration
	pad    []byte // behind each number
	once   sync.Once
	stop   chan struct{}
	done   chan struct{}
	mu     sync.Mutex
	times  []time.Time // when each was sent
	err    error
}

func startNumbers(socket *harness.Socket, tenant, channel string) *numbers {
	return startNumbersEvery(numbersEvery, "", socket, tenant, channel)
}

// startNumbersEvery publishes in this rhythm, and appends pad to each number.
func startNumbersEvery(every time.Duration, pad string, socket *harness.Socket, tenant, channel string) *numbers {
	n := &numbers{t: socket.T, socket: socket, every: every, pad: []byte(pad), stop: make(chan struct{}), done: make(chan struct{})}
	go n.Run(tenant, channel) // ends with stop
	n.t.Cleanup(func() { n.once.Do(func() { close(n.stop) }); <-n.done })
	return n
}

func (n *numbers) Run(tenant, channel string) {
	defer close(n.done)
	tick := time.NewTicker(n.every)
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-n.stop:
			return
		case <-tick.C:
		}
		err := n.socket.Write(harness.AsFrame, wire.AppendPublish(nil, wire.Publish{
			Tenant: []byte(tenant), Channel: []byte(channel), Payload: append(strconv.AppendInt(nil, int64(i), 10), n.pad...),
		}))
		n.mu.Lock()
		n.times = append(n.times, time.Now())
		n.err = err
		n.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// sent is how many have been sent so far.
func (n *numbers) sent() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.times)
}

// halt stops the publisher, and returns how many the edge has accepted.
func (n *numbers) halt() int {
	n.t.Helper()
	n.once.Do(func() { close(n.stop) })
	<-n.done
	if n.err != nil {
		n.t.Fatalf("the publisher: %v", n.err)
	}
	n.socket.Ping()
	return len(n.times)
}
