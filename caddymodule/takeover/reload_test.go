package takeover

import (
	"context"
	"net"
	"slices"
	"testing"

	"github.com/caddyserver/caddy/v2"
)

// TestReload replaces one configuration by another: the port stays, with its
// connections and sessions, and what they ask for next is the new one's to serve.
func TestReload(t *testing.T) {
	address := unused(t)
	a := newAcceptor(t)
	one := newGeneration(t, address, "one", a.ServeHTTP)
	one.start(t)
	c := connect(t, address)
	c.expect(t, "acceptor")
	_, session, err := open(t, address)
	must(t, err)
	take(t, a.sessions)

	two := newGeneration(t, address, "two", answer("two"))
	two.start(t)
	c.expect(t, "two")
	if closing := one.Quiesce(); len(closing) > 0 {
		t.Errorf("%v is closing, while the other configuration uses it", closing)
	}
	noError(t, one.Close(0))
	c.expect(t, "two")
	fresh := connect(t, address)
	fresh.expect(t, "two")
	if got := fresh.quic.ConnectionState().TLS.PeerCertificates[0].DNSNames; !slices.Equal(got, []string{"two"}) {
		t.Errorf("the certificate is for %v", got)
	}
	if err := context.Cause(session.Context()); err != nil {
		t.Errorf("the session ended: %v", err)
	}
}

// TestFailedReload starts a configuration and stops it: the one before is in
// force again.
func TestFailedReload(t *testing.T) {
	address := unused(t)
	newGeneration(t, address, "one", answer("one")).start(t)
	c := connect(t, address)
	two := newGeneration(t, address, "two", answer("two"))
	two.start(t)
	c.expect(t, "two")
	if closing := two.Quiesce(); len(closing) > 0 {
		t.Errorf("%v is closing", closing)
	}
	c.expect(t, "one")
	noError(t, two.Close(0))
	connect(t, address).expect(t, "one")
}

// TestFailedStart has a second address that is not free: the first is given back.
func TestFailedStart(t *testing.T) {
	address := unused(t)
	taken, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	must(t, err)
	defer taken.Close()
	g := newGeneration(t, address, "one", answer("one"))
	port := uint(taken.LocalAddr().(*net.UDPAddr).Port)
	g.claims[0].addresses = append(g.claims[0].addresses, caddy.NetworkAddress{Network: "udp", Host: "127.0.0.1", StartPort: port, EndPort: port})
	if err := g.Start(caddy.Context{Context: context.Background()}); err == nil {
		t.Error("started on an address that is not free")
	}
	if _, known := ports.References("udp/" + address.JoinHostPort(0)); known {
		t.Error("the first address is still in use")
	}
	if g.Quiesce() != nil || g.Close(0) != nil {
		t.Error("there was something left to stop")
	}
}
