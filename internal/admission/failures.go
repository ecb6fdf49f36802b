package admission

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/tokenstore"
)

const (
	maxFailures  = 20     // failed authentications a second from one address
	maxAddresses = 16_384 // that are kept count of
)

// FailureLimiter counts failed authentications by address and second, and refuses
// what would fail once there are too many. Whoever has the secret of a token that
// this edge knows is not counted, and never refused by it: many clients may be
// behind one address. An address that is not known is nobody's, and has no count. Safe for
// concurrent use.
type FailureLimiter struct {
	mu     sync.Mutex
	second int64
	counts map[netip.Addr]int
}

// NewFailureLimiter returns one that has counted nothing.
func NewFailureLimiter() *FailureLimiter { return &FailureLimiter{counts: map[netip.Addr]int{}} }

// Authenticate is [tokenstore.Service.Authenticate] of a service for a client at an
// address, or [tokenstore.ErrTooManyFailures]. An address that is not valid is not known.
func (l *FailureLimiter) Authenticate(ctx context.Context, s *tokenstore.Service, token string, ip netip.Addr) (*tokenstore.Access, error) {
	return checkFailureLimit(l, ip,
		func() (*tokenstore.Access, error) { return s.AuthenticateLocal(ctx, token) },
		func() (*tokenstore.Access, error) { return s.Authenticate(ctx, token) })
}

// AuthenticateMaster is [tokenstore.Service.AuthenticateMaster] likewise.
func (l *FailureLimiter) AuthenticateMaster(ctx context.Context, s *tokenstore.Service, token string, ip netip.Addr) (*tokenstore.Master, error) {
	return checkFailureLimit(l, ip,
		func() (*tokenstore.Master, error) { return s.AuthenticateMasterLocal(ctx, token, ip) },
		func() (*tokenstore.Master, error) { return s.AuthenticateMaster(ctx, token, ip) })
}

// checkFailureLimit asks this edge first. Only what fails there is counted, before another
// machine is asked about it.
func checkFailureLimit[T any](l *FailureLimiter, ip netip.Addr, local, all func() (*T, error)) (*T, error) {
	v, err := local()
	if !isFailure(err) {
		return v, err
	}
	if !l.countFailure(ip) {
		if cause := new(tokenstore.UnauthorizedError); errors.As(err, &cause) { // operators are told why
			return nil, fmt.Errorf("%w: %w", tokenstore.ErrTooManyFailures, cause)
		}
		return nil, tokenstore.ErrTooManyFailures
	}
	if v, err = all(); err == nil { // it was issued elsewhere a moment ago
		l.uncountFailure(ip)
	}
	return v, err
}

// isFailure reports whether a token is not valid, as far as is known.
func isFailure(err error) bool {
	return errors.Is(err, tokenstore.ErrBadMasterToken) ||
		errors.Is(err, tokenstore.ErrUnauthorized) && !errors.Is(err, tokenstore.ErrTokenEnded)
}

// countFailure counts a failure, unless there were too many in this second.
func (l *FailureLimiter) countFailure(ip netip.Addr) bool {
	if !ip.IsValid() {
		return true
	}
	ip = pubsub.Network(ip)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.startSecond()
	n, known := l.counts[ip]
	switch {
	case n >= maxFailures:
		return false
	case known || len(l.counts) < maxAddresses:
		l.counts[ip] = n + 1
	}
	return true
}

// uncountFailure takes back a failure that was not one.
func (l *FailureLimiter) uncountFailure(ip netip.Addr) {
	ip = pubsub.Network(ip)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.startSecond()
	if l.counts[ip] > 0 {
		l.counts[ip]--
	}
}

func (l *FailureLimiter) startSecond() {
	if now := time.Now().Unix(); now != l.second {
		l.second = now
		clear(l.counts)
	}
}
