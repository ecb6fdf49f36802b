// Package dial connects to a host by its name, over the first of its addresses that answers.
//
// The name is looked up, and addresses are tried, until the context ends: IPv6 and IPv4 in
// turns, each one when the one before has failed, or has not answered for 250 ms (RFC 8305).
// When a function returns, no attempt goes on.
package dial

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"time"

	"github.com/quic-go/quic-go"
)

// attemptDelay is how long an address may take before the next one is tried, too.
const attemptDelay = 250 * time.Millisecond

// InitialPacketSize is for the first packets of QUIC, in bytes: the least that RFC 9000,
// section 14.1, allows. With the heads of UDP and IPv6 it makes 1,248, which tunnels let pass
// whose MTU is 1,280. quic-go's default needs 1,308.
const InitialPacketSize = 1200

// lookup finds addresses; tests have their own.
var lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}

// TCP connects to address, a host and a port.
func TCP(ctx context.Context, address string) (net.Conn, error) {
	return connect(ctx, address, lookup, tcp, closeTCP)
}

// QUIC connects to address, a host and a port, from a socket of its own, which is closed with
// the connection. config names the server.
func QUIC(ctx context.Context, address string, config *tls.Config, settings *quic.Config) (*quic.Conn, error) {
	return connect(ctx, address, lookup, func(ctx context.Context, to string) (*quic.Conn, error) {
		return quic.DialAddr(ctx, to, config, settings) // an address needs no lookup, which would ignore ctx
	}, func(c *quic.Conn) { _ = c.CloseWithError(0, "") }) // always nil
}

func tcp(ctx context.Context, to string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "tcp", to)
}

func closeTCP(c net.Conn) { _ = c.Close() } // nobody has used it

// connect looks up and tries addresses. Connections beyond the first one are given to discard.
func connect[C any](
	ctx context.Context, address string, lookup func(ctx context.Context, host string) ([]netip.Addr, error),
	dial func(ctx context.Context, to string) (C, error), discard func(C),
) (conn C, err error) {
	host, service, err := net.SplitHostPort(address)
	if err != nil {
		return conn, err
	}
	port, err := strconv.ParseUint(service, 10, 16)
	if err != nil {
		return conn, fmt.Errorf("address %s: the port must be a number up to 65535", address)
	}
	found, err := lookup(ctx, host)
	if err != nil {
		return conn, err
	}
	left := inTurns(found)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type result struct {
		conn C
		err  error
	}
	results := make(chan result)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for running, done := 0, false; running > 0 || len(left) > 0; {
		var next <-chan time.Time
		if len(left) > 0 {
			next = timer.C
		}
		select {
		case <-next:
			to := netip.AddrPortFrom(left[0].Unmap(), uint16(port)).String()
			left = left[1:]
			running++
			go func() { // ends with ctx at the latest; awaited here
				c, err := dial(ctx, to)
				results <- result{c, err}
			}()
			timer.Reset(attemptDelay)
		case r := <-results:
			running--
			switch {
			case r.err == nil && done:
				discard(r.conn)
			case r.err == nil:
				conn, err, done, left = r.conn, nil, true, nil
				cancel()
			case ctx.Err() != nil:
				left = nil
			default:
				timer.Reset(0)
			}
			if r.err != nil && !done && err == nil {
				err = r.err // the first address says most
			}
		}
	}
	return conn, err
}

// inTurns returns addresses in the same order, with IPv6 and IPv4 in turns (RFC 8305, section 4).
func inTurns(list []netip.Addr) (turns []netip.Addr) {
	var kinds [2][]netip.Addr // that of the first address, and the other one
	for _, a := range list {
		other := 0
		if a.Unmap().Is4() != list[0].Unmap().Is4() {
			other = 1
		}
		kinds[other] = append(kinds[other], a)
	}
	for len(turns) < len(list) {
		for i, kind := range kinds {
			if len(kind) > 0 {
				turns, kinds[i] = append(turns, kind[0]), kind[1:]
			}
		}
	}
	return turns
}
