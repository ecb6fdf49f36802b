package faults

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// proxies are the network without namespaces: the routes of the edges, which are on
// loopback addresses, go through TCP proxies of this process. What a proxy drops stays in
// it until the network heals, as with a sender that retransmits.
type proxies struct {
	subnet int

	mu    sync.Mutex
	paths map[[2]int]treatment
	conns map[net.Conn]struct{}

	listeners []net.Listener
	quit      chan struct{}
	running   sync.WaitGroup
}

// resend is how long a lost packet keeps a TCP connection waiting, at least (RFC 6298 says
// 1 s, Linux takes 200 ms).
const resend = 200 * time.Millisecond

func newProxies(subnet, machines int) (p *proxies, err error) {
	p = &proxies{subnet: subnet, paths: map[[2]int]treatment{}, conns: map[net.Conn]struct{}{}, quit: make(chan struct{})}
	for from := 1; from <= machines; from++ {
		for to := 1; to <= machines; to++ {
			if to == from {
				continue
			}
			l, err := net.Listen("tcp", p.route(from, to))
			if err != nil {
				return nil, errors.Join(err, p.close())
			}
			p.listeners = append(p.listeners, l)
			p.running.Go(func() { p.accept(l, from, to) }) // ends when it is closed
		}
	}
	return p, nil
}

func (p *proxies) machine(number int) (ip, ns string) {
	return fmt.Sprintf("127.%d.0.%d", p.subnet, number), ""
}

// admin is an address of its own for each edge, since all are in one namespace.
func (p *proxies) admin(number int) string { ip, _ := p.machine(number); return ip }

// route has another port than the servers themselves: they tell each other addresses with
// their own port, which must lead nowhere.
func (p *proxies) route(from, to int) string {
	return fmt.Sprintf("127.%d.%d.%d:6223", p.subnet, from, to)
}

func (p *proxies) String() string { return "TCP proxies of this process" }

// set sets the treatment between two machines, in both directions.
func (p *proxies) set(a, b int, how treatment) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.paths[[2]int{a, b}], p.paths[[2]int{b, a}] = how, how
}

func (p *proxies) close() (err error) {
	close(p.quit)
	for _, l := range p.listeners {
		err = errors.Join(err, l.Close())
	}
	p.mu.Lock()
	for c := range p.conns {
		_ = c.Close()
	}
	p.mu.Unlock()
	p.running.Wait()
	return err
}

func (p *proxies) accept(l net.Listener, from, to int) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		p.running.Go(func() { p.join(c, from, to) })
	}
}

// join forwards what one of two connections receives, until either ends.
func (p *proxies) join(c net.Conn, from, to int) {
	defer c.Close()
	if !p.passes(from, to) {
		return
	}
	ip, _ := p.machine(to)
	other, err := net.Dial("tcp", ip+":6222")
	if err != nil {
		return
	}
	defer other.Close()
	for _, c := range []net.Conn{c, other} {
		p.mu.Lock()
		p.conns[c] = struct{}{}
		p.mu.Unlock()
		defer func() {
			p.mu.Lock()
			delete(p.conns, c)
			p.mu.Unlock()
		}()
	}
	select {
	case <-p.quit: // close may not have seen them
		return
	default:
	}
	var both sync.WaitGroup
	both.Go(func() { p.copy(other, c, from, to) })
	p.copy(c, other, to, from)
	both.Wait()
}

// passes waits as long as a path is cut, and as long as a lossy or slow one delays bytes;
// false: the network is closed.
func (p *proxies) passes(from, to int) bool {
	for waited := false; ; waited = true {
		p.mu.Lock()
		how := p.paths[[2]int{from, to}]
		p.mu.Unlock()
		wait := 10 * time.Millisecond
		switch {
		case how.Cut:
		case waited:
			return true
		case rand.Float64() < how.Loss:
			wait = resend + how.Delay
		case how.Delay > 0:
			wait = how.Delay
		default:
			return true
		}
		select {
		case <-p.quit:
			return false
		case <-time.After(wait):
		}
	}
}

func (p *proxies) copy(to, from net.Conn, a, b int) {
	defer to.Close() // which ends the other way, too
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 && !p.passes(a, b) {
			return
		}
		if _, werr := to.Write(buf[:n]); err != nil || werr != nil {
			return
		}
	}
}
