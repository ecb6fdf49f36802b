package nats

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"go.uber.org/zap"
)

// missed are messages that came faster than they could be delivered, or too late,
// since that was last said. Guarded by Broker.mu.
type missed struct {
	all      int
	byTenant map[string]int // as in subjects
	warned   time.Time
}

const (
	// maxMissed bounds the tenants that are told apart.
	maxMissed = 1000
	// namedMissed is how many of them a log line names.
	namedMissed = 10
	// missedEvery is the time between log lines.
	missedEvery = time.Second
)

// miss counts messages of a tenant that are lost.
func (b *Broker) miss(tenant string, n int) {
	b.receiver.Missed(n)
	b.mu.Lock()
	defer b.mu.Unlock()
	m := &b.missed
	m.all += n
	if m.byTenant == nil {
		m.byTenant = map[string]int{}
	}
	if _, known := m.byTenant[tenant]; known || len(m.byTenant) < maxMissed {
		m.byTenant[tenant] += n
	}
}

// sayMissed logs which tenants lost how many messages, at most once in a while.
func (b *Broker) sayMissed(now time.Time) {
	b.mu.Lock()
	m := b.missed
	if m.all == 0 || now.Sub(m.warned) < missedEvery {
		b.mu.Unlock()
		return
	}
	b.missed = missed{warned: now}
	b.mu.Unlock()

	most := slices.SortedFunc(maps.Keys(m.byTenant), func(x, y string) int {
		return cmp.Or(cmp.Compare(m.byTenant[y], m.byTenant[x]), cmp.Compare(x, y))
	})
	named := map[string]int{}
	for _, tenant := range most[:min(len(most), namedMissed)] {
		named[tenantOf(tenant)] = m.byTenant[tenant]
	}
	b.log.Error("messages of other edges are lost: they come faster than this edge can deliver those of a tenant, or more than 5 s after they were sent",
		zap.Int("messages", m.all), zap.Any("tenants", named))
}
