package console

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
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

// Guesses from everywhere hold a name up for moments where somebody has guessed, and nowhere
// else.
func TestNameLimit(t *testing.T) {
	for _, name := range []string{"ada", "nobody"} { // they cannot be told apart
		synctest.Test(t, func(t *testing.T) {
			l := newLogins(time.Now)
			guess(t, l, here, "ada", true)
			for range failures {
				l.suspect(netip.MustParseAddr("10.0.0.0")) // who guess are no strangers
			}
			var results []string
			for i := range 2 * nameBurst {
				results = append(results, guess(t, l, netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}), name, false))
			}
			for i, got := range results {
				if want := map[bool]string{true: "wrong", false: "limited"}[i < nameBurst]; got != want {
					t.Fatalf("%s, guess %d: %s, want %s", name, i, got, want)
				}
			}
			if name != "ada" {
				return
			}
			among := netip.MustParseAddr("10.0.0.255")
			expect(t, l, "in", here, "ada", true)       // from where it has logged in
			expect(t, l, "in", thisHost, "ada", true)   // from this machine
			expect(t, l, "in", elsewhere, "ada", true)  // from where nobody has guessed
			expect(t, l, "limited", among, "ada", true) // from among those who guess, at once
			time.Sleep(nameEvery)
			expect(t, l, "in", among, "ada", true)
		})
	}
}

// Many networks that guess all the time take the places of each other. An operator who was
// never seen before, as after a restart, gets in, also after a typing error.
func TestStrangersLockNobodyOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLogins(time.Now)
		const networks = 12
		ctx, cancel := context.WithCancel(t.Context())
		var guessing sync.WaitGroup
		for i := range networks {
			for j := range byte(maxUnderWay) {
				ip := netip.AddrFrom4([4]byte{10, byte(i), 0, j})
				guessing.Go(func() {
					for ctx.Err() == nil {
						_ = l.try(ctx, ip, "ada", true, func() bool { time.Sleep(250 * time.Millisecond); return false })
						time.Sleep(100 * time.Millisecond)
					}
				})
			}
		}
		time.Sleep(2 * time.Minute) // each of them has failed
		synctest.Wait()
		for i := range 5 {
			operator := netip.AddrFrom4([4]byte{192, 0, byte(i), 1})
			expect(t, l, "wrong", operator, "ada", false)
			expect(t, l, "in", operator, "ada", true)
			time.Sleep(time.Minute)
		}
		cancel()
		guessing.Wait()
		time.Sleep(time.Minute)
	})
}

// Two failures make their network suspect for hours, and many make a provider's.
func TestSuspects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLogins(time.Now)
		standingOf := func(ip string) standing {
			_, from := l.ofAddress(netip.MustParseAddr(ip), familiarKey{}, time.Now())
			return from
		}
		check := func(when, ip string, want standing) {
			t.Helper()
			if got := standingOf(ip); got != want {
				t.Errorf("%s: %s is %d, want %d", when, ip, got, want)
			}
		}
		check("at first", "192.0.2.1", stranger)
		l.suspect(netip.MustParseAddr("192.0.2.1"))
		check("a failure", "192.0.2.200", stranger)
		l.suspect(netip.MustParseAddr("192.0.2.2"))
		check("another one", "192.0.2.200", suspect)
		check("failures elsewhere", "192.0.3.1", stranger)
		for i := range wideFailures {
			l.suspect(netip.MustParseAddr(fmt.Sprintf("2001:db8:%x::1", i)))
		}
		check("many failures", "2001:db8:ffff::1", suspect)
		check("many failures elsewhere", "2001:db9:ffff::1", stranger)
		time.Sleep(suspectFor)
		check("hours later", "192.0.2.200", stranger)
		check("hours later", "2001:db8:ffff::1", stranger)
	})
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
			l.addresses.of(ip, time.Now()).take(time.Now(), addressBurst, addressEvery)
			l.ofName(suspect, fmt.Sprint("name", i), false)
			l.suspect(ip)
			if i < maxFamiliar+100 {
				l.remember(familiarKey{"ada", ip}, time.Now())
			}
			l.mu.Unlock()
		}
		if len(l.addresses.byKey) != maxKept || len(l.names[suspect]) != 0 || len(l.familiar) != maxFamiliar {
			t.Errorf("%d addresses, %d names, %d familiar", len(l.addresses.byKey), len(l.names[suspect]), len(l.familiar))
		}
		if n := len(l.failed.byKey); n != 1 { // the first; all of 10.0.0.0/16 is suspect before the second
			t.Errorf("%d networks", n)
		}
		time.Sleep(addressBurst * addressEvery) // nothing counts any more
		l.mu.Lock()
		l.addresses.of(here, time.Now())
		l.mu.Unlock()
		if len(l.addresses.byKey) != 1 {
			t.Errorf("%d addresses are kept for nothing", len(l.addresses.byKey))
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
			l.addresses.of(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), time.Now()).take(time.Now(), addressBurst, addressEvery)
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
		if n := l.underWay[party{standing: familiar, name: "bob"}]; n != maxUnderWay {
			t.Errorf("%d attempts of bob are under way, want %d", n, maxUnderWay)
		}
		l.mu.Unlock()
		other := netip.MustParseAddr("203.0.113.9")
		for range 3 * nameBurst {
			expect(t, l, "limited", other, "ada", true) // while two of ada's attempts are under way elsewhere
		}
		// Neither has a place, nor has either attempt counted.
		l.mu.Lock()
		if used := l.names[stranger]["ada"].used; used > maxUnderWay {
			t.Errorf("%v attempts of ada count", used)
		}
		if a := l.addresses.byKey[other]; a != nil && a.used > 0 {
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
