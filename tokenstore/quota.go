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
	// MaxTokens is how many access tokens may be in the store that the master
	// token has issued: valid ones, and those that have ended, until their record
	// goes ([KeepExpired]). Edges that share a store count together.
	MaxTokens int `json:"max_tokens,omitempty"`
	// MaxBytes is how many bytes their records may have in all.
	MaxBytes int64 `json:"max_bytes,omitempty"`
	// CallsPerSecond is how many calls the master token may make in a second, to
	// one edge.
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

// or returns q with the defaults in the place of zeros.
func (q Quota) or(defaults Quota) Quota {
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

// Allow counts a call of a master token. It returns [ErrTooManyRequests] when that
// has made as many in a second as it may. A second's worth may come at once.
func (s *Service) Allow(m *Master) error {
	limit := m.or(s.quota).CallsPerSecond
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

// maxCallers bounds the master tokens whose calls are counted. Beyond it all are
// counted anew.
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
