package client

import (
	"sync/atomic"
	"time"
)

// The rhythm of a connection (docs/decisions/0018-suspicion.md).
const (
	rhythmSpan    = 5 * time.Second  // of each of its two parts
	rhythmEnd     = 10 * time.Second // a pause that is longer begins a new one
	rhythmLeast   = 4                // pauses that have to be known
	unusualFactor = 3                // times the longest pause is unusual
	unusualLeast  = time.Second
	unusualMost   = 3 * time.Second
)

// clock is when something came last on a connection, and the rhythm of what comes. One
// goroutine tells it, others read. It goes on if somebody sets the clock of the machine.
type clock struct {
	start   time.Time
	since   atomic.Int64 // nanoseconds
	longest atomic.Int64 // nanoseconds; negative: there is no rhythm

	// Below is of the goroutine that reads the connection.
	pauses int              // since the rhythm began, up to rhythmLeast
	span   time.Duration    // the number of the present part
	parts  [2]time.Duration // the longest pause of the present part, and of the one before
	told   time.Duration    // is in longest
}

func newClock() *clock {
	c := &clock{start: time.Now(), told: -1}
	c.longest.Store(-1)
	return c
}

// now notes that something has come.
func (c *clock) now() {
	since := time.Since(c.start)
	pause := since - time.Duration(c.since.Load())
	c.since.Store(int64(since))
	if pause > rhythmEnd {
		c.pauses, c.parts = 0, [2]time.Duration{}
		c.tell(-1)
		return
	}
	switch span := since / rhythmSpan; span - c.span {
	case 0:
		c.parts[0] = max(c.parts[0], pause)
	case 1:
		c.span, c.parts = span, [2]time.Duration{pause, c.parts[0]}
	default:
		c.span, c.parts = span, [2]time.Duration{pause}
	}
	if c.pauses < rhythmLeast {
		c.pauses++
	}
	if c.pauses == rhythmLeast {
		c.tell(max(c.parts[0], c.parts[1]))
	}
}

func (c *clock) tell(longest time.Duration) {
	if longest != c.told {
		c.told = longest
		c.longest.Store(int64(longest))
	}
}

func (c *clock) time() time.Time { return c.start.Add(time.Duration(c.since.Load())) }

// unusual is how long a silence is unusual; zero: nothing is usual here.
func (c *clock) unusual() time.Duration {
	longest := time.Duration(c.longest.Load())
	if longest < 0 {
		return 0
	}
	return min(max(unusualFactor*longest, unusualLeast), unusualMost)
}
