package takeover

import (
	"context"
	"fmt"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

// limitTest has connections that are not there, and says which were closed.
type limitTest struct {
	*testing.T
	*connLimits
	closed map[*connection]string
}

// connect connects from an address, or reports nil if that is refused.
func (it limitTest) connect(from string) *connection {
	network := networkOf(netAddr(from))
	done, err := it.connecting(network)
	if err != nil {
		return nil
	}
	c := &connection{limits: it.connLimits, network: network}
	c.close = func(_ quic.ApplicationErrorCode, reason string) { it.closed[c] = reason }
	it.add(c, firstRequestTimeout)
	done()
	return c
}

func (it limitTest) expect(what string, c *connection, reason string) {
	it.Helper()
	if it.closed[c] != reason {
		it.Errorf("%s was closed for %q, want %q", what, it.closed[c], reason)
	}
}

type netAddr string

func (a netAddr) Network() string { return "udp" }
func (a netAddr) String() string  { return string(a) }

func TestConnectionsAreLimited(t *testing.T) {
	const limit, perAddress = 20, 4
	run := func(name string, f func(limitTest)) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				it := limitTest{t, newConnLimits(limit, perAddress, func(string) {}), map[*connection]string{}}
				f(it)
				for len(it.sizes) > 0 {
					it.remove(it.ofLargest())
				}
				if len(it.addresses) > 0 || it.handshakes > 0 || it.conns > 0 {
					t.Errorf("%d addresses, %d handshakes and %d connections are left", len(it.addresses), it.handshakes, it.conns)
				}
			})
		})
	}
	run("a storm from one address is refused, and others get in", func(it limitTest) {
		for range perAddress {
			it.connect("192.0.2.1:1")
		}
		if it.connect("192.0.2.1:2") != nil || len(it.closed) > 0 {
			it.Error("there was room for one more")
		}
		if it.connect("192.0.2.2:1") == nil {
			it.Error("another address was refused")
		}
	})
	run("an IPv6 client has the same limit for its whole /64", func(it limitTest) {
		for i := range perAddress {
			it.connect("[2001:db8::" + string(rune('1'+i)) + "]:1")
		}
		if it.connect("[2001:db8::ffff:1]:1") != nil {
			it.Error("there was room for one more")
		}
		if it.connect("[2001:db8:0:1::1]:1") == nil {
			it.Error("another /64 was refused")
		}
	})
	run("who is idle for longest makes room", func(it limitTest) {
		busy := it.connect("192.0.2.1:1")
		busy.begin()
		first := it.connect("192.0.2.1:1")
		for range perAddress - 2 {
			it.connect("192.0.2.1:1")
		}
		time.Sleep(idleGrace)
		if it.connect("192.0.2.1:1") == nil {
			it.Error("the new one was refused")
		}
		it.expect("the first", first, addressFull)
		it.expect("one with a request", busy, "")
	})
	run("a request does not exempt a connection, a session does", func(it limitTest) {
		first := it.connect("192.0.2.1:1")
		it.beginSession(first)
		var last *connection
		for range perAddress {
			last = it.connect("192.0.2.1:1")
			last.begin()
		}
		time.Sleep(idleGrace)
		if it.connect("192.0.2.1:1") != nil || len(it.closed) > 0 {
			it.Error("there was room for one more")
		}
		last.end()
		time.Sleep(idleGrace)
		it.endSession(first) // so that it counts again
		it.expect("the one without a request", last, addressFull)
	})
	run("many addresses together have a limit, too", func(it limitTest) {
		first := it.connect("192.0.2.0:1")
		for i := range limit - 1 {
			it.connect("198.51.100." + string(rune('0'+i%10)) + ":1")
			it.connect("203.0.113." + string(rune('0'+i%10)) + ":1")
		}
		if it.conns != limit {
			it.Errorf("there are %d, want %d", it.conns, limit)
		}
		if it.connect("192.0.2.9:1") == nil {
			it.Error("the new one was refused")
		}
		it.expect("the first", first, edgeFull)
		time.Sleep(idleGrace)
		if it.connect("192.0.2.9:1") == nil { // whose own is idle for longest
			it.Error("one more of the new address was refused")
		}
	})
	run("an address takes the place of its own only connection", func(it limitTest) {
		first := it.connect("192.0.2.0:1") // of all the one that is idle for longest
		for i := range limit - 1 {
			it.connect(fmt.Sprintf("198.51.100.%d:1", i))
		}
		time.Sleep(idleGrace)
		if it.connect("192.0.2.0:1") == nil {
			it.Error("the new one was refused")
		}
		it.expect("the first", first, edgeFull)
	})
	run("few addresses keep nobody out, whatever they do", func(it limitTest) {
		for range perAddress {
			for i := range limit / perAddress {
				it.connect(fmt.Sprintf("192.0.2.%d:1", i)).begin()
			}
		}
		for i := range limit/4 - 1 {
			for range perAddress {
				if done, err := it.connecting(networkOf(netAddr(fmt.Sprintf("203.0.113.%d:1", i)))); err == nil {
					defer done()
				}
			}
		}
		closed := len(it.closed)
		for i := range perAddress {
			c := it.connect(fmt.Sprintf("198.51.100.%d:1", i))
			if c == nil || len(it.closed) != closed+i+1 {
				it.Fatalf("newcomer %d: %v, %d others closed", i, c, len(it.closed)-closed)
			}
			it.expect("a newcomer", c, "")
		}
		if n := it.conns + it.handshakes; n > limit {
			it.Errorf("there are %d, more than %d", n, limit)
		}
	})
	run("handshakes count, and near the limit clients have to prove their address", func(it limitTest) {
		network := netip.MustParseAddr("192.0.2.1")
		if it.crowded(network) {
			it.Error("crowded while empty")
		}
		var done []func()
		for range perAddress {
			end, err := it.connecting(network)
			noError(it.T, err)
			done = append(done, end)
		}
		if !it.crowded(network) || it.crowded(netip.MustParseAddr("192.0.2.2")) {
			it.Error("not crowded at the limit, or crowded for others")
		}
		if it.connect("192.0.2.1:1") != nil {
			it.Error("there was room for one more")
		}
		for _, end := range done {
			end()
			end() // changes nothing
		}
		if it.crowded(network) {
			it.Error("crowded when they have ended")
		}
	})
	run("loopback is limited with all others only", func(it limitTest) {
		for range limit {
			if it.connect("127.0.0.1:1") == nil {
				it.Fatal("refused")
			}
		}
		if it.connect("127.0.0.1:1") != nil {
			it.Error("there was room for one more")
		}
	})
	run("deadlines", func(it limitTest) {
		silent, used, busy, gone := it.connect("192.0.2.1:1"), it.connect("192.0.2.1:1"), it.connect("192.0.2.1:1"), it.connect("192.0.2.1:1")
		it.remove(gone)
		busy.begin()
		used.begin()
		time.Sleep(firstRequestTimeout / 2)
		used.end()
		time.Sleep(firstRequestTimeout / 2)
		synctest.Wait()
		it.expect("one without a request", silent, noRequest)
		it.expect("one that had a request", used, "")
		it.expect("one with a request", busy, "")
		it.expect("one that has ended", gone, "")
		it.remove(busy)
		busy.end()
	})
}

// A client over QUIC that asks for nothing is turned out; one with a session stays.
func TestFirstRequestTimeout(t *testing.T) {
	address := unused(t)
	a := newAcceptor(t)
	newGeneration(t, address, "one", a.ServeHTTP).start(t)
	_, session, err := open(t, address)
	must(t, err)
	take(t, a.sessions)
	silent := connect(t, address)
	// An incomplete request does not count.
	partial := connect(t, address)
	stream, err := partial.quic.OpenStream()
	must(t, err)
	_, err = stream.Write([]byte{0x01, 0x40}) // a HEADERS frame
	must(t, err)
	for end := time.Now().Add(testTimeout); silent.quic.Context().Err() == nil || partial.quic.Context().Err() == nil; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("they are not closed")
		}
		endFirstRequestTimeouts() // of the connections that the edge has accepted by now
	}
	expectCode(t, silent.quic, http3.ErrCodeNoError)
	expectCode(t, partial.quic, http3.ErrCodeNoError)
	if err := context.Cause(session.Context()); err != nil {
		t.Errorf("the session ended: %v", err)
	}
}

// Above the limits, quic-go refuses a client before it costs anything.
func TestTooManyAreRefused(t *testing.T) {
	address := unused(t)
	newGeneration(t, address, "one", answer("one")).start(t)
	connect(t, address).expect(t, "one")
	setLimit := func(n int) (before int) {
		limits.mu.Lock()
		defer limits.mu.Unlock()
		before, limits.limit = limits.limit, n
		return before
	}
	defer setLimit(setLimit(0))
	if conn, err := dial(t.Context(), address); err == nil {
		_ = conn.CloseWithError(0, "")
		t.Error("there was room for one more")
	}
}

// endFirstRequestTimeouts has the timeouts pass for all connections without a request. Before
// the end of its handshake, a connection does not tell its client the code.
func endFirstRequestTimeouts() {
	limits.mu.Lock()
	defer limits.mu.Unlock()
	for _, a := range limits.addresses {
		for e := a.conns.Front(); e != nil; e = e.Next() {
			c := e.Value.(*connection)
			select {
			case <-c.HandshakeComplete():
				if c.timer != nil {
					c.timer.Reset(0)
				}
			default:
			}
		}
	}
}
