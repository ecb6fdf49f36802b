package nats

import (
	"encoding/json"
	"time"
)

// Messages are live: what a link held back while it was cut, or a frozen edge found
// when it went on, is not delivered long after it was sent. Clocks of edges may be
// hours apart, so each edge says what its own shows, in the numbers of its broadcasts
// and with each announcement. Announcements that arrive as far apart as they were sent
// tell the difference between two clocks.
const (
	// defaultMaxLateness is how long after it was sent a broadcast is still delivered. A cut
	// link is noticed sooner.
	defaultMaxLateness = 5 * time.Second
	// maxJitter is by how much the time between two announcements may change on the way.
	maxJitter = 200 * time.Millisecond
)

// clock is the clock of an edge: microseconds that only go forward, from about the time
// of day when it started.
type clock struct {
	start time.Time
	base  uint64
}

func newClock() clock {
	now := time.Now()
	return clock{now, uint64(now.UnixMicro())}
}

func (c clock) now() uint64 { return c.base + uint64(time.Since(c.start).Microseconds()) }

// source is what is known of the broadcasts of another edge.
type source struct {
	lastNumber uint64 // of the last broadcast

	// Of its announcements that showed a clock, in microseconds; without one nothing is late.
	announcedClock uint64 // what its clock showed with the last one
	announcedAt    uint64 // when that came, by our clock
	ahead          int64  // how far our clock is ahead of its clock, plus the time on the way
}

// observeClock takes what the edge's clock showed in an announcement, and what ours shows
// now.
func (s *source) observeClock(shown, now uint64) {
	ahead := int64(now - shown)
	received, sent := int64(now-s.announcedAt), int64(shown-s.announcedClock)
	// Announcements that were held back come at once, with what was sent in between.
	steady := sent >= (announceInterval/2).Microseconds() &&
		received-sent < maxJitter.Microseconds() && sent-received < maxJitter.Microseconds()
	if s.announcedClock == 0 || ahead < s.ahead || steady {
		s.ahead = ahead
	}
	s.announcedClock, s.announcedAt = shown, now
}

// isLate reports whether a broadcast with this number comes later than limit after it was
// sent, by our clock.
func (s *source) isLate(number, now uint64, limit time.Duration) bool {
	return s.announcedClock != 0 && int64(now-number)-s.ahead > limit.Microseconds()
}

// parseClock reads the clock that an announcement shows; 0: none, as of edges of earlier
// versions.
func parseClock(announcement []byte) (of edgeID, shown uint64) {
	var a struct {
		ID    edgeID `json:"id"`
		Clock uint64 `json:"clock"`
	}
	if len(announcement) > maxAnnouncement || json.Unmarshal(announcement, &a) != nil {
		return 0, 0
	}
	return a.ID, a.Clock
}
