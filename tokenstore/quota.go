package tokenstore

import (
	"fmt"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// A Quota bounds what one master token may cost the edges. Zero of each: the
// default of the [Config]; and zero there: no limit.
type Quota struct {
	// MaxTokens is how many access tokens that the master token issued may be in
	// the store: valid ones, and expired or revoked ones until their record goes
	// ([KeepExpired]). Edges that share a store count together.
	MaxTokens int `json:"max_tokens,omitempty"`
	// MaxBytes is how many bytes the records of these tokens may have in total.
	MaxBytes int64 `json:"max_bytes,omitempty"`
	// CallsPerSecond is how many calls a second the master token may make to one
	// edge.
	CallsPerSecond int `json:"calls_per_second,omitempty"`
}

// MaxQuota bounds the numbers of a [Quota].
const MaxQuota = 1 << 40

func (q Quota) check() error {
	for _, field := range []struct {
		path  string
		value int64
	}{
		{"max_tokens", int64(q.MaxTokens)}, {"max_bytes", q.MaxBytes}, {"calls_per_second", int64(q.CallsPerSecond)},
	} {
		if field.value < 0 || field.value > MaxQuota {
			return invalid(field.path, fmt.Sprintf("must be an integer from 0 (the edge's default) to %d", int64(MaxQuota)))
		}
	}
	return nil
}

// withDefaults returns q with each zero replaced by the default.
func (q Quota) withDefaults(defaults Quota) Quota {
	if q.MaxTokens == 0 {
		q.MaxTokens = defaults.MaxTokens
	}
	if q.MaxBytes == 0 {
		q.MaxBytes = defaults.MaxBytes
	}
	if q.CallsPerSecond == 0 {
		q.CallsPerSecond = defaults.CallsPerSecond
	}
	return q
}

// Allow counts a call of a master token. It returns [ErrTooManyRequests] when the
// master token has made all the calls that it may make in a second. They may come in
// one burst.
func (s *Service) Allow(m *Master) error {
	limit := m.withDefaults(s.quota).CallsPerSecond
	if limit == 0 || m.ID == "" {
		return nil
	}
	if !s.calls.allow(m.ID, limit, s.now()) {
		return fmt.Errorf("%w: at most %d a second", ErrTooManyRequests, limit)
	}
	return nil
}

// callLimiter counts calls by master token.
type callLimiter struct {
	mu       sync.Mutex
	limiters map[string]*rate.Limiter
}

// maxCallers bounds the master tokens whose calls are counted. When there are more,
// all counts start again from zero.
const maxCallers = 16_384

func (c *callLimiter) allow(id string, limit int, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.limiters[id]
	if l == nil {
		if c.limiters == nil || len(c.limiters) >= maxCallers {
			c.limiters = map[string]*rate.Limiter{}
		}
		l = rate.NewLimiter(rate.Limit(limit), limit)
		c.limiters[id] = l
	}
	if l.Burst() != limit { // the quota was changed
		l.SetLimitAt(now, rate.Limit(limit))
		l.SetBurstAt(now, limit)
	}
	return l.AllowN(now, 1)
}
