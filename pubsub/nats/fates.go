package nats

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/millrace/millrace/pubsub"
)

// Who publishes a message for one connection may ask what became of it. The edge that takes the
// message, or finds that nobody does, then tells the edge that published it. The question travels
// among the edges that were tried, as three ids that no edge has: askingMark, the inverse of the id
// of the edge that asks, and the number by which it knows the message. So edges of an earlier version
// pass it on, without telling themselves: what one of them took has no answer within pubsub.FateTime,
// and its fate is unknown.
//
// What an edge tells is: version, kindFate, u64 edge, u64 number, u8 fate.

// askingMark stands before the two others.
const askingMark edgeID = math.MaxUint64 - 3

// maxFates bounds the messages whose fate is awaited. Tenants share them, and issuers; see fits. The
// fate of what is beyond is unknown at once.
const maxFates = 16_384

// fates are the messages of this edge whose fate is awaited.
type fates struct {
	patience time.Duration

	mu       sync.Mutex
	newest   uint64 // the number of the last one; the first one is any number
	waiting  map[uint64]awaitedFate
	ofTenant map[string]int
	ofIssuer map[string]int // without the empty one
}

type awaitedFate struct {
	told           func(pubsub.Fate)
	tenant, issuer string
	until          time.Time
}

func (f *fates) init(patience time.Duration) {
	f.patience, f.newest = patience, rand.Uint64()
	f.waiting, f.ofTenant, f.ofIssuer = map[uint64]awaitedFate{}, map[string]int{}, map[string]int{}
}

// add notes that somebody is to be told, and returns the question; nil: there is no room.
func (f *fates) add(asks edgeID, m *pubsub.Message, told func(pubsub.Fate)) []edgeID {
	a := awaitedFate{told, string(m.Tenant), m.Issuer, time.Now().Add(f.patience)}
	f.mu.Lock()
	defer f.mu.Unlock()
	total := len(f.waiting)
	if !fits(1, f.ofTenant[a.tenant], total, maxFates) || a.issuer != "" && !fits(1, f.ofIssuer[a.issuer], total, maxFates) {
		return nil
	}
	f.newest++
	f.waiting[f.newest] = a
	f.count(a, 1)
	return []edgeID{askingMark, ^asks, edgeID(f.newest)}
}

// take removes and returns what waits for the fate of a message. The caller holds f.mu.
func (f *fates) take(number uint64) (a awaitedFate, ok bool) {
	if a, ok = f.waiting[number]; ok {
		delete(f.waiting, number)
		f.count(a, -1)
	}
	return a, ok
}

// count is for those two.
func (f *fates) count(a awaitedFate, n int) {
	if f.ofTenant[a.tenant] += n; f.ofTenant[a.tenant] == 0 {
		delete(f.ofTenant, a.tenant)
	}
	if a.issuer == "" {
		return
	}
	if f.ofIssuer[a.issuer] += n; f.ofIssuer[a.issuer] == 0 {
		delete(f.ofIssuer, a.issuer)
	}
}

// tell tells the fate of a message of a tenant, unless that was done.
func (f *fates) tell(number uint64, tenant []byte, fate pubsub.Fate) {
	f.mu.Lock()
	if f.waiting[number].tenant != string(tenant) {
		f.mu.Unlock()
		return
	}
	a, _ := f.take(number)
	f.mu.Unlock()
	a.told(fate)
}

// expire gives up those that have waited for too long; with the zero time, as the link is lost, all.
func (f *fates) expire(now time.Time) {
	var expired []awaitedFate
	f.mu.Lock()
	for number, a := range f.waiting {
		if now.IsZero() || now.After(a.until) {
			f.take(number)
			expired = append(expired, a)
		}
	}
	f.mu.Unlock()
	for _, a := range expired {
		a.told(pubsub.FateUnknown)
	}
}

// askingOf returns the question among the edges that were tried; nil: nobody asks.
func askingOf(tried []edgeID) []edgeID {
	if i := slices.Index(tried, askingMark); i >= 0 && len(tried) >= i+3 {
		return tried[i : i+3 : i+3]
	}
	return nil
}

// tell tells the edge that has published a message what became of it, if it asks. tried has its
// question.
func (b *Broker) tell(m *pubsub.Message, tried []edgeID, fate pubsub.Fate) {
	asking := askingOf(tried)
	if asking == nil {
		return
	}
	asks, number := ^asking[1], uint64(asking[2])
	if asks == b.id {
		b.fates.tell(number, m.Tenant, fate)
		return
	}
	// Without a link or room the other edge waits in vain, and not for long.
	_ = b.enqueue(m.Tenant, b.ownerOf(m.Tenant), b.channelSubject(direct(asks), m), func(data []byte) []byte {
		return append(binary.BigEndian.AppendUint64(appendControl(data, kindFate, b.id), number), byte(fate))
	})
}

// handleFate takes what another edge reports about a message.
func (b *Broker) handleFate(from sender, m *pubsub.Message, data []byte) error {
	if len(data) != 8+8+1 || pubsub.Fate(data[16]) > pubsub.FateBusy {
		return errNotDirected
	}
	if !from.owns(edgeID(binary.BigEndian.Uint64(data))) {
		return errNotSender
	}
	b.fates.tell(binary.BigEndian.Uint64(data[8:]), m.Tenant, pubsub.Fate(data[16]))
	return nil
}
