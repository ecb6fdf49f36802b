package netlab

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"time"
)

// Network is an Ethernet switch in this process, to which each machine is connected by
// a TAP device. Its methods may be called from several goroutines.
type Network struct {
	subnet *subnet

	mu    sync.Mutex
	ports []*port
	macs  map[[6]byte]*port
	paths map[[2]int]*path // from one port to another

	quit    chan struct{}
	running sync.WaitGroup // the goroutines of New, which Close stops
}

// path is the direction from one machine to another.
type path struct {
	Treatment
	to    *port
	queue chan packet // in order
}

// port is where a machine is connected.
type port struct {
	Machine
	tap *os.File
}

type packet struct {
	frame []byte
	due   time.Time
}

const (
	queueLen = 10_000 // packets that are late; more are lost
	maxFrame = 1600   // bytes
)

// New makes a network of machines that are numbered from 1. Close removes it.
func New(machines int) (n *Network, err error) {
	n = &Network{macs: map[[6]byte]*port{}, paths: map[[2]int]*path{}, quit: make(chan struct{})}
	if n.subnet, err = takeSubnet(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, n.Close())
		}
	}()
	for i := range machines + 1 {
		if err := n.connect(i); err != nil {
			return n, err
		}
	}
	for _, from := range n.ports {
		for _, to := range n.ports {
			if from != to {
				n.paths[[2]int{from.number, to.number}] = &path{to: to, queue: make(chan packet, queueLen)}
			}
		}
	}
	for _, p := range n.paths {
		n.running.Go(func() { p.send(n.quit) })
	}
	for _, from := range n.ports {
		n.running.Go(func() { n.receive(from) }) // ends when its device is closed
	}
	return n, nil
}

// connect makes a machine and its device.
func (n *Network) connect(number int) (err error) {
	p := &port{Machine: Machine{number: number, IP: n.subnet.address(number), device: "lab0"}}
	if number == 0 {
		p.IP, p.device = n.subnet.address(254), n.subnet.device()
	} else {
		p.Namespace = n.subnet.namespace(number)
		if err := ip("netns", "add", p.Namespace); err != nil {
			return err
		}
	}
	n.ports = append(n.ports, p)
	if p.tap, err = openTAP(p.Namespace, p.device); err != nil {
		return fmt.Errorf("TAP device of %s: %w", p.IP, err)
	}
	for _, args := range [][]string{
		{"addr", "add", p.IP + "/24", "dev", p.device}, {"link", "set", p.device, "up"}, {"link", "set", "lo", "up"},
	} {
		if err := p.ip(args...); err != nil {
			return err
		}
	}
	if p.Namespace != "" {
		// The first address of a subnet can then go without the second one. Where that cannot be
		// set, Readdress gives the second one again.
		_ = p.Command("sh", "-c", "echo 1 >/proc/sys/net/ipv4/conf/"+p.device+"/promote_secondaries").Run()
	}
	return nil
}

// Machine is a machine of the network; 0 is this process's own namespace.
func (n *Network) Machine(number int) Machine {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.ports[number].Machine
}

// Set sets the treatment of packets between two machines, in both directions.
func (n *Network) Set(a, b int, how Treatment) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.paths[[2]int{a, b}].Treatment, n.paths[[2]int{b, a}].Treatment = how, how
}

// Readdress gives a machine a new address, which no machine has had, in place of its old
// one: packets that are on their way to the old one are lost.
func (n *Network) Readdress(number int) (ip string, err error) {
	n.mu.Lock()
	p := n.ports[number]
	old := p.IP
	next, err := n.subnet.next()
	if err == nil {
		p.IP = next
	}
	m := p.Machine
	n.mu.Unlock()
	if err != nil {
		return "", err
	}
	if err := m.ip("addr", "add", m.IP+"/24", "dev", m.device); err != nil {
		return "", err
	}
	if err := m.ip("addr", "del", old+"/24", "dev", m.device); err != nil {
		return "", err
	}
	_ = m.ip("addr", "add", m.IP+"/24", "dev", m.device) // an error says that it is still there
	return m.IP, nil
}

// ForgetMTUs makes each machine forget the path MTUs that it learned, which Linux otherwise
// remembers for ten minutes.
func (n *Network) ForgetMTUs() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	var errs []error
	for _, p := range n.ports {
		errs = append(errs, p.ip("route", "flush", "cache"))
	}
	return errors.Join(errs...)
}

// Close removes the network and its namespaces, and ends the processes in them.
func (n *Network) Close() error {
	var errs []error
	close(n.quit)
	for _, p := range n.ports {
		if p.tap != nil {
			errs = append(errs, p.tap.Close())
		}
	}
	n.running.Wait()
	for _, p := range n.ports {
		if p.Namespace != "" {
			errs = append(errs, removeNamespace(p.Namespace))
		}
	}
	return errors.Join(append(errs, n.subnet.close())...)
}

// receive forwards the frames of a machine.
func (n *Network) receive(from *port) {
	buf := make([]byte, maxFrame)
	for {
		size, err := from.tap.Read(buf)
		if err != nil {
			return // it is closed
		}
		if size < etherSize {
			continue
		}
		n.pass(from, buf[:size])
	}
}

func (n *Network) pass(from *port, frame []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.macs[[6]byte(frame[6:12])] = from
	if to := n.macs[[6]byte(frame[:6])]; to != nil {
		n.deliver(from, to, frame)
		return
	}
	for _, to := range n.ports {
		if to != from {
			n.deliver(from, to, frame)
		}
	}
}

// deliver queues a packet, or loses it. The caller holds n.mu.
func (n *Network) deliver(from, to *port, frame []byte) {
	if from == to {
		return
	}
	way := n.paths[[2]int{from.number, to.number}]
	if way.cuts(frame) || way.Loss > 0 && rand.Float64() < way.Loss {
		return
	}
	if way.tooBig(frame) {
		if !way.Silent {
			n.paths[[2]int{to.number, from.number}].put(fragmentationNeeded(frame, way.MTU))
		}
		return
	}
	way.put(append([]byte(nil), frame...))
}

func (p *path) put(frame []byte) {
	select {
	case p.queue <- packet{frame, time.Now().Add(p.Delay)}:
	default: // as a switch does
	}
}

// send writes the packets that wait on a path.
func (p *path) send(quit <-chan struct{}) {
	for {
		select {
		case packet := <-p.queue:
			time.Sleep(time.Until(packet.due))
			_, _ = p.to.tap.Write(packet.frame) // a machine that is gone receives nothing
		case <-quit:
			return
		}
	}
}
