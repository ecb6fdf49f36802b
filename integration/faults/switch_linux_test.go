package faults

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// A network is an Ethernet switch in this process, to which each machine is connected
// by a TAP device in its own network namespace: so packets can be lost and late at
// will, as no kernel that lacks netem can have them.
type network struct {
	name string

	mu    sync.Mutex
	ports []*port
	macs  map[[6]byte]*port
	paths map[[2]int]*path // from one port to another

	quit    chan struct{}
	running sync.WaitGroup
}

// between is what connects edges: a network of its own, or proxies.
type between interface {
	machine(number int) (ip, ns string)
	admin(number int) (ip string)        // where an edge's admin API listens
	route(from, to int) (address string) // of the NATS server of another
	set(a, b int, how treatment)         // both ways
	close() error                        // when the edges have ended
	String() string                      // where packets are lost and late
}

// treatment is what happens to packets from one machine to another.
type treatment struct {
	cut   bool
	loss  float64 // share of packets
	delay time.Duration
}

// path is the way from one machine to another.
type path struct {
	treatment
	to    *port
	queue chan packet // in order
}

// port is where a machine is connected. Port 0 is this machine's own.
type port struct {
	number int
	ns     string // empty: that of this process
	ip     string
	tap    *os.File
}

type packet struct {
	frame []byte
	due   time.Time
}

const (
	queueLen = 10_000 // packets that are late
	maxFrame = 1600
)

// newNetwork makes a network of so many machines, 10.<subnet>.0.1 and up; this one is
// 10.<subnet>.0.254.
func newNetwork(subnet, machines int) (n *network, err error) {
	n = &network{name: fmt.Sprintf("mr%d", subnet), macs: map[[6]byte]*port{}, paths: map[[2]int]*path{}, quit: make(chan struct{})}
	defer func() {
		if err != nil {
			err = errors.Join(err, n.close())
		}
	}()
	for i := range machines + 1 {
		p := &port{number: i, ip: fmt.Sprintf("10.%d.0.%d", subnet, i)}
		if i == 0 {
			p.ip = fmt.Sprintf("10.%d.0.254", subnet)
		} else {
			p.ns = fmt.Sprintf("%s-%d", n.name, i)
			if err := ip("netns", "add", p.ns); err != nil {
				return n, err
			}
		}
		n.ports = append(n.ports, p)
		if p.tap, err = openTAP(p.ns, n.name); err != nil {
			return n, fmt.Errorf("TAP device of %s: %w", p.ip, err)
		}
		for _, args := range [][]string{
			{"addr", "add", p.ip + "/24", "dev", n.name}, {"link", "set", n.name, "up"}, {"link", "set", "lo", "up"},
		} {
			if p.ns != "" {
				args = append([]string{"-n", p.ns}, args...)
			}
			if err := ip(args...); err != nil {
				return n, err
			}
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

func (n *network) machine(number int) (ip, ns string) { return n.ports[number].ip, n.ports[number].ns }

func (n *network) admin(int) string { return "127.0.0.1" }

func (n *network) route(_, to int) string { return n.ports[to].ip + ":6222" }

func (n *network) String() string { return "a switch of this process" }

// close takes the network and its namespaces away. Their processes have ended.
func (n *network) close() error {
	var errs []error
	close(n.quit)
	for _, p := range n.ports {
		if p.tap != nil {
			errs = append(errs, p.tap.Close())
		}
	}
	n.running.Wait()
	for _, p := range n.ports {
		if p.ns != "" {
			errs = append(errs, ip("netns", "del", p.ns))
		}
	}
	return errors.Join(errs...)
}

// set has packets between two machines treated so, both ways.
func (n *network) set(a, b int, how treatment) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.paths[[2]int{a, b}].treatment, n.paths[[2]int{b, a}].treatment = how, how
}

// receive switches what comes from a machine.
func (n *network) receive(from *port) {
	buf := make([]byte, maxFrame)
	for {
		size, err := from.tap.Read(buf)
		if err != nil {
			return // it is closed
		}
		if size < 14 {
			continue
		}
		n.pass(from, buf[:size])
	}
}

func (n *network) pass(from *port, frame []byte) {
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
func (n *network) deliver(from, to *port, frame []byte) {
	how := n.paths[[2]int{from.number, to.number}]
	if how.cut || how.loss > 0 && rand.Float64() < how.loss {
		return
	}
	select {
	case how.queue <- packet{append([]byte(nil), frame...), time.Now().Add(how.delay)}:
	default: // as a switch does
	}
}

// send writes what waits on a path.
func (p *path) send(quit <-chan struct{}) {
	for {
		select {
		case packet := <-p.queue:
			time.Sleep(time.Until(packet.due))
			_, _ = p.to.tap.Write(packet.frame) // to a machine that is away nothing comes
		case <-quit:
			return
		}
	}
}

// openTAP makes a device in a namespace.
func openTAP(ns, name string) (*os.File, error) {
	type result struct {
		file *os.File
		err  error
	}
	done := make(chan result)
	go func() { // on a thread of its own, which ends with it if it has changed its namespace
		runtime.LockOSThread()
		if ns != "" {
			if err := enter(ns); err != nil {
				done <- result{nil, err}
				return
			}
		} else {
			defer runtime.UnlockOSThread()
		}
		fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if err != nil {
			done <- result{nil, err}
			return
		}
		request, err := unix.NewIfreq(name)
		if err == nil {
			request.SetUint16(unix.IFF_TAP | unix.IFF_NO_PI)
			err = unix.IoctlIfreq(fd, unix.TUNSETIFF, request)
		}
		if err != nil {
			_ = unix.Close(fd)
			done <- result{nil, err}
			return
		}
		done <- result{os.NewFile(uintptr(fd), name), nil}
	}()
	r := <-done
	return r.file, r.err
}

// enter takes the calling thread into a namespace.
func enter(ns string) error {
	file, err := os.Open("/run/netns/" + ns)
	if err != nil {
		return err
	}
	defer file.Close()
	return unix.Setns(int(file.Fd()), unix.CLONE_NEWNET)
}

func ip(args ...string) error {
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %v: %w: %s", args, err, out)
	}
	return nil
}
