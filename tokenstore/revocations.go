package tokenstore

import (
	"context"
	"fmt"
	"sync"
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
	slots chan struct{} // has one element for each token that is being revoked

	mu      sync.Mutex
	masters map[string]*revoker // by id of the master token, those that have calls
}

// A revoker counts what one master token does. Its numbers are guarded by revocations.mu.
type revoker struct {
	running int
	waiting int           // calls of Issue
	slots   chan struct{} // has one element for each token that is being revoked, or waits for its turn
}

func newRevocations() revocations {
	return revocations{slots: make(chan struct{}, maxRevoking), masters: map[string]*revoker{}}
}

// count adds to the counter that which selects, unless that has reached its most; 0: no
// bound. leave must follow where it succeeds.
func (r *revocations) count(m *Master, which func(*revoker) *int, most int) (leave func(), of *revoker, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	of = r.masters[m.ID]
	if of == nil {
		of = &revoker{slots: make(chan struct{}, revokeWorkers)}
	}
	if most > 0 && *which(of) >= most {
		return nil, nil, false
	}
	r.masters[m.ID] = of
	*which(of)++
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if *which(of)--; of.running == 0 && of.waiting == 0 {
			delete(r.masters, m.ID)
		}
	}, of, true
}

// enter admits a call of a master token; leave must follow.
func (r *revocations) enter(m *Master) (leave func(), of *revoker, err error) {
	most := maxRevocations
	if m.ID == "" {
		most = 0
	}
	leave, of, ok := r.count(m, func(of *revoker) *int { return &of.running }, most)
	if !ok {
		return nil, nil, tooManyRevocations(maxRevocations)
	}
	return leave, of, nil
}

func tooManyRevocations(most int) error {
	return fmt.Errorf("%w: at most %d revocations of subjects at the same time", ErrTooManyRequests, most)
}

// wait admits a call of Issue that waits; leave must follow.
func (r *revocations) wait(m *Master) (leave func(), err error) {
	leave, _, ok := r.count(m, func(of *revoker) *int { return &of.waiting }, maxClosingWaits)
	if !ok {
		return nil, ErrSubjectClosing
	}
	return leave, nil
}

// slot waits until a token may be revoked; leave must follow.
func (r *revocations) slot(ctx context.Context, of *revoker) (leave func(), err error) {
	for i, slots := range []chan struct{}{of.slots, r.slots} {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			if i > 0 {
				<-of.slots
			}
			return nil, context.Cause(ctx)
		}
	}
	return func() { <-r.slots; <-of.slots }, nil
}
