package tokenstore

import (
	"context"
	"fmt"
	"sync"
)

const (
	// maxRevocations bounds the calls of one master token that revoke the tokens of a
	// subject, on one edge at the same time.
	maxRevocations = 8
	// maxRevoking bounds the tokens that all these calls are revoking at the same time, so
	// that other calls find the store free.
	maxRevoking = 32
	// revokeWorkers is how many tokens one call revokes at the same time.
	revokeWorkers = 16
	// maxClosingWaits bounds the calls of Issue that wait for the end of a revocation.
	maxClosingWaits = 1024
)

// revocations bounds what the revocation of subjects takes.
type revocations struct {
	slots chan struct{} // has one element for each token that is being revoked

	mu      sync.Mutex
	running map[string]int // calls by id of the master token
	waiting int            // calls of Issue
}

func newRevocations() revocations { return revocations{slots: make(chan struct{}, maxRevoking)} }

// enter admits a call of a master token; leave must follow.
func (r *revocations) enter(m *Master) (leave func(), err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m.ID != "" && r.running[m.ID] >= maxRevocations {
		return nil, fmt.Errorf("%w: at most %d revocations of subjects at the same time", ErrTooManyRequests, maxRevocations)
	}
	if r.running == nil {
		r.running = map[string]int{}
	}
	r.running[m.ID]++
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.running[m.ID]--; r.running[m.ID] == 0 {
			delete(r.running, m.ID)
		}
	}, nil
}

// wait admits a call of Issue that waits; leave must follow.
func (r *revocations) wait() (leave func(), err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting >= maxClosingWaits {
		return nil, ErrSubjectClosing
	}
	r.waiting++
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.waiting--
	}, nil
}

// slot waits until a token may be revoked; leave must follow.
func (r *revocations) slot(ctx context.Context) (leave func(), err error) {
	select {
	case r.slots <- struct{}{}:
		return func() { <-r.slots }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
