package takeover

import (
	"context"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

// idleTest has connections that are not there, and says which were closed.
type idleTest struct {
	*testing.T
	*idleConns
	closed map[*connection]string
}

// connect connects from an address, or reports nil if that is refused.
func (it idleTest) connect(from string) *connection {
	network := networkOf(netAddr(from))
	done, err := it.connecting(network)
	if err != nil {
		return nil
	}
	c := &connection{idle: it.idleConns, network: network, idleTimeout: time.Minute}
	c.close = func(_ quic.ApplicationErrorCode, reason string) { it.closed[c] = reason }
	it.add(c)
	done()
	return c
}

func (it idleTest) expect(what string, c *connection, reason string) {
	it.Helper()
	if it.closed[c] != reason {
		it.Errorf("%s was closed for %q, want %q", what, it.closed[c], reason)
	}
}

type netAddr string

func (a netAddr) Network() string { return "udp" }
func (a netAddr) String() string  { return string(a) }

func TestIdleConnsAreLimited(t *testing.T) {
	const limit, perAddress = 20, 4
	run := func(name string, f func(idleTest)) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				it := idleTest{t, newIdleConns(limit, perAddress), map[*connection]string{}}
				f(it)
				for e := it.oldest.Front(); e != nil; e = it.oldest.Front() {
					it.remove(e.Value.(*connection))
				}
				if len(it.addresses) > 0 || it.handshakes > 0 {
					t.Errorf("%d addresses and %d handshakes are left", len(it.addresses), it.handshakes)
				}
			})
		})
	}
	run("a storm from one address is refused, and others get in", func(it idleTest) {
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
	run("an IPv6 client has the same limit for its whole /64", func(it idleTest) {
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
	run("who is idle for longest makes room", func(it idleTest) {
		busy := it.connect("192.0.2.1:1")
		busy.begin()
		first := it.connect("192.0.2.1:1")
		for range perAddress - 1 {
			it.connect("192.0.2.1:1")
		}
		time.Sleep(idleGrace)
		if it.connect("192.0.2.1:1") == nil {
			it.Error("the new one was refused")
		}
		it.expect("the first", first, addressFull)
		it.expect("one with a request", busy, "")
	})
	run("one request does not exempt a connection", func(it idleTest) {
		first := it.connect("192.0.2.1:1")
		first.begin()
		for range perAddress {
			c := it.connect("192.0.2.1:1")
			c.begin()
			c.end()
			time.Sleep(idleGrace)
		}
		second := it.oldest.Front().Value.(*connection)
		first.end()
		it.expect("the one idle for longest", second, addressFull)
		it.expect("the one that just was in use", first, "")
	})
	run("many addresses together have a limit, too", func(it idleTest) {
		first := it.connect("192.0.2.0:1")
		for i := range limit - 1 {
			it.connect("198.51.100." + string(rune('0'+i%10)) + ":1")
			it.connect("203.0.113." + string(rune('0'+i%10)) + ":1")
		}
		if it.oldest.Len() != limit {
			it.Errorf("there are %d, want %d", it.oldest.Len(), limit)
		}
		time.Sleep(idleGrace)
		if it.connect("192.0.2.9:1") == nil {
			it.Error("the new one was refused")
		}
		it.expect("the first", first, edgeFull)
	})
	run("an address takes the place of its own only connection", func(it idleTest) {
		first := it.connect("192.0.2.0:1") // of all the one that is idle for longest
		for i := range limit - 1 {
			it.connect("198.51.100." + string(rune('0'+i%10)) + ":1")
		}
		time.Sleep(idleGrace)
		if it.connect("192.0.2.0:1") == nil {
			it.Error("the new one was refused")
		}
		it.expect("the first", first, edgeFull)
	})
	run("handshakes count, and near the limit clients have to prove their address", func(it idleTest) {
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
	run("loopback is limited with all others only", func(it idleTest) {
		for range limit {
			if it.connect("127.0.0.1:1") == nil {
				it.Fatal("refused")
			}
		}
		if it.connect("127.0.0.1:1") != nil {
			it.Error("there was room for one more")
		}
	})
	run("deadlines", func(it idleTest) {
		silent, used, busy, gone := it.connect("192.0.2.1:1"), it.connect("192.0.2.1:1"), it.connect("192.0.2.1:1"), it.connect("192.0.2.1:1")
		it.remove(gone)
		busy.begin()
		used.begin()
		time.Sleep(firstRequestTimeout / 2)
		used.end()
		time.Sleep(firstRequestTimeout / 2)
		synctest.Wait()
		it.expect("one without a request", silent, noRequest)
		time.Sleep(used.idleTimeout)
		synctest.Wait()
		it.expect("one that had a request", used, idleTimeout)
		it.expect("one with a request", busy, "")
		it.expect("one that has ended", gone, "")
		it.remove(busy)
		busy.end()
	})
}

// A client over QUIC that asks for nothing is turned out; one with a session stays.
func TestFirstRequestTimeout(t *testing.T) {
	before := firstRequestTimeout
	t.Cleanup(func() { firstRequestTimeout = before }) // after the edge has ended
	firstRequestTimeout = 2 * time.Second
	address := unused(t)
	a := newAcceptor(t)
	newGeneration(t, address, "one", a.ServeHTTP).start(t)
	_, session, err := open(t, address)
	must(t, err)
	take(t, a.sessions)
	silent := connect(t, address)
	// A request that never becomes whole is none.
	partial := connect(t, address)
	stream, err := partial.quic.OpenStream()
	must(t, err)
	_, err = stream.Write([]byte{0x01, 0x40}) // a HEADERS frame
	must(t, err)
	take(t, silent.quic.Context().Done())
	take(t, partial.quic.Context().Done())
	expectCode(t, silent.quic, http3.ErrCodeNoError)
	expectCode(t, partial.quic, http3.ErrCodeNoError)
	if err := context.Cause(session.Context()); err != nil {
		t.Errorf("the session ended: %v", err)
	}
}

// Above the limits, quic-go refuses a client before it costs anything.
func TestTooManyIdleAreRefused(t *testing.T) {
	address := unused(t)
	newGeneration(t, address, "one", answer("one")).start(t)
	connect(t, address).expect(t, "one")
	idle.mu.Lock()
	limit := idle.limit
	idle.limit = 0
	idle.mu.Unlock()
	defer func() {
		idle.mu.Lock()
		defer idle.mu.Unlock()
		idle.limit = limit
	}()
	if conn, err := dial(t.Context(), address); err == nil {
		_ = conn.CloseWithError(0, "")
		t.Error("there was room for one more")
	}
}
