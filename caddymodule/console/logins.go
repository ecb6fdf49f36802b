package console

import (
	"context"
	"errors"
	"hash/maphash"
	"net/netip"
	"sync"
	"time"

	"github.com/millrace/millrace/pubsub"
)

// The limits of logins. An address is an IPv4 address or an IPv6 /64.
const (
	addressBurst = 10              // attempts of an address,
	addressEvery = 6 * time.Second // and one more after each of these
	nameBurst    = 50              // failures of a name, from all addresses that it has not logged in from,
	nameEvery    = 2 * time.Second // and one more after each of these
	maxKept      = 16_384          // addresses that are kept count of
	sweepEvery   = time.Second     // at least, since it looks at all of them
	maxFamiliar  = 4_096           // pairs of name and address that have logged in
	nameSlots    = 1_024           // for names that nobody has
	maxWaiting   = 8               // logins that wait for one of the lanes, or are in it;
	maxUnderWay  = 2               // of one name, and of one IPv4 /24 or IPv6 /48
	restFactor   = 3               // a lane for strangers rests so many times as long as it worked
)

// logins limits attempts to log in. A name is never locked out for good: from the addresses
// that it has logged in from, and from this machine, only the limit of the address counts;
// from elsewhere, failures of others hold it up for nameEvery at a time. What it says does
// not depend on whether there is such a name. An address that is not known, as behind a proxy
// that may be lied to, is nobody's: it has no limit of its own, and no name is at home there.
// All methods may be called concurrently.
type logins struct {
	now  func() time.Time
	seed maphash.Seed

	familiarLane, strangerLane lane

	mu        sync.Mutex // guards what follows
	addresses map[netip.Addr]*attempts
	overflow  attempts  // of addresses for which there is no room
	swept     time.Time // when addresses that no longer count were last forgotten for room
	names     map[string]*attempts
	slots     [nameSlots]attempts
	familiar  map[familiarKey]*home
	loopback  attempts

	underWay map[party]int
}

// party is a name or a network, of attempts from where names are at home or of others.
type party struct {
	familiar bool
	name     string
	network  netip.Prefix
}

// home is an address from which a name has logged in. It has a bucket of its own, which
// strangers cannot fill up.
type home struct {
	used time.Time
	attempts
}

type familiarKey struct {
	name    string
	address netip.Addr
}

// attempts is a bucket that attempts are taken from.
type attempts struct {
	used float64
	at   time.Time
}

func newLogins(now func() time.Time) *logins {
	return &logins{
		now: now, seed: maphash.MakeSeed(), addresses: map[netip.Addr]*attempts{}, names: map[string]*attempts{},
		familiar: map[familiarKey]*home{}, underWay: map[party]int{},
		familiarLane: newLane(0), strangerLane: newLane(restFactor),
	}
}

// errTooManyAttempts says when to try again.
type errTooManyAttempts struct{ after time.Duration }

func (e errTooManyAttempts) Error() string {
	return "too many attempts to log in; wait " + e.after.Round(time.Second).String()
}

var errBadCredentials = errors.New("the name or the password is wrong")

// try checks a password within the limits. exists says whether there is such a name; the
// caller's check takes as long where there is none.
func (l *logins) try(ctx context.Context, ip netip.Addr, name string, exists bool, check func() bool) error {
	address := pubsub.Network(ip)
	key := familiarKey{name, address}
	l.mu.Lock()
	now := l.now()
	byAddress, familiar := l.ofAddress(ip, key, now)
	byName := l.ofName(name, exists)
	end, after := l.begin(ip, name, familiar)
	if after == 0 {
		if after = byAddress.take(now, addressBurst, addressEvery); after == 0 && !familiar {
			if after = byName.take(now, nameBurst, nameEvery); after > 0 {
				byAddress.giveBack()
			}
		}
		if after > 0 {
			end()
		}
	}
	l.mu.Unlock()
	if after > 0 {
		return errTooManyAttempts{after}
	}

	lane := &l.strangerLane
	if familiar {
		lane = &l.familiarLane
	}
	right := false
	err := lane.run(ctx, func() { right = check() })
	l.mu.Lock()
	defer l.mu.Unlock()
	end()
	if err == nil && !right {
		return errBadCredentials
	}
	byAddress.giveBack() // it was right, or was not looked at
	if !familiar {
		byName.giveBack()
	}
	if err == nil && ip.IsValid() && !ip.IsLoopback() {
		l.remember(key, l.now())
	}
	return err
}

// begin counts an attempt as under way until end is called, or says after how long to try
// again: so nobody has all places of a lane. The caller holds l.mu, also for end.
func (l *logins) begin(ip netip.Addr, name string, familiar bool) (end func(), after time.Duration) {
	keys := []party{{familiar: familiar, name: name}}
	if ip.IsValid() && !ip.IsLoopback() {
		bits := 24
		if ip.Is6() {
			bits = 48
		}
		network, _ := ip.Prefix(bits) // which fits
		keys = append(keys, party{familiar: familiar, network: network})
	}
	for _, key := range keys {
		if l.underWay[key] >= maxUnderWay {
			return nil, time.Second
		}
	}
	for _, key := range keys {
		l.underWay[key]++
	}
	return func() {
		for _, key := range keys {
			if l.underWay[key]--; l.underWay[key] == 0 {
				delete(l.underWay, key)
			}
		}
	}, 0
}

// ofAddress returns the bucket of an address, and whether the name is at home there. The
// caller holds l.mu.
func (l *logins) ofAddress(ip netip.Addr, key familiarKey, now time.Time) (bucket *attempts, familiar bool) {
	switch h := l.familiar[key]; {
	case !ip.IsValid():
		return new(attempts), false // no limit
	case ip.IsLoopback():
		return &l.loopback, true
	case h != nil:
		return &h.attempts, true
	}
	return l.ofStranger(key.address, now), false
}

// ofStranger returns the bucket of an address. The caller holds l.mu.
func (l *logins) ofStranger(address netip.Addr, now time.Time) *attempts {
	if a := l.addresses[address]; a != nil {
		return a
	}
	if len(l.addresses) >= maxKept && now.Sub(l.swept) >= sweepEvery {
		l.swept = now
		for key, a := range l.addresses {
			if a.level(now, addressEvery) == 0 {
				delete(l.addresses, key)
			}
		}
	}
	if len(l.addresses) >= maxKept {
		return &l.overflow
	}
	a := new(attempts)
	l.addresses[address] = a
	return a
}

// ofName returns the bucket of a name. Those that nobody has share slots, so that they are
// limited alike and cannot fill the memory. The caller holds l.mu.
func (l *logins) ofName(name string, exists bool) *attempts {
	if !exists {
		return &l.slots[maphash.String(l.seed, name)%nameSlots]
	}
	if l.names[name] == nil {
		l.names[name] = new(attempts)
	}
	return l.names[name]
}

// remember notes that a name has logged in from an address. The caller holds l.mu.
func (l *logins) remember(key familiarKey, now time.Time) {
	if h := l.familiar[key]; h != nil {
		h.used = now
		return
	}
	if len(l.familiar) >= maxFamiliar {
		var oldest familiarKey
		for other, h := range l.familiar {
			if oldest.name == "" || h.used.Before(l.familiar[oldest].used) {
				oldest = other
			}
		}
		delete(l.familiar, oldest)
	}
	l.familiar[key] = &home{used: now}
}

// level is how many attempts count at a time.
func (a *attempts) level(now time.Time, every time.Duration) float64 {
	return max(0, a.used-float64(now.Sub(a.at))/float64(every))
}

// take counts an attempt, or returns after how long there is room for one.
func (a *attempts) take(now time.Time, burst float64, every time.Duration) time.Duration {
	level := a.level(now, every)
	if level > burst-1 {
		return max(time.Second, time.Duration((level-burst+1)*float64(every)))
	}
	a.used, a.at = level+1, now
	return 0
}

func (a *attempts) giveBack() { a.used = max(0, a.used-1) }

// lane is where passwords are checked, one at a time: whoever guesses takes a part of one
// processor at most.
type lane struct {
	rest    int           // times as long as the work took
	waiting chan struct{} // a place for each that waits or works
	turn    chan struct{}
}

func newLane(rest int) lane {
	return lane{rest, make(chan struct{}, maxWaiting), make(chan struct{}, 1)}
}

// run runs check when it is its turn.
func (l *lane) run(ctx context.Context, check func()) error {
	select {
	case l.waiting <- struct{}{}:
	default:
		return errTooManyAttempts{time.Second}
	}
	defer func() { <-l.waiting }()
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	begin := time.Now()
	check()
	rest := time.Duration(l.rest) * time.Since(begin)
	if rest == 0 {
		<-l.turn
		return nil
	}
	time.AfterFunc(rest, func() { <-l.turn }) // the next one's turn; nobody waits for this
	return nil
}
