package nats

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/tokenstore"
)

// A copy that lacks a proof is doubted while the leader answers, and after a standstill for as
// long as an election takes.
func TestCertainty(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f freshness
		f.start(time.Hour, time.Second)
		defer f.stop()
		live := func(d time.Duration) { // as the probe loop does
			for end := time.Now().Add(d); time.Now().Before(end); f.pulse(time.Now()) {
				time.Sleep(probeInterval)
			}
		}
		want := func(what string, want certainty) {
			t.Helper()
			same(t, what, f.certainty(time.Now()), want)
		}
		f.pulse(time.Now())
		f.confirm(time.Now())
		live(sureFor)
		want("a second without a proof", sure)
		live(sureFor)
		want("a leader that is out of reach", sure)
		f.answered(time.Now())
		want("a leader that answers", behind)
		f.confirm(time.Now())
		want("a proof", sure)

		asked := time.Now()
		time.Sleep(maxPause + 1)
		want("a standstill", resumed)
		f.confirm(asked)
		live(probeInterval)
		want("a proof from before it", resumed)
		same(t, "for how long it stood still", f.takeStandstill(), maxPause+1)
		same(t, "how often that is told", f.takeStandstill(), 0)
		f.confirm(time.Now())
		want("a proof after it", sure)
		time.Sleep(maxPause + 1)
		f.pulse(time.Now())
		live(resumeGrace)
		want("no leader for long", sure)

		f.endPulse()
		time.Sleep(time.Hour)
		want("a store that is closed", sure)
	})
}

// A machine that was suspended has stood still by the time of day alone.
func TestElapsed(t *testing.T) {
	now := time.Now()
	for _, to := range []time.Time{now.Add(time.Minute), now.Round(0).Add(time.Minute)} {
		same(t, "the time between", elapsed(now, to), time.Minute)
	}
}

// After a standstill nobody is let in before the leader has answered.
func TestStandstill(t *testing.T) {
	t.Parallel()
	link := natstest.StartProxy(t, natstest.Server(t))
	s := openReady(t, link.Connect(), patient)
	rec := create(t, s, record("a", "x"))
	link.Hold()
	s.freshness.mu.Lock()
	s.freshness.pulseAt = time.Now().Add(-2 * maxPause)
	s.freshness.mu.Unlock()
	same(t, "certainty", s.freshness.certainty(time.Now()), resumed)
	own, others := s.maxUnheard(s.conn.ConnectedServerName()), s.maxUnheard("another")
	if own >= maxUnheard || others != maxUnheard {
		t.Errorf("servers may not have heard of others for %v and %v", own, others)
	}
	_, err := s.Get(t.Context(), access, "a")
	wantErr(t, "Get", err, tokenstore.ErrUnavailable)
	wantErr(t, "Usable", s.Usable(), errStoodStill)
	awaitLog(t, s, "this process stood still")
	link.Resume()
	await(t, "the record", func() bool { return has(t, s, rec) })
	await(t, "the store to be usable", func() bool { return s.Usable() == nil })
}

// A copy that does not come to what the leader has is not believed: the leader is asked about
// each record, and not again for a moment.
func TestBehind(t *testing.T) {
	t.Parallel()
	s, other, connect := openTwo(t)
	rec := create(t, other, record("a", "one"))
	await(t, "the record to be here", func() bool { return has(t, s, rec) })
	s.stop()
	s.running.Wait()
	asked := requests(t, s, connect, s.apiSubject("STREAM.MSG.GET.>"))
	rec = update(t, other, rec, "two")
	s.freshness.mu.Lock()
	s.freshness.confirmedAt, s.freshness.answeredAt = time.Now().Add(-time.Minute), time.Now().Add(time.Minute)
	s.freshness.mu.Unlock()
	begin := time.Now()
	for range 3 {
		wantRecord(t, s, rec)
	}
	took := time.Since(begin) // on a busy machine, more than a moment
	if n := asked(); n == 0 || n > 1+int64(took/checkedFor) {
		t.Errorf("the leader was asked %d times in %v", n, took)
	}
}
