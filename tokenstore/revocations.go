package tokenstore

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/millrace/millrace/internal/turns"
)

// The bounds of what revoking subjects takes on one edge. Each is for one master token, by
// its id; the operators, whose id is empty, count as one.
const (
	// maxRevocations bounds the calls that revoke the tokens of a subject, until their
	// subjects are reopened. It does not hold for operators.
	maxRevocations = 8
	// revokeWorkers bounds the tokens that one call, and all calls of one master token, are
	// revoking at the same time. The calls of all together revoke maxRevoking, so that
	// other calls find the store free: a master token does not take all of these, and has
	// no more waiting in line than any other.
	revokeWorkers = 16
	maxRevoking   = 32
	// maxClosingWaits bounds the calls of Issue that wait for the end of a revocation.
	maxClosingWaits = 1024
)

// revocations bounds what the revocation of subjects takes.
type revocations struct {
	turns turns.Turns   // of tokens that are being revoked, or wait for a slot
	slots chan struct{} // has one element for each token that is being revoked

	mu      sync.Mutex
	running map[string]int // calls by id of the master token
	waiting map[string]int // calls of Issue, likewise
}

func newRevocations() revocations {
	return revocations{slots: make(chan struct{}, maxRevoking), running: map[string]int{}, waiting: map[string]int{}}
}

// count adds a call of a master token to one of the maps, unless it has as many as it may.
// leave must follow where it succeeds.
func (r *revocations) count(calls map[string]int, m *Master, most int) (leave func(), ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if calls[m.ID] >= most {
		return nil, false
	}
	calls[m.ID]++
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if calls[m.ID]--; calls[m.ID] == 0 {
			delete(calls, m.ID)
		}
	}, true
}

// enter admits a call of a master token; leave must follow.
func (r *revocations) enter(m *Master) (leave func(), err error) {
	most := maxRevocations
	if m.ID == "" {
		most = math.MaxInt
	}
	leave, ok := r.count(r.running, m, most)
	if !ok {
		return nil, tooManyRevocations(maxRevocations)
	}
	return leave, nil
}

func tooManyRevocations(most int) error {
	return fmt.Errorf("%w: at most %d revocations of subjects at the same time", ErrTooManyRequests, most)
}

// wait admits a call of Issue that waits; leave must follow.
func (r *revocations) wait(m *Master) (leave func(), err error) {
	leave, ok := r.count(r.waiting, m, maxClosingWaits)
	if !ok {
		return nil, ErrSubjectClosing
	}
	return leave, nil
}

// slot waits until a token may be revoked; leave must follow.
func (r *revocations) slot(ctx context.Context, m *Master) (leave func(), err error) {
	end, err := r.turns.Take(ctx, m.ID, revokeWorkers)
	if err != nil {
		return nil, err
	}
	select {
	case r.slots <- struct{}{}:
		return func() { <-r.slots; end() }, nil
	case <-ctx.Done():
		end()
		return nil, context.Cause(ctx)
	}
}
