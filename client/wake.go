package client

import (
	"net"
	"slices"
	"sync"
	"time"
)

// The times of waking (docs/decisions/0018-suspicion.md).
const (
	watchEvery   = time.Second
	addressEvery = 10 // times watchEvery
	wokeLate     = 2 * time.Second
)

// watcher notices for all clients of the process that the machine slept, and that its
// network has changed. One goroutine looks, from the first client that joins to the last
// one that leaves, which waits for it. Safe for concurrent use.
type watcher struct {
	ahead     func(from, to time.Time) time.Duration // how far the clock of the day has run ahead
	addresses func() []string                        // sorted

	mu      sync.Mutex
	clients map[*signals]bool
	stop    chan struct{} // closed by the last client; nil: nobody looks
	stopped chan struct{} // closed when nobody looks any more
}

// processWatch is that of all clients which Connect makes.
var processWatch = newWatcher()

func newWatcher() *watcher {
	return &watcher{
		ahead: wallAhead, addresses: networkAddresses, clients: map[*signals]bool{},
	}
}

// signals wake the loop of a client. Each holds one while there is something.
type signals struct {
	woke    chan struct{} // the machine slept
	network chan struct{} // it has other addresses
	active  chan struct{} // something has come
}

func newSignals() signals {
	return signals{make(chan struct{}, 1), make(chan struct{}, 1), make(chan struct{}, 1)}
}

func (w *watcher) join(s *signals) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clients[s] = true
	if w.stop == nil {
		stop, stopped := make(chan struct{}), make(chan struct{})
		w.stop, w.stopped = stop, stopped
		go func() { // ended and awaited by leave
			defer close(stopped)
			w.run(stop)
		}()
	}
}

func (w *watcher) leave(s *signals) {
	w.mu.Lock()
	delete(w.clients, s)
	stop, stopped := w.stop, w.stopped
	last := len(w.clients) == 0
	if last {
		w.stop = nil
	}
	w.mu.Unlock()
	if last {
		close(stop)
		<-stopped
	}
}

func (w *watcher) run(stop <-chan struct{}) {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	before, addresses := time.Now(), w.addresses()
	for n := 1; ; n++ {
		select {
		case <-ticker.C:
		case <-stop:
			return
		}
		now := time.Now()
		woke := now.Sub(before) >= watchEvery+wokeLate || w.ahead(before, now) >= wokeLate
		before = now
		network := false
		if woke || n%addressEvery == 0 {
			latest := w.addresses()
			network = !slices.Equal(latest, addresses)
			addresses = latest
		}
		w.tell(woke, network)
	}
}

func (w *watcher) tell(woke, network bool) {
	if !woke && !network {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for s := range w.clients {
		if woke {
			offer(s.woke)
		}
		if network {
			offer(s.network)
		}
	}
}

func offer(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// wallAhead returns how much more time has passed on the clock of the day than on the
// one that times are measured with, which stands still while the machine sleeps.
func wallAhead(from, to time.Time) time.Duration {
	return to.Round(0).Sub(from.Round(0)) - to.Sub(from)
}

// maxInterfaces bounds how many interfaces are looked at, which takes time for each.
const maxInterfaces = 64

// networkAddresses returns those of the interfaces that are up, but not loopback. Those
// that are good for one link alone come and go with containers, and lead to no edge.
func networkAddresses() []string {
	var list []string
	interfaces, _ := net.Interfaces() // without them nothing changes
	for _, i := range interfaces[:min(len(interfaces), maxInterfaces)] {
		if i.Flags&net.FlagUp == 0 || i.Flags&net.FlagLoopback != 0 {
			continue
		}
		addresses, _ := i.Addrs()
		for _, a := range addresses {
			if n, ok := a.(*net.IPNet); !ok || !n.IP.IsLinkLocalUnicast() {
				list = append(list, i.Name+" "+a.String())
			}
		}
	}
	slices.Sort(list)
	return list
}

// woke starts all limits over, and asks at once: the process or the machine slept.
func (c *Client) woke(now time.Time) {
	c.wokeAt = now
	for _, conn := range c.conns() {
		mistime(conn.pings)
	}
	if !c.retry.at.IsZero() {
		c.retry.at = now
	}
	if s := c.searching(); s != nil && !s.retry.at.IsZero() {
		s.retry.at = now
	}
	c.askNow()
}

// networkChanged asks at once, and tries WebTransport again: another network may let it
// through.
func (c *Client) networkChanged() {
	c.askNow()
	c.upgrade.soon = true // if there is no connection, or an attempt is under way: after that
	c.planUpgrade()
}

// askNow asks whether the current connection lives, unless the client never asks.
func (c *Client) askNow() {
	if conn := c.current; conn != nil && !conn.aborted && c.s.KeepAlive >= 0 {
		conn.ping(true, nil)
	}
}
