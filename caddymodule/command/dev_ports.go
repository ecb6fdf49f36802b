package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strconv"
	"syscall"

	"github.com/caddyserver/caddy/v2"
)

// takeListeners makes sure that the edge can listen on its ports, and chooses those that are
// 0; its error says what to change if it cannot. It returns the hosts to bind to. The ports
// that it has chosen are kept from other edges that start at this moment until release, which
// is called when the edge listens.
func (d *devEdge) takeListeners() (hosts []string, release func(), err error) {
	hosts = []string{"127.0.0.1"}
	if probe, err := net.Listen("tcp", "[::1]:0"); err == nil { // not every machine has IPv6
		probe.Close()
		hosts = append(hosts, "[::1]")
	}
	var held []io.Closer
	release = func() {
		for _, l := range held {
			l.Close()
		}
	}
	for _, l := range []struct {
		flag string
		port *int
		udp  bool
	}{{"--https-port", &d.httpsPort, true}, {"--http-port", &d.httpPort, false}} {
		var hold io.Closer
		if *l.port == 0 {
			hold, *l.port, err = freePort(hosts)
		} else {
			err = checkPort(l.flag, *l.port, l.udp, hosts)
		}
		if err != nil {
			release()
			return nil, nil, err
		}
		if hold != nil {
			held = append(held, hold)
		}
	}
	if err := d.checkAdmin(); err != nil {
		release()
		return nil, nil, err
	}
	return hosts, release, nil
}

// checkPort checks that nobody listens on a port that the user has chosen.
func checkPort(flag string, port int, udp bool, hosts []string) error {
	for _, host := range hosts {
		address := host + ":" + strconv.Itoa(port)
		if err := probe(flag, "tcp", address); err != nil {
			return err
		}
		if udp {
			if err := probe(flag, "udp", address); err != nil {
				return err
			}
		}
	}
	return nil
}

// probe listens for a moment.
func probe(flag, network, address string) (err error) {
	var l io.Closer
	if network == "udp" {
		l, err = net.ListenPacket(network, address)
	} else {
		l, err = net.Listen(network, address)
	}
	if err == nil {
		return l.Close()
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		_, port, _ := net.SplitHostPort(address)
		return fmt.Errorf("port %s is in use (%s %s): stop the program that uses it, or choose another port with %s", port, network, address, flag)
	}
	return fmt.Errorf("%w: choose another port with %s", err, flag)
}

// freePort finds a port that is free on all hosts, for TCP and UDP.
//
// Edges share ports where they may, so that of two that choose the same free port neither
// would notice. hold listens on it: the system gives the port to nobody else, while this
// process can listen on it again.
func freePort(hosts []string) (hold io.Closer, port int, err error) {
	for range 100 {
		listener := net.ListenConfig{Control: sharePort}
		l, err := listener.Listen(context.Background(), "tcp", hosts[0]+":0")
		if err != nil {
			return nil, 0, fmt.Errorf("there is no free port at %s: %w", hosts[0], err)
		}
		_, number, _ := net.SplitHostPort(l.Addr().String())
		err = probe("", "udp", hosts[0]+":"+number)
		for _, host := range hosts[1:] {
			err = errors.Join(err, probe("", "tcp", host+":"+number), probe("", "udp", host+":"+number))
		}
		if err != nil {
			l.Close()
			continue
		}
		port, _ = strconv.Atoi(number)
		if sharePort == nil {
			return nil, port, l.Close()
		}
		return l, port, nil
	}
	return nil, 0, errors.New("there is no port that is free for TCP and UDP: choose ports with --https-port and --http-port")
}

// maxSocketPath is how many bytes the path of a Unix socket may have on every system.
const maxSocketPath = 103

// checkAdmin checks the address of the admin endpoint, and that nobody listens there.
func (d *devEdge) checkAdmin() error {
	admin, err := caddy.ParseNetworkAddress(d.admin)
	if _, ok := caddyQuote(d.admin); err != nil || !ok {
		return usagef("--admin: must be like %s or unix//path", devAdmin)
	}
	if admin.IsUnixNetwork() {
		if n := len(admin.Host); n > maxSocketPath {
			return usagef("--admin: the path of its socket has %d bytes, allowed: %d: choose a shorter folder with --dir, or --admin localhost:<port>", n, maxSocketPath)
		}
		if conn, err := net.Dial(admin.Network, admin.Host); err == nil { // Caddy would take the socket away from it
			conn.Close()
			return fmt.Errorf("an edge runs with this admin endpoint, %s: stop it, or choose another folder with --dir, or another endpoint with --admin", d.admin)
		}
		return nil
	}
	ip, err := netip.ParseAddr(admin.Host)
	if admin.Network != "tcp" || admin.Host != "localhost" && (err != nil || !ip.IsLoopback()) || admin.StartPort == 0 || admin.PortRangeSize() > 1 {
		return usagef("--admin: must be a port on localhost, like %s, or unix//path: whoever reaches it has all rights", devAdmin)
	}
	return probe("--admin", "tcp", admin.JoinHostPort(0))
}
