package tokenstore

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// revokeMargin is how long after its end a token is still revoked: an edge whose clock
	// is behind may refresh it just now.
	revokeMargin = time.Minute
	// maxRestarts bounds how often a revocation starts over that others took for dead.
	maxRestarts = 3
	// reopenTimeout bounds the end of a closing.
	reopenTimeout = 5 * time.Second
	// maxAnswer bounds how long a subject stays closed while its revocation is answered:
	// nobody waits longer for a caller who does not take the answer.
	maxAnswer = time.Second
)

// errTakenForDead ends a revocation whose closing others have ended.
var errTakenForDead = errors.New("tokenstore: another edge timed the revocation out")

// RevokeByID ends the token with this id for good. Revoking a token that is revoked or
// expired already succeeds. It returns an [*InvalidError] for what is no id, and
// [ErrUnknownToken] for one of no token, and for a token that m does not manage.
func (s *Service) RevokeByID(ctx context.Context, m *Master, tokenID string) error {
	ctx = WithPayer(ctx, m.issuer())
	if !IsID(tokenID) {
		return errTokenID("token_id")
	}
	_, err := s.revoke(ctx, tokenID, func(r *accessRecord) bool {
		return manages(m.TenantPrefix, &r.Right)
	})
	return err
}

// RevokeSubject ends all tokens of a subject that m manages, for good, and returns how many
// of these were valid. Tokens whose [Service.Issue] returns while it runs, on any Service of
// the store, are among them. With an error, which it returns together with what it has done
// so far, tokens may be left: call it again. It returns an [*InvalidError] for what is no
// subject, and [ErrTooManyRequests] if m has too many such calls under way.
func (s *Service) RevokeSubject(ctx context.Context, m *Master, subject string) (n int, err error) {
	n, reopen, err := s.RevokeAndClose(ctx, m, subject)
	reopen()
	return n, err
}

// RevokeAndClose is RevokeSubject for a caller who answers another: until it calls reopen,
// which it does in any case once it has answered, no token of the subject is issued that m
// would manage. So no token that was issued before the answer was given is left. The subject
// is reopened after a second in any case, and before RevokeAndClose returns an error.
func (s *Service) RevokeAndClose(ctx context.Context, m *Master, subject string) (n int, reopen func(), err error) {
	ctx = WithPayer(ctx, m.issuer())
	if err := checkSubject(subject); err != nil {
		return 0, func() {}, err
	}
	leave, err := s.revocations.enter(m)
	if err != nil {
		return 0, func() {}, err
	}
	c := &closer{service: s, master: m, subject: subject, id: closingID(subject)}
	for range maxRestarts {
		var revoked int
		revoked, err = c.run(ctx)
		n += revoked
		if !errors.Is(err, errTakenForDead) {
			break
		}
	}
	if errors.Is(err, errTakenForDead) {
		err = ErrUnavailable
	}
	if err != nil {
		c.end(ctx)
		leave()
		return n, func() {}, err
	}
	answered, reopened := make(chan struct{}), make(chan struct{})
	go func() { // ends with reopen, which waits for it, or after maxAnswer
		defer close(reopened)
		timer := time.NewTimer(maxAnswer)
		defer timer.Stop()
		select {
		case <-answered:
		case <-timer.C:
		}
		c.end(ctx)
		leave()
	}()
	return n, sync.OnceFunc(func() {
		close(answered)
		<-reopened
	}), nil
}

// A closer revokes the tokens of a subject, which is closed meanwhile.
type closer struct {
	service *Service
	master  *Master
	subject string
	id      string // of the closingRecord

	call string // of the closing
}

// open adds the closing of a new call. While the master token has as many as it may, it
// waits, and ends those whose edges have died.
func (c *closer) open(ctx context.Context) error {
	s := c.service
	c.call = randomHex()
	add := func() error {
		return s.updateClosing(ctx, c.id, func(r *closingRecord) error {
			return r.add(closing{Call: c.call, Master: c.master.ID, Prefix: c.master.TenantPrefix})
		})
	}
	full := func(err error) bool {
		return errors.Is(err, ErrTooManyRequests) || errors.Is(err, ErrSubjectClosing)
	}
	refused := add()
	if !full(refused) {
		return refused
	}
	waiting, done := context.WithTimeout(ctx, issueTimeout)
	defer done()
	err := s.followClosing(waiting, c.id, func(*closingRecord) (bool, error) {
		err := add()
		if full(err) {
			refused = err
			return false, nil
		}
		return err == nil, err
	})
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return refused
	}
	return err
}

// end removes the closing of the call.
func (c *closer) end(ctx context.Context) {
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), reopenTimeout)
	defer done()
	// If this fails, others end the closing, since it gives no beat any more.
	_ = c.service.updateClosing(ctx, c.id, func(r *closingRecord) error { return r.remove(c.call) })
}

// run closes the subject and revokes its tokens. It returns errTakenForDead if others have
// ended the closing meanwhile.
func (c *closer) run(ctx context.Context) (revoked int, err error) {
	if err := c.open(ctx); err != nil {
		return 0, err
	}
	running, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var beating sync.WaitGroup
	beating.Go(func() { // ends with running
		for ticker := time.NewTicker(closingBeat); ; {
			select {
			case <-ticker.C:
				if err := c.giveBeat(running); errors.Is(err, errTakenForDead) {
					cancel(err)
				}
			case <-running.Done():
				ticker.Stop()
				return
			}
		}
	})
	revoked, err = c.revokeAll(running)
	if cause := context.Cause(running); errors.Is(cause, errTakenForDead) {
		err = cause
	}
	cancel(nil)
	beating.Wait()
	if err == nil { // the last beat: the subject has been closed all the time
		err = c.giveBeat(ctx)
	}
	return revoked, err
}

// giveBeat says that the call still runs. It returns errTakenForDead if others have ended
// its closing.
func (c *closer) giveBeat(ctx context.Context) error {
	return c.service.updateClosing(ctx, c.id, func(r *closingRecord) error {
		at := r.find(c.call)
		if at < 0 {
			return errTakenForDead
		}
		r.Closings[at].Beat++
		return nil
	})
}

// revokeAll revokes the tokens of the subject that the store has.
func (c *closer) revokeAll(ctx context.Context) (revoked int, err error) {
	s := c.service
	if r, ok := s.store.(Replica); ok { // to see those that another edge issued a moment ago
		if err := r.CatchUp(ctx); err != nil {
			return 0, err
		}
	}
	if err := checkReadable(s.store); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var n atomic.Int64
	ids := make(chan string)
	var workers sync.WaitGroup
	for range revokeWorkers {
		workers.Go(func() { // ends with ids
			for id := range ids {
				valid, err := c.revoke(ctx, id)
				if err != nil {
					cancel(err)
				} else if valid {
					n.Add(1)
				}
			}
		})
	}
	err = c.find(ctx, func(id string) bool {
		select {
		case ids <- id:
			return true
		case <-ctx.Done():
			return false
		}
	})
	close(ids)
	workers.Wait()
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return int(n.Load()), err
}

// find calls fn with the ids of the tokens of the subject, and of some others where there
// is no index, until fn returns false.
func (c *closer) find(ctx context.Context, fn func(id string) bool) error {
	s := c.service
	if s.index == nil {
		var ids []string
		search := ListOptions{Subject: c.subject}
		err := s.store.Scan(ctx, KindAccess, "", func(rec Record) bool {
			if search.mayMatch(rec.Value, time.Time{}) {
				ids = append(ids, rec.ID)
			}
			return true
		})
		if err != nil {
			return err
		}
		for _, id := range ids {
			if !fn(id) {
				break
			}
		}
		return nil
	}
	for after := ""; ; {
		ids, err := s.index.page(ctx, c.master.TenantPrefix, c.subject, after, indexBatch)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if !fn(id) {
				return nil
			}
		}
		if len(ids) < indexBatch {
			return nil
		}
		after = ids[len(ids)-1]
	}
}

// revoke revokes one token, unless it is not of those that are to be revoked. It reports
// whether it revoked a valid one.
func (c *closer) revoke(ctx context.Context, id string) (valid bool, err error) {
	s := c.service
	leave, err := s.revocations.slot(ctx, c.master)
	if err != nil {
		return false, err
	}
	defer leave()
	err = s.updateAccess(ctx, id, func(r *accessRecord) error {
		now := s.now()
		valid = false
		if r.Subject != c.subject || !manages(c.master.TenantPrefix, &r.Right) ||
			r.RevokedAt != nil || !now.Before(r.ExpiresAt.Add(revokeMargin)) {
			return errUnchanged
		}
		valid = now.Before(r.ExpiresAt)
		r.RevokedAt = new(s.nowSeconds())
		return nil
	})
	if errors.Is(err, ErrUnknownToken) { // its Issue has removed it, or the store
		return false, nil
	}
	return valid && err == nil, err
}
