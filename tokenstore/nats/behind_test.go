package nats

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/zap"

	"github.com/millrace/millrace/internal/outage"
	"github.com/millrace/millrace/tokenstore"
)

// A leader that has less than was acknowledged is waited for. What it has then is the bucket of
// the copy if it has the same.
func TestLeaderBehind(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		then     string // what the leader has after that: records and their values; "-": deleted
		replaced bool
	}{
		"what it had":              {"x=1 z=1", false},
		"and then a change":        {"x=1 z=1 x=2 z=2", false},
		"and then no more":         {"x=1 z=1 x=-", false},
		"nothing":                  {"", true},
		"half of it":               {"x=1", true},
		"another record":           {"y=1 x=1 z=1", true},
		"another record, replaced": {"y=1 y=2 y=3", true},
		"another value":            {"x=2 z=1", true},
		"no value":                 {"x=1 x=- z=1", true},
		"a change of before":       {"before=2 z=1", true},
		"a change that is missing": {"x=1 x=2 z=1", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, other, _ := openTwo(t)
			before := create(t, other, record("before", "x"))
			await(t, "the record to be here", func() bool { return has(t, s, before) })
			s.stop()
			s.running.Wait()
			state, err := s.bucketState(t.Context())
			must(t, err)
			applied := before.Version
			for _, id := range []string{"x", "z"} { // only the copy knows these
				applied++
				rec := record(id, "1")
				rec.Version = applied
				s.mirror.put(rec, 0)
			}
			p := &progress{copyState: copyState{created: state.created, applied: applied, complete: true}}
			confirmed := s.freshness.lastConfirmed()
			if _, err := s.confirmIfCurrent(p, probe{bucketState: state, applied: applied, sentAt: time.Now()}); !errors.Is(err, errBehind) {
				t.Errorf("a leader that is behind: %v", err)
			}
			records := map[string]tokenstore.Record{"before": before}
			for what := range strings.FieldsSeq(c.then) {
				id, value, _ := strings.Cut(what, "=")
				rec, known := records[id]
				switch {
				case !known:
					records[id] = create(t, other, record(id, value))
				case value == "-":
					remove(t, other, rec)
				default:
					records[id] = update(t, other, rec, value)
				}
			}
			state, err = s.bucketState(t.Context())
			must(t, err)
			if current, err := s.confirmIfCurrent(p, probe{bucketState: state, applied: applied, sentAt: time.Now()}); current || err != nil || s.freshness.lastConfirmed() != confirmed {
				t.Errorf("the copy is confirmed before it is compared: %v", err)
			}
			s.config.callTimeout = time.Second
			replaced := false
			await(t, "an answer", func() bool { // which a busy machine does not give in time
				_, replaced, err = s.recognize(t.Context(), p)
				return err == nil
			})
			if replaced != c.replaced || p.doubted != c.replaced {
				t.Errorf("replaced: %v, want %v; doubted: %v", replaced, c.replaced, p.doubted)
			}
		})
	}
}

// What a probe says of the copy.
func TestProbeAnswers(t *testing.T) {
	made := time.Now()
	for _, c := range []struct {
		b       bucketState
		sent    uint64 // applied when the probe was sent
		err     error
		current bool
		want    error
	}{
		{bucketState{created: made, lastRevision: 7}, 7, nil, true, nil},
		{bucketState{created: made, lastRevision: 8}, 7, nil, false, nil},
		{bucketState{created: made, lastRevision: 6}, 5, nil, true, nil}, // more was written while it was under way
		{bucketState{created: made, lastRevision: 6}, 7, nil, false, errBehind},
		{bucketState{created: made.Add(1), lastRevision: 9}, 7, nil, false, errBucketReplaced},
		{bucketState{created: made.UTC().Round(0), lastRevision: 7}, 7, nil, true, nil},
		{bucketState{}, 7, errNoLeader, false, nil},
		{bucketState{}, 7, jetstream.ErrStreamNotFound, false, jetstream.ErrStreamNotFound},
	} {
		s := &Store{lookups: newLookups(), mirror: newMirror(), faults: outage.New(zap.NewNop(), 0)}
		s.freshness.start(time.Hour, time.Hour)
		p := &progress{copyState: copyState{created: made, applied: 7, complete: true}}
		current, err := s.confirmIfCurrent(p, probe{bucketState: c.b, applied: c.sent, sentAt: made, err: c.err})
		if current != c.current || !errors.Is(err, c.want) || s.freshness.loaded() != c.current {
			t.Errorf("%+v, %v: %v, %v; confirmed: %v", c.b, c.err, current, err, s.freshness.loaded())
		}
		s.freshness.stop()
	}
}

// What servers answer about the bucket counts if it comes from a leader that a majority follows.
func TestStateOfLeader(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		want   error
	}{
		"one server":       {`"state":{"last_seq":7}`, nil},
		"leader":           {`"state":{"last_seq":7},"cluster":{"leader":"a","replicas":[{"active":2000000000},{"active":60000000000}]}`, nil},
		"new leader":       {`"state":{"last_seq":7},"cluster":{"leader":"a","replicas":[{"active":0},{"active":0}]}`, nil},
		"it stood still":   {`"state":{"last_seq":7},"cluster":{"leader":"resumed","replicas":[{"active":0},{"active":1}]}`, errNoLeader},
		"no leader":        {`"cluster":{"replicas":[{"active":1},{"active":1}]}`, errNoLeader},
		"leader of before": {`"cluster":{"leader":"a","replicas":[{"active":15000000000},{"active":15000000000}]}`, errNoLeader},
		"not available":    {`"error":{"code":503,"err_code":10008}`, errNoLeader},
		"all servers away": {`"error":{"code":500,"err_code":10118}`, errNoLeader},
		"no bucket":        {`"error":{"code":404,"err_code":10059}`, jetstream.ErrStreamNotFound},
		"half of them":     {`"cluster":{"leader":"a","replicas":[{"active":1},{"active":9000000000},{"active":9000000000}]}`, errNoLeader},
	} {
		b, err := parseState([]byte("{"+c.answer+"}"), func(leader string) time.Duration {
			if leader == "resumed" {
				return -1
			}
			return maxUnheard
		})
		if !errors.Is(err, c.want) || err == nil && b.lastRevision != 7 {
			t.Errorf("%s: %+v, %v, want %v", name, b, err, c.want)
		}
	}
}
