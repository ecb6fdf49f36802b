package nats

import (
	"cmp"
	"context"
	"time"

	"go.uber.org/zap"
)

// What the prober does beside probes: it looks after holds, asks other edges when the leader
// proves nothing, and says so in the log.
const (
	// unconfirmedGrace is how long the copy may lack a proof before the log says so, and
	// unconfirmedLog how often it does after that.
	unconfirmedGrace = 3 * time.Second
	unconfirmedLog   = time.Minute
)

// run runs what waits for the leader, and passes on how it ended.
func (p *prober) run(ctx context.Context, ended chan<- error, do func() error) {
	p.store.running.Go(func() {
		err := do()
		select {
		case ended <- err:
		case <-ctx.Done():
		}
	})
}

// chase asks the leader about what is held, and other edges about what this one may have
// missed if the copy is not confirmed.
func (p *prober) chase(ctx context.Context) {
	s := p.store
	held, overdue := s.mirror.held()
	for _, key := range overdue {
		s.doubt(key)
	}
	if len(held) > 0 && !p.resolving {
		p.resolving = true
		p.run(ctx, p.resolved, func() error { return s.resolveHolds(ctx, held) })
	}
	if s.freshness.loaded() && elapsed(s.freshness.lastConfirmed(), time.Now()) > sureFor {
		after := p.progress.snapshot().applied
		s.notify(notice{After: &after})
	}
}

// note notes why the copy was not confirmed.
func (p *prober) note(err error) {
	if err != nil {
		p.lastError = err
	}
}

// logUnconfirmed logs that the copy has not been confirmed for long, and why, and that it is again.
func (p *prober) logUnconfirmed(now time.Time) {
	s := p.store
	age := elapsed(s.freshness.lastConfirmed(), now)
	switch {
	case !s.freshness.loaded():
	case age <= unconfirmedGrace:
		if !p.loggedAt.IsZero() {
			s.log.Info("the bucket's leader confirms the tokens again")
		}
		p.loggedAt, p.lastError = time.Time{}, nil
	case p.loggedAt.IsZero() || now.Sub(p.loggedAt) >= unconfirmedLog:
		p.loggedAt = now
		s.log.Warn("the bucket's leader does not confirm the tokens: revocations may be unknown here",
			zap.Duration("for", age), zap.Duration("used_for_at_most", s.config.MaxStale), zap.NamedError("last_error", cmp.Or(p.lastError, errUnanswered)))
	}
}

// logStandstill notes that the process runs, and logs now and then that it had stood still.
func (p *prober) logStandstill(now time.Time) {
	f := &p.store.freshness
	f.pulse(now)
	if pause := f.takeStandstill(); pause > 0 && now.Sub(p.stoodLogAt) >= 10*time.Second {
		p.stoodLogAt = now
		p.store.log.Warn("this process stood still: nobody is let in until the bucket's leader has answered",
			zap.Duration("for", pause), zap.Duration("waits_at_most", resumeGrace))
	}
}
