package edgetest

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/millrace/millrace/client"
)

// ClientAddress is where clients are, unless [Edge.Network] says otherwise.
const ClientAddress = "198.51.100.1"

// add names the edge and gives it an address.
func (o *overlay) add(e *Edge) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.edges = append(o.edges, e)
	n := len(o.edges)
	e.host = fmt.Sprintf("edge%d.test", n)
	e.addr = netip.AddrFrom4([4]byte{192, 0, 2, byte(n)})
}

// resolve returns the address of a host and port.
func (o *overlay) resolve(address string) (netip.AddrPort, error) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return netip.AddrPort{}, err
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return netip.AddrPort{}, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range o.edges {
		if e.host == host {
			return netip.AddrPortFrom(e.addr, uint16(port)), nil
		}
	}
	return netip.AddrPort{}, &net.DNSError{Err: "no such edge", Name: host, IsNotFound: true}
}

// Network returns the network between a client at an address, like 203.0.113.5, and all
// edges that joined this one.
func (e *Edge) Network(from string) *client.Network {
	e.t.Helper()
	addr, err := netip.ParseAddr(from)
	if err != nil {
		e.t.Fatal(err)
	}
	return &client.Network{
		Dial: func(ctx context.Context, _, address string) (net.Conn, error) {
			to, err := e.overlay.resolve(address)
			if err != nil {
				return nil, err
			}
			return e.overlay.network.Dial(ctx, addr, to)
		},
		DialPacket: func(_ context.Context, address string) (net.PacketConn, net.Addr, error) {
			to, err := e.overlay.resolve(address)
			if err != nil {
				return nil, nil, err
			}
			if !e.overlay.network.Listens(to) { // as ICMP would say
				return nil, nil, &net.OpError{Op: "dial", Net: "udp", Addr: net.UDPAddrFromAddrPort(to), Err: syscall.ECONNREFUSED}
			}
			socket, err := e.overlay.network.ListenPacket(netip.AddrPortFrom(addr, 0))
			if err != nil {
				return nil, nil, err
			}
			return socket, net.UDPAddrFromAddrPort(to), nil
		},
	}
}

// Cut cuts the edge off from all clients until heal is called: what is on its way over a
// WebSocket arrives then, and packets of WebTransport are lost. Other edges reach it.
func (e *Edge) Cut() (heal func()) { return e.overlay.network.Cut(e.addr) }

// CutClients is Cut for the clients at an address, like [ClientAddress], and all edges.
func (e *Edge) CutClients(address string) (heal func()) {
	e.t.Helper()
	addr, err := netip.ParseAddr(address)
	if err != nil {
		e.t.Fatal(err)
	}
	return e.overlay.network.Cut(addr)
}

// TLS trusts the certificate of all edges.
func (e *Edge) TLS() *tls.Config {
	roots := x509.NewCertPool()
	roots.AddCert(certificate().Leaf)
	return &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS13}
}

// HTTP returns a client for requests to the edge, and to those that joined it. Its
// connections end with each answer.
func (e *Edge) HTTP() *http.Client {
	e.t.Helper()
	return &http.Client{Transport: &http.Transport{
		DialContext: e.Network(ClientAddress).Dial, TLSClientConfig: e.TLS(), DisableKeepAlives: true,
	}}
}

// certificate is that of all edges. It is valid also where virtual time begins, in 2000.
var certificate = sync.OnceValue(func() tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "edgetest"}, DNSNames: []string{"*.test"},
		NotBefore: time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC),
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		panic(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		panic(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
})
