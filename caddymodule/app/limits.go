package app

import (
	"fmt"
	"math"
	"runtime/debug"
	"time"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/tokenstore"
)

func (a *App) provisionLimits() error {
	l := pubsub.DefaultLimits()
	maxCap := tokenstore.DefaultMaxKBPerSec
	l.QueueMemory = 0
	memory := debug.SetMemoryLimit(-1)
	l.Room.Memory = defaultConnectionMemory(memory)
	l.RightMemory = min(l.RightMemory, int(memory/8))
	for _, o := range []struct {
		name     string
		value    int // zero: keep the default
		min, max int
		to       *int
	}{
		{"limits.max_payload (bytes)", a.Limits.MaxPayload, 1, 16 << 20, &l.MaxPayload},
		{"limits.max_subscriptions", a.Limits.MaxSubscriptions, 1, 65535, &l.MaxSubscriptions},
		{"limits.max_pattern_shapes", a.Limits.MaxPatternShapes, 1, 65535, &l.MaxPatternShapes},
		{"limits.max_pattern_shapes_per_tenant", a.Limits.MaxPatternShapesPerTenant, 1, 1 << 30, &l.MaxPatternShapesPerTenant},
		{"limits.max_patterns_per_tenant", a.Limits.MaxPatternsPerTenant, 1, 1 << 30, &l.MaxPatternsPerTenant},
		{"limits.max_patterns_per_token", a.Limits.MaxPatternsPerToken, 1, 1 << 30, &l.MaxPatternsPerToken},
		{"limits.tenant_share (percent)", a.Limits.TenantShare, 1, 100, &l.TenantShare},
		{"limits.issuer_share (percent)", a.Limits.IssuerShare, 1, 100, &l.IssuerShare},
		{"limits.max_connections_per_token", a.Limits.MaxConnectionsPerToken, 0, 1 << 30, &l.MaxConnectionsPerToken},
		{"limits.max_connections_per_tenant", a.Limits.MaxConnectionsPerTenant, 0, 1 << 30, &l.MaxConnectionsPerTenant},
		{"limits.max_connections_per_address", a.Limits.MaxConnectionsPerAddress, 0, 1 << 30, &l.MaxConnectionsPerAddress},
		{"limits.max_connections_per_subject", a.Limits.MaxConnectionsPerSubject, 0, 1 << 30, &l.MaxConnectionsPerSubject},
		{"limits.send_queue (bytes)", a.Limits.SendQueue, 1, 1 << 30, &l.SendQueue},
		{"limits.queue_memory (bytes)", a.Limits.QueueMemory, 1, 1 << 40, &l.QueueMemory},
		{"limits.right_memory (bytes)", a.Limits.RightMemory, 1 << 20, 1 << 40, &l.RightMemory},
		{"limits.connection_memory (bytes)", a.Limits.ConnectionMemory, 1 << 20, 1 << 40, &l.Room.Memory},
		{"metrics.tenants", a.Metrics.Tenants, 1, 1000, &l.MetricTenants},
		{"bandwidth.max (KB/s)", a.Bandwidth.Max, 1, 1 << 30, &maxCap},
		{"bandwidth.default_ingress (KB/s)", a.Bandwidth.DefaultIngress, 1, 1 << 30, &l.DefaultIngressKB},
		{"bandwidth.default_egress (KB/s)", a.Bandwidth.DefaultEgress, 1, 1 << 30, &l.DefaultEgressKB},
		{"bandwidth.token_ingress (KB/s)", a.Bandwidth.TokenIngress, 1, 1 << 30, &l.TokenIngressKB},
		{"bandwidth.token_egress (KB/s)", a.Bandwidth.TokenEgress, 1, 1 << 30, &l.TokenEgressKB},
		{"bandwidth.tenant_ingress (KB/s)", a.Bandwidth.TenantIngress, 1, 1 << 30, &l.TenantIngressKB},
		{"bandwidth.tenant_egress (KB/s)", a.Bandwidth.TenantEgress, 1, 1 << 30, &l.TenantEgressKB},
	} {
		if o.value == 0 {
			continue
		}
		if o.value < o.min || o.value > o.max {
			return fmt.Errorf("%s: must be from %d to %d", o.name, o.min, o.max)
		}
		*o.to = o.value
	}
	if n := a.Limits.MaxConnections; n != nil {
		if *n < 0 {
			return fmt.Errorf("limits.max_connections: must be 0 (no limit) or more")
		}
		l.MaxConnections = *n
	}
	if n := a.Limits.MaxPatterns; n != nil {
		if *n < 0 {
			return fmt.Errorf("limits.max_patterns: must be 0 (no limit) or more")
		}
		l.MaxPatterns = *n
	}
	if err := checkPatterns(&l); err != nil {
		return err
	}
	if floor := l.LargestFrame(); l.SendQueue < floor {
		return fmt.Errorf("limits.send_queue: must hold the largest frame, which has %d bytes with this max_payload and max_subscriptions", floor)
	}
	if l.QueueMemory == 0 {
		l.QueueMemory = defaultQueueMemory(memory, l.SendQueue)
	}
	if l.QueueMemory < 2*l.SendQueue {
		return fmt.Errorf("limits.queue_memory: must be at least twice send_queue, which is %d bytes", l.SendQueue)
	}
	a.Bandwidth.Max = maxCap
	if l.DefaultIngressKB > maxCap || l.DefaultEgressKB > maxCap {
		return fmt.Errorf("bandwidth: the defaults must not be above max, which is %d KB/s", maxCap)
	}
	if drain := time.Duration(a.Drain); drain != 0 {
		if drain < pubsub.MinDrain || drain > time.Hour {
			return fmt.Errorf("drain: must be from %v to %v", pubsub.MinDrain, time.Hour)
		}
		l.Drain = drain
	}
	switch a.SlowConsumer {
	case "", "drop":
	case "disconnect":
		l.Slow = pubsub.SlowDisconnect
	default:
		return fmt.Errorf("slow_consumer: must be drop or disconnect")
	}
	a.files = shareFiles(openFiles(), l.MaxConnections)
	l.Room.Files = a.files.sessions
	a.limits = l
	return nil
}

// checkPatterns refuses limits that the hub would cut to half of max_patterns.
func checkPatterns(l *pubsub.Limits) error {
	half := (l.MaxPatterns + 1) / 2
	for name, value := range map[string]int{
		"max_patterns_per_tenant": l.MaxPatternsPerTenant, "max_patterns_per_token": l.MaxPatternsPerToken,
	} {
		if l.MaxPatterns > 0 && value > half {
			return fmt.Errorf("limits.%s: is %d, and may be at most half of max_patterns, which is %d: lower it to %d, or set max_patterns to %d",
				name, value, l.MaxPatterns, half, 2*value)
		}
	}
	return nil
}

// defaultQueueMemory is what queues may hold where the Go runtime has a limit of
// its memory; math.MaxInt64: it has none.
func defaultQueueMemory(limit int64, sendQueue int) int {
	memory := pubsub.DefaultLimits().QueueMemory
	if limit < math.MaxInt64 {
		memory = int(limit / 4)
	}
	return max(memory, 2*sendQueue)
}
