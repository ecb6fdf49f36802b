package nats

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub/internal/natssubject"
)

// missed counts messages that came faster than they could be delivered, or too late,
// since the last log line about them. Guarded by Broker.mu.
type missed struct {
	total    int
	byTenant map[string]int // tenants as in subjects
	loggedAt time.Time
}

const (
	// maxMissedTenants bounds the tenants that are counted apart.
	maxMissedTenants = 1000
	// maxLoggedTenants is how many of them a log line names.
	maxLoggedTenants = 10
	// missedLogInterval is the least time between log lines.
	missedLogInterval = time.Second
)

// countMissed counts messages of a tenant that are lost.
func (b *Broker) countMissed(tenant string, n int) {
	b.receiver.Missed(n)
	b.mu.Lock()
	defer b.mu.Unlock()
	m := &b.missed
	m.total += n
	if m.byTenant == nil {
		m.byTenant = map[string]int{}
	}
	if _, known := m.byTenant[tenant]; known || len(m.byTenant) < maxMissedTenants {
		m.byTenant[tenant] += n
	}
}

// logMissed logs which tenants lost how many messages, at most once in
// missedLogInterval.
func (b *Broker) logMissed(now time.Time) {
	b.mu.Lock()
	m := b.missed
	if m.total == 0 || now.Sub(m.loggedAt) < missedLogInterval {
		b.mu.Unlock()
		return
	}
	b.missed = missed{loggedAt: now}
	b.mu.Unlock()

	most := slices.SortedFunc(maps.Keys(m.byTenant), func(x, y string) int {
		return cmp.Or(cmp.Compare(m.byTenant[y], m.byTenant[x]), cmp.Compare(x, y))
	})
	named := map[string]int{}
	for _, tenant := range most[:min(len(most), maxLoggedTenants)] {
		named[natssubject.TenantFromToken(tenant)] = m.byTenant[tenant]
	}
	b.log.Error("messages of other edges are lost: they come faster than this edge can deliver those of a tenant, or more than 5 s after they were sent",
		zap.Int("messages", m.total), zap.Any("tenants", named))
}
