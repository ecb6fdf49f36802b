package harness

import (
	"io"
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
	t        *testing.T
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
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &Cutter{t: t, listener: l, target: target}
	c.gone.Go(c.accept)
	t.Cleanup(func() {
		l.Close()
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
		c.gone.Go(func() { c.pipe(near, c.lateTo(far, &c.ToServer)) })
		c.gone.Go(func() { c.pipe(far, c.lateTo(near, &c.ToEdge)) })
	}
}

// pipe copies until either side ends. What comes while the network is parted is
// read and lost.
func (c *Cutter) pipe(from net.Conn, to io.WriteCloser) {
	defer from.Close()
	defer to.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		c.mu.Lock()
		cut := c.cut
		c.mu.Unlock()
		if cut {
			continue
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// Late says how long a cutter holds things up.
type Late struct{ ToServer, ToEdge time.Duration }

// lateWriter writes to a connection, each time as late as its cutter was then.
type lateWriter struct {
	c       *Cutter
	late    *time.Duration
	waiting chan lateBytes
}

type lateBytes struct {
	due  time.Time
	data []byte
}

func (c *Cutter) lateTo(to net.Conn, late *time.Duration) io.WriteCloser {
	w := lateWriter{c, late, make(chan lateBytes, 1<<12)}
	c.gone.Go(func() { // ends with Close
		for b := range w.waiting {
			time.Sleep(time.Until(b.due))
			_, _ = to.Write(b.data) // fails when it is closed
		}
		to.Close()
	})
	return w
}

func (w lateWriter) Write(data []byte) (int, error) {
	w.c.mu.Lock()
	late := *w.late
	w.c.mu.Unlock()
	w.waiting <- lateBytes{time.Now().Add(late), slices.Clone(data)}
	return len(data), nil
}

func (w lateWriter) Close() error {
	close(w.waiting)
	return nil
}

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
