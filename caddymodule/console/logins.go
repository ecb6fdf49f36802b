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
	nameBurst    = 50              // failures of a name, from all addresses of a kind that it has not logged in from,
	nameEvery    = 2 * time.Second // and one more after each of these
	failures     = 2               // of a network make it suspect: one may be a typing error;
	suspectFor   = 6 * time.Hour   // after this time, one of them is forgotten
	wideFailures = 16              // likewise of a wider network, which forgets one in a 16th of the time
	maxKept      = 16_384          // addresses that are kept count of, and networks
	sweepEvery   = time.Second     // at least, since it looks at all of them
	maxFamiliar  = 4_096           // pairs of name and address that have logged in
	nameSlots    = 1_024           // for names that nobody has
	maxWaiting   = 8               // logins that wait for one of the lanes, or are in it;
	maxUnderWay  = 2               // of one name, and of one network
	restFactor   = 7               // a lane for strangers rests so many times as long as it worked
)

// standing is what is known of where an attempt comes from. Attempts of one standing have
// lanes and limits of their own, which those of another cannot use up: whoever guesses is
// suspect after the second failure, and holds up only others who are.
type standing uint8

const (
	suspect  standing = iota // its network has failures lately, or is not known
	stranger                 // it has none, or one
	familiar                 // the name has logged in from there
	standings
)

// logins limits attempts to log in. A name is never locked out for good: from the addresses
// that it has logged in from, and from this machine, only the limit of the address counts;
// from networks without failures, those of others elsewhere do not count; among suspects they
// hold it up for nameEvery at a time, or as long as they have all places there. What it says does
// not depend on whether there is such a name. An address that is not known, as behind a proxy
// that may be lied to, is nobody's: it has no limit of its own, and no name is at home there.
// All methods may be called concurrently.
type logins struct {
	now  func() time.Time
	seed maphash.Seed

	lanes [standings]lane
	homes *homes // nil: they are forgotten with the process

	mu        sync.Mutex // guards what follows
	addresses buckets[netip.Addr]
	failed    buckets[netip.Prefix] // failures in networks,
	wider     buckets[netip.Prefix] // and in wider ones
	names     [standings]map[string]*attempts
	slots     [standings][nameSlots]attempts
	familiar  map[familiarKey]*home
	loopback  attempts

	underWay map[party]int
}

// party is a name or a network, of attempts of a standing.
type party struct {
	standing standing
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

func newLogins(now func() time.Time) *logins {
	return &logins{
		now: now, seed: maphash.MakeSeed(), familiar: map[familiarKey]*home{}, underWay: map[party]int{},
		lanes:     [standings]lane{suspect: newLane(restFactor), stranger: newLane(restFactor), familiar: newLane(0)},
		addresses: newBuckets[netip.Addr](addressEvery),
		failed:    newBuckets[netip.Prefix](suspectFor), wider: newBuckets[netip.Prefix](suspectFor / wideFailures),
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
	byAddress, from := l.ofAddress(ip, key, now)
	byName := l.ofName(from, name, exists)
	end, after := l.begin(ip, name, from)
	if after == 0 {
		if after = byAddress.take(now, addressBurst, addressEvery); after == 0 && from != familiar {
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

	right := false
	err := l.lanes[from].run(ctx, func() { right = check() })
	l.mu.Lock()
	defer l.mu.Unlock()
	end()
	if err == nil && !right {
		l.suspect(ip)
		return errBadCredentials
	}
	byAddress.giveBack() // it was right, or was not looked at
	if from != familiar {
		byName.giveBack()
	}
	if err == nil && ip.IsValid() && !ip.IsLoopback() && l.remember(key, l.now()) && l.homes != nil {
		l.homes.save(l)
	}
	return err
}

// begin counts an attempt as under way until end is called, or says after how long to try
// again: so nobody has all places of a lane. The caller holds l.mu, also for end.
func (l *logins) begin(ip netip.Addr, name string, from standing) (end func(), after time.Duration) {
	keys := []party{{standing: from, name: name}}
	if network, _, ok := networksOf(ip); ok {
		keys = append(keys, party{standing: from, network: network})
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

// ofAddress returns the bucket of an address, and its standing for the name. The caller holds
// l.mu.
func (l *logins) ofAddress(ip netip.Addr, key familiarKey, now time.Time) (*attempts, standing) {
	switch h := l.familiar[key]; {
	case !ip.IsValid():
		return new(attempts), suspect // no limit
	case ip.IsLoopback():
		return &l.loopback, familiar
	case h != nil:
		return &h.attempts, familiar
	}
	network, wider, _ := networksOf(ip)
	from := stranger
	if l.failed.level(network, now) > failures-1 || l.wider.level(wider, now) > wideFailures-1 {
		from = suspect
	}
	return l.addresses.of(key.address, now), from
}

// networksOf returns the network of an address that a home or a company has, and a wider one
// that a provider has; ok is false for an address without one. Who has one IPv6 /48 often has many.
func networksOf(ip netip.Addr) (network, wider netip.Prefix, ok bool) {
	if !ip.IsValid() || ip.IsLoopback() {
		return network, wider, false
	}
	narrow, wide := 24, 16
	if ip.Is6() {
		narrow, wide = 48, 32
	}
	network, _ = ip.Prefix(narrow) // which fits
	wider, _ = ip.Prefix(wide)
	return network, wider, true
}

// suspect notes a failure in the networks of an address. The caller holds l.mu.
func (l *logins) suspect(ip netip.Addr) {
	network, wider, ok := networksOf(ip)
	if !ok {
		return
	}
	now := l.now()
	// In a wider network that is suspect already, its parts would only take up room: it has
	// 65,536 of them.
	if w := l.wider.byKey[wider]; w == nil || w.level(now, l.wider.every) <= wideFailures-1 {
		l.failed.of(network, now).take(now, failures, suspectFor)
	}
	l.wider.of(wider, now).take(now, 2*wideFailures, suspectFor/wideFailures)
}

// ofName returns the bucket of a name, for attempts of a standing. Those that nobody has share
// slots, so that they are limited alike and cannot fill the memory. The caller holds l.mu.
func (l *logins) ofName(from standing, name string, exists bool) *attempts {
	if !exists {
		return &l.slots[from][maphash.String(l.seed, name)%nameSlots]
	}
	names := l.names[from]
	if names == nil {
		names = map[string]*attempts{}
		l.names[from] = names
	}
	if names[name] == nil {
		names[name] = new(attempts)
	}
	return names[name]
}

// remember notes that a name has logged in from an address, and reports whether that was not
// known. The caller holds l.mu.
func (l *logins) remember(key familiarKey, now time.Time) bool {
	if h := l.familiar[key]; h != nil {
		h.used = now
		return false
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
	return true
}
