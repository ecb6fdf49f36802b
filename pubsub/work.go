package pubsub

import "time"

// work is what was done for who pays since somebody last looked at the clock.
type work struct {
	// most is what the clock may say, beside lookLimit. What takes longer did not have a processor
	// meanwhile, and who suffers from others must not pay for it.
	most time.Duration
	// beside is what is charged beside that.
	beside time.Duration
}

const (
	// lookLimit is the most that is charged between two looks at the clock for what work does not count: a
	// message with few subscribers takes 20 us.
	lookLimit = 200 * time.Microsecond
	// The rest is some three to five times what it takes on an idle processor.
	mostPerWrite     = 20 * time.Microsecond
	mostPerByte      = time.Nanosecond
	mostPerDelivery  = 2 * time.Microsecond  // that is queued; and for each frame that is encoded
	mostPerStep      = 500 * time.Nanosecond // see matched
	mostPerRightByte = 20 * time.Nanosecond  // of a right that is checked; see BenchmarkCanPublish
)

// matched adds n steps of finding who gets a message: subscriptions, or patterns that match.
func (w *work) matched(n int) { w.most += mostPerStep * time.Duration(n) }

// encoded adds that a frame was encoded.
func (w *work) encoded(f *frame) {
	w.most += mostPerDelivery + mostPerByte*time.Duration(len(f.data))
}

// chargeWork counts w, and the time since then, as used by the payers, and returns the time now.
func (h *Hub) chargeWork(p payers, since time.Duration, w *work) (now time.Duration) {
	now = h.now()
	h.charge(p, now, min(now-since, lookLimit+w.most)+w.beside)
	*w = work{}
	return now
}

// charge charges what was used since it was done last.
func (p *pace) charge() { p.chargedUntil = p.hub.chargeWork(p.payers, p.chargedUntil, &p.work) }
