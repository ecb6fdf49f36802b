package harness

import (
	"net"
	"slices"
	"sync"
	"testing"
	"time"
)

// Cutter is a TCP proxy before a NATS server, which can drop everything as a
// network does that is parted: without a word. It can also hold up what goes
// through.
type Cutter struct {
	listener net.Listener
	target   string

	mu  sync.Mutex
	cut bool
	Late
	conns []net.Conn
	gone  sync.WaitGroup
}

func NewCutter(t *testing.T, target string) *Cutter {
	t.Helper()
	c := &Cutter{listener: value(net.Listen("tcp", "127.0.0.1:0"))(t), target: target}
	c.gone.Go(c.accept)
	t.Cleanup(func() {
		c.listener.Close()
		c.Heal()
		c.gone.Wait()
	})
	return c
}

func (c *Cutter) Url() string { return "nats://" + c.listener.Addr().String() }

func (c *Cutter) accept() {
	for {
		near, err := c.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", c.target)
		if err != nil {
			near.Close()
			continue
		}
		c.mu.Lock()
		c.conns = append(c.conns, near, far)
		c.mu.Unlock()
		c.pipe(near, far, &c.ToServer)
		c.pipe(far, near, &c.ToEdge)
	}
}

// pipe copies until either side ends, each time as late as is said then. What comes while the
// network is parted is read and lost.
func (c *Cutter) pipe(from, to net.Conn, late *time.Duration) {
	type held struct {
		due  time.Time
		data []byte
	}
	waiting := make(chan held, 1<<12)
	c.gone.Go(func() { // ends with what comes from the other side
		for b := range waiting {
			time.Sleep(time.Until(b.due))
			_, _ = to.Write(b.data) // fails when it is closed
		}
		to.Close()
	})
	c.gone.Go(func() {
		defer close(waiting)
		defer from.Close()
		buffer := make([]byte, 32<<10)
		for {
			n, err := from.Read(buffer)
			if err != nil {
				return
			}
			c.mu.Lock()
			cut, due := c.cut, time.Now().Add(*late)
			c.mu.Unlock()
			if !cut {
				waiting <- held{due, slices.Clone(buffer[:n])}
			}
		}
	})
}

// Late says how long a cutter holds things up.
type Late struct{ ToServer, ToEdge time.Duration }

// Delay holds up what is sent from now on.
func (c *Cutter) Delay(by Late) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Late = by
}

func (c *Cutter) Part() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = true
}

// Heal ends the connections on which something was lost, as TCP would in time,
// and lets new ones through.
func (c *Cutter) Heal() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = false
	for _, conn := range c.conns {
		conn.Close()
	}
	c.conns = nil
}
