package nats

import "time"

// How far the copy may be believed. Four times a second a probe confirms it, so one that was
// not confirmed for a second lacks a proof. If the leader is out of reach, the copy is used
// all the same, until Config.MaxStale: clients are let in while the network is broken. But if
// the leader answers, it is asked about each token. And a process that stood still, because it
// was stopped or its machine was suspended, knows nothing of what was revoked meanwhile: it
// lets nobody in until the leader has answered, unless that takes too long.
type certainty uint8

const (
	sure    certainty = iota
	behind            // the leader answers, and the copy is behind it
	resumed           // the process stood still, and the leader has not answered since
)

const (
	// sureFor is for how long a confirmation proves enough.
	sureFor = time.Second
	// maxPause is for how long the process may not run without having stood still. What comes
	// meanwhile waits for it: others close its connections, or elect a leader, after 4 s.
	maxPause = 2 * time.Second
	// resumeGrace is how long an edge that stood still waits for the leader: an election takes
	// 4 to 9 s. After that, it is like any other edge that cannot reach the leader.
	resumeGrace = 10 * time.Second
)

// elapsed is the time between two times by the clock that shows more: one of them stops with
// the machine, and the other one can be set.
func elapsed(from, to time.Time) time.Duration {
	return max(to.Sub(from), to.Round(0).Sub(from.Round(0)))
}

// certainty returns how far the copy may be believed now.
func (f *freshness) certainty(now time.Time) certainty {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pulseLocked(now)
	switch {
	case f.resumedAt.After(f.confirmedAt) && elapsed(f.resumedAt, now) < resumeGrace:
		return resumed
	case elapsed(f.confirmedAt, now) > sureFor && elapsed(f.answeredAt, now) < sureFor:
		return behind
	}
	return sure
}

// pulse notes that the process runs. Whatever calls it first after a standstill notices it.
func (f *freshness) pulse(now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.pulseAt.IsZero() {
		f.pulseAt = now
	}
	f.pulseLocked(now)
}

// pulseLocked is pulse for a caller that holds f.mu.
func (f *freshness) pulseLocked(now time.Time) {
	if f.pulseAt.IsZero() {
		return
	}
	if pause := elapsed(f.pulseAt, now); pause > maxPause {
		f.resumedAt, f.stoodStill = now, pause
	}
	f.pulseAt = now
}

// endPulse ends what pulse has begun.
func (f *freshness) endPulse() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pulseAt = time.Time{}
}

// sinceResumed is for how long the process has run without standing still; long, if it never did.
func (f *freshness) sinceResumed(now time.Time) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return elapsed(f.resumedAt, now)
}

// takeStandstill returns for how long the process stood still, once; 0: it did not.
func (f *freshness) takeStandstill() (pause time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	pause, f.stoodStill = f.stoodStill, 0
	return pause
}

// answered notes that the leader has answered, whether or not the copy has what it has.
func (f *freshness) answered(at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answeredAt = at
}
