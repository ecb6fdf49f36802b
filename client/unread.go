package client

import "time"

// unreadTime is how long something that was sent may lack a sign that the edge reads, before
// the client asks for one.
const unreadTime = time.Second

// unread knows what was sent on a connection without a proof that the edge has read it. Edges
// read in order, so the answer to a PING proves it of all that was sent before. What asks for
// another answer needs no PING if anything comes after it.
type unread struct {
	publishes uint64    // without an answer of their own, ever
	marked    uint64    // of these, those before the last PING
	since     time.Time // when the first was sent that makes the client ask; zero: nothing does
	first     time.Time // when anything was sent after the last PING; zero: nothing was
}

// mark is a place in what was sent, before a PING.
type mark struct {
	publishes uint64
	first     time.Time // when the first was sent since the PING before; zero: nothing was
}

// publish notes a publish that is not answered, and reports whether it is the first after a PING.
func (u *unread) publish() (first bool) {
	first = u.publishes == u.marked
	u.publishes++
	if first {
		u.sent()
	}
	return first
}

// request notes something that is answered, and reports whether nothing else waits for a sign.
func (u *unread) request(heard time.Time) (first bool) {
	if !u.waits(heard).IsZero() {
		return false
	}
	u.sent()
	return true
}

func (u *unread) sent() {
	u.since = time.Now()
	if u.first.IsZero() {
		u.first = u.since
	}
}

// waits returns since when something waits for a sign that the edge reads; zero: nothing does.
func (u *unread) waits(heard time.Time) time.Time {
	if u.publishes == u.marked && !heard.Before(u.since) {
		return time.Time{}
	}
	return u.since
}

// mark is called before each PING.
func (u *unread) mark() mark {
	m := mark{u.publishes, u.first}
	u.marked, u.since, u.first = u.publishes, time.Time{}, time.Time{}
	return m
}

// reading is what a connection has shown of its edge: how much it has read, and how fast.
type reading struct {
	publishes uint64        // that it has read, or that were reported
	perByte   time.Duration // that a byte takes at most
}

// slowest is how long an edge may take for a byte: the lowest ingress cap is 1 KiB a second.
const slowest = time.Second / 1024

// capBurst is how much sooner than its cap lets it an edge may read: a cap holds one second.
const capBurst = time.Second

// proven takes the answer to a PING, before which so many bytes were sent that had no answer.
func (r *reading) proven(m mark, bytes uint64, timed bool) {
	r.publishes = max(r.publishes, m.publishes)
	if timed && bytes > 0 && !m.first.IsZero() {
		r.perByte = min(r.perByte, (time.Since(m.first)+capBurst)/time.Duration(bytes))
	}
}

// sendTime is what so many bytes may take.
func (r *reading) sendTime(bytes uint64) time.Duration { return time.Duration(bytes) * r.perByte }
