package console

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"
)

var (
	here      = netip.MustParseAddr("192.0.2.1")
	elsewhere = netip.MustParseAddr("198.51.100.1")
	thisHost  = netip.MustParseAddr("127.0.0.1")
)

// guess tries a password, and reports how it went.
func guess(t *testing.T, l *logins, ip netip.Addr, name string, right bool) string {
	t.Helper()
	err := l.try(context.Background(), ip, name, name == "ada", func() bool { return right })
	var tooMany errTooManyAttempts
	switch {
	case err == nil:
		return "in"
	case errors.Is(err, errBadCredentials):
		return "wrong"
	case errors.As(err, &tooMany):
		if tooMany.after < time.Second {
			t.Errorf("try again after %v", tooMany.after)
		}
		return "limited"
	}
	return err.Error()
}

func expect(t *testing.T, l *logins, want string, ip netip.Addr, name string, right bool) {
	t.Helper()
	if got := guess(t, l, ip, name, right); got != want {
		t.Fatalf("%s from %v, with the right password: %v: got %s, want %s", name, ip, right, got, want)
	}
}

func TestAddressLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLogins(time.Now)
		for range addressBurst {
			expect(t, l, "wrong", here, "ada", false)
		}
		expect(t, l, "limited", here, "ada", true)  // one more from there, even with the password
		expect(t, l, "in", elsewhere, "ada", true)  // from elsewhere
		expect(t, l, "limited", here, "bob", false) // another name from there
		time.Sleep(addressEvery)
		expect(t, l, "in", here, "ada", true)
		// What succeeds does not count.
		for range 3 * addressBurst {
			expect(t, l, "in", elsewhere, "ada", true)
		}
		// All of an IPv6 network is one address.
		for i := range addressBurst {
			guess(t, l, netip.MustParseAddr(fmt.Sprintf("2001:db8::%x", i+1)), "ada", false)
		}
		expect(t, l, "limited", netip.MustParseAddr("2001:db8::ffff"), "ada", false) // the same /64
	})
}

// Guesses from everywhere hold a name up for moments, and not at all where it is at home.
func TestNameLimit(t *testing.T) {
	for _, name := range []string{"ada", "nobody"} { // they cannot be told apart
		synctest.Test(t, func(t *testing.T) {
			l := newLogins(time.Now)
			guess(t, l, here, "ada", true)
			var results []string
			for i := range 2 * nameBurst {
				results = append(results, guess(t, l, netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), name, false))
			}
			for i, got := range results {
				if want := map[bool]string{true: "wrong", false: "limited"}[i < nameBurst]; got != want {
					t.Fatalf("%s, guess %d: %s, want %s", name, i, got, want)
				}
			}
			if name != "ada" {
				return
			}
			expect(t, l, "in", here, "ada", true)           // from where it has logged in
			expect(t, l, "in", thisHost, "ada", true)       // from this machine
			expect(t, l, "limited", elsewhere, "ada", true) // from elsewhere at once
			time.Sleep(nameEvery)
			expect(t, l, "in", elsewhere, "ada", true)
		})
	}
}

// A lane for strangers works a part of the time, and few wait for it.
func TestLane(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLane(restFactor)
		begin := time.Now()
		work := func() { time.Sleep(100 * time.Millisecond) }
		for range 5 {
			if err := l.run(t.Context(), work); err != nil {
				t.Fatal(err)
			}
		}
		if took, want := time.Since(begin), 4*(restFactor+1)*100*time.Millisecond+100*time.Millisecond; took != want {
			t.Errorf("5 checks took %v, want %v", took, want)
		}
		results := make(chan error, 2*maxWaiting)
		for range cap(results) {
			go func() { results <- l.run(t.Context(), work) }()
		}
		refused := 0
		for range cap(results) {
			if <-results != nil {
				refused++
			}
		}
		if refused != maxWaiting {
			t.Errorf("%d of %d refused, want %d", refused, cap(results), maxWaiting)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := l.run(ctx, work); !errors.Is(err, context.Canceled) { // the lane rests
			t.Errorf("a client that is gone: %v", err)
		}
		time.Sleep(time.Second)
	})
}

// Nothing that strangers send grows without bound.
func TestLoginBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLogins(time.Now)
		for i := range maxKept + 1000 {
			ip := netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
			l.mu.Lock()
			l.ofStranger(ip, time.Now()).take(time.Now(), addressBurst, addressEvery)
			l.ofName(fmt.Sprint("name", i), false)
			if i < maxFamiliar+100 {
				l.remember(familiarKey{"ada", ip}, time.Now())
			}
			l.mu.Unlock()
		}
		if len(l.addresses) != maxKept || len(l.names) != 0 || len(l.familiar) != maxFamiliar {
			t.Errorf("%d addresses, %d names, %d familiar", len(l.addresses), len(l.names), len(l.familiar))
		}
		time.Sleep(addressBurst * addressEvery) // nothing counts any more
		l.mu.Lock()
		l.ofStranger(here, time.Now())
		l.mu.Unlock()
		if len(l.addresses) != 1 {
			t.Errorf("%d addresses are kept for nothing", len(l.addresses))
		}
	})
}

// Where no address is known, or more of them try than are kept count of, an operator gets in
// where the name is at home.
func TestNobodyIsLockedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLogins(time.Now)
		for range 2 {
			expect(t, l, "in", netip.Addr{}, "ada", true)
		}
		for range 2 * addressBurst {
			expect(t, l, "wrong", netip.Addr{}, "nobody", false)
		}
		for range nameBurst {
			guess(t, l, netip.Addr{}, "ada", false)
		}
		expect(t, l, "limited", netip.Addr{}, "ada", true) // an address that is not known is one where ada is at home
		expect(t, l, "in", thisHost, "ada", true)          // from this machine

		l = newLogins(time.Now)
		guess(t, l, here, "ada", true)
		for i := range maxKept + 100 {
			l.mu.Lock()
			l.ofStranger(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), time.Now()).take(time.Now(), addressBurst, addressEvery)
			l.mu.Unlock()
		}
		expect(t, l, "limited", elsewhere, "bob", false) // an address for which there is no room
		for _, ip := range []netip.Addr{here, thisHost} {
			expect(t, l, "in", ip, "ada", true)
		}
	})
}

// Nobody takes all places of a lane, and an attempt that was not looked at does not count.
func TestLanesAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLogins(time.Now)
		guess(t, l, here, "ada", true)
		guess(t, l, here, "bob", true)
		held := make(chan struct{})
		try := func(ip netip.Addr, name string) {
			go func() { _ = l.try(t.Context(), ip, name, true, func() bool { <-held; return true }) }()
		}
		for range 3 * maxWaiting {
			try(here, "bob") // right, and at home, all the time
			try(elsewhere, "ada")
		}
		synctest.Wait()
		l.mu.Lock()
		if n := l.underWay[party{familiar: true, name: "bob"}]; n != maxUnderWay {
			t.Errorf("%d attempts of bob are under way, want %d", n, maxUnderWay)
		}
		l.mu.Unlock()
		other := netip.MustParseAddr("203.0.113.9")
		for range 3 * nameBurst {
			expect(t, l, "limited", other, "ada", true) // while two of ada's attempts are under way elsewhere
		}
		// Neither has a place, nor has either attempt counted.
		l.mu.Lock()
		if used := l.names["ada"].used; used > maxUnderWay {
			t.Errorf("%v attempts of ada count", used)
		}
		if a := l.addresses[other]; a != nil && a.used > 0 {
			t.Errorf("%v attempts of the address count", a.used)
		}
		l.mu.Unlock()
		close(held)
		time.Sleep(time.Minute)
		l.mu.Lock()
		if len(l.underWay) != 0 {
			t.Errorf("%d are kept as under way", len(l.underWay))
		}
		l.mu.Unlock()
		expect(t, l, "in", other, "ada", true) // after that
	})
}
