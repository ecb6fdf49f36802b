package nats

import (
	"encoding/json"
	"time"
)

// Messages are live: what a link held back while it was cut, or a frozen edge found
// when it went on, is not delivered long after it was sent. Clocks of edges may be
// hours apart, so each edge says what its own shows, in the numbers of its broadcasts
// and with each announcement. Announcements that come as far apart as they were sent
// tell the difference between two clocks.
const (
	// maxLate is how long after it was sent a broadcast is delivered. A cut link is
	// noticed sooner.
	maxLate = 5 * time.Second
	// evenPace is by how much the distance of two announcements may have changed on
	// the way.
	evenPace = 200 * time.Millisecond
)

// clock is that of an edge: microseconds that only go forward, from about the time of
// day on.
type clock struct {
	start time.Time
	base  uint64
}

func newClock() clock {
	now := time.Now()
	return clock{now, uint64(now.UnixMicro())}
}

func (c clock) now() uint64 { return c.base + uint64(time.Since(c.start).Microseconds()) }

// hearing is what is known of the broadcasts of another edge.
type hearing struct {
	last uint64 // the number of the last one

	// Of its announcements that had a clock, in microseconds; without one nothing is late.
	announced uint64 // what it showed with the last one
	heard     uint64 // when that came, by our own
	ahead     int64  // how far our clock is ahead of it, and the way it takes
}

// announcedAt takes an announcement that shows the clock of its edge, at a time of
// ours.
func (h *hearing) announcedAt(shown, now uint64) {
	ahead := int64(now - shown)
	between, sent := int64(now-h.heard), int64(shown-h.announced)
	// Those that were held back come at once, with what was sent in between.
	even := sent >= (announceEvery/2).Microseconds() &&
		between-sent < evenPace.Microseconds() && sent-between < evenPace.Microseconds()
	if h.announced == 0 || ahead < h.ahead || even {
		h.ahead = ahead
	}
	h.announced, h.heard = shown, now
}

// late reports whether a broadcast with a number comes too late, at a time of ours.
func (h *hearing) late(number, now uint64) bool {
	return h.announced != 0 && int64(now-number)-h.ahead > maxLate.Microseconds()
}

// clockOf reads the clock that an announcement shows; 0: none, as of edges of earlier
// versions.
func clockOf(announcement []byte) (of edgeID, shown uint64) {
	var a struct {
		ID    edgeID `json:"id"`
		Clock uint64 `json:"clock"`
	}
	if len(announcement) > maxAnnouncement || json.Unmarshal(announcement, &a) != nil {
		return 0, 0
	}
	return a.ID, a.Clock
}
