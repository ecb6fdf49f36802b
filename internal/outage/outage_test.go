package outage

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

// world is a Log in virtual time, and what it has written.
type world struct {
	*Log
	t    *testing.T
	logs *observer.ObservedLogs
}

func inTime(t *testing.T, silence time.Duration, do func(world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zap.InfoLevel)
		l := New(zap.New(core), silence)
		defer l.Close()
		do(world{l, t, logs})
	})
}

func (w world) note(key, kind string) {
	w.Note(key, kind, Line{Level: zap.ErrorLevel, Message: "down", Over: "up", Fields: []zap.Field{zap.String("kind", kind)}})
}

// want requires what was written since the last call.
func (w world) want(lines ...string) {
	w.t.Helper()
	var got []string
	for _, e := range w.logs.TakeAll() {
		fields := e.ContextMap()
		got = append(got, fmt.Sprint(e.Message, " ", fields["kind"], " ", fields["times"]))
	}
	if fmt.Sprint(got) != fmt.Sprint(lines) {
		w.t.Errorf("got lines %q, want %q", got, lines)
	}
}

// A fault that lasts has a line when it begins, one a minute with a count, and one at its end.
func TestLasts(t *testing.T) {
	inTime(t, 0, func(w world) {
		for range 4 * 150 { // two and a half minutes
			w.note("peer", "refused")
			time.Sleep(time.Second / 4)
		}
		w.want("down refused <nil>", "down refused 241", "down refused 481")
		if line, since, lasts := w.Latest(); !lasts || line.Message != "down" || time.Since(since) != 150*time.Second {
			t.Errorf("the latest is %v since %v", line, since)
		}
		w.End("peer")
		w.want("up refused 600")
		w.End("peer")
		w.want()
		if line, _, lasts := w.Latest(); lasts {
			t.Errorf("%v goes on", line)
		}
	})
}

// Another reason has a line at once, but not with each change.
func TestKinds(t *testing.T) {
	inTime(t, 0, func(w world) {
		for range 50 {
			w.note("peer", "refused")
			w.note("peer", "login")
			time.Sleep(time.Second)
		}
		w.want("down refused <nil>", "down login 2")
	})
}

// A fault that comes and goes has some lines a minute, and its end none without its begin.
func TestFlaps(t *testing.T) {
	inTime(t, 0, func(w world) {
		for range 20 {
			w.note("peer", "refused")
			w.End("peer")
			time.Sleep(time.Second)
		}
		w.want("down refused <nil>", "up refused 1", "down refused <nil>", "up refused 1", "down refused <nil>", "up refused 1")
		time.Sleep(Interval)
		w.note("peer", "refused")
		w.want("down refused <nil>")
	})
}

// With a silence, a fault that no longer occurs is over by itself. What was written in full
// needs no line for that, unless it has a message of its own.
func TestSilence(t *testing.T) {
	inTime(t, 10*time.Second, func(w world) {
		for range 10 {
			w.note("a", "refused")
			time.Sleep(5 * time.Second)
		}
		w.Note("b", "once", Line{Message: "once"})
		time.Sleep(time.Minute)
		w.want("down refused <nil>", "once <nil> <nil>", "up refused 10")
	})
}

// However many keys there are, the memory and the lines are bounded.
func TestManyFaults(t *testing.T) {
	inTime(t, 10*time.Second, func(w world) {
		for i := range 10 * maxFaults {
			w.note(fmt.Sprint(i), fmt.Sprint(i))
		}
		if n := w.logs.Len(); n > maxFaults+maxKinds || len(w.faults) > maxFaults+1 {
			t.Errorf("%d lines, %d faults", n, len(w.faults))
		}
		time.Sleep(2 * Interval)
		w.logs.TakeAll()
		w.note("later", "refused") // has room again
		w.want("down refused <nil>")
	})
}
