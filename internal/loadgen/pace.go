package loadgen

import (
	"time"

	"github.com/millrace/millrace/wire"
)

const (
	// paceShare is the share of a connection's cap that fanout uses: far enough below it
	// that the figures are those of the edge, not of the cap.
	paceShare = 0.9
	// paceCatchUp is the longest delay that a publisher catches up on.
	paceCatchUp = int64(50 * time.Millisecond)
)

// Pace returns Options.MaxRate for a token with the caps CapKBPerSec: with few
// subscribers the window alone would let the rate come up to the cap. 0: the caps
// are not known.
func (o EdgeOptions) Pace(run Options) float64 {
	if o.CapKBPerSec == 0 {
		return 0
	}
	out := wire.DeliverLen([]byte(o.Tenant), []byte(sampleChannel), make([]byte, run.Payload), []string{sampleChannel})
	in := publishLen(len(o.Tenant), sampleChannel, run.Payload)
	return paceShare * float64(o.CapKBPerSec) * 1024 / float64(max(in, out)+capOverhead)
}

// A pace holds a publisher back to a rate.
type pace struct {
	rate  float64 // messages/s; 0: any
	begin int64   // nanotime; moved by delays that are not caught up on

	calls, waits int // of await, and how many of them had to wait
}

func newPace(rate float64) *pace { return &pace{rate: rate, begin: nanotime()} }

// limiting reports whether most messages waited for the pace, rather than for the server or
// this machine.
func (p *pace) limiting() bool { return p.waits*2 > p.calls }

// await returns when one message more than published is due, or at stop.
func (p *pace) await(published uint64, stop <-chan struct{}) {
	if p.rate == 0 {
		return
	}
	wait := p.begin + int64(float64(published)/p.rate*1e9) - nanotime()
	if wait < -paceCatchUp {
		p.begin -= wait + paceCatchUp
	}
	p.calls++
	if wait <= 0 {
		return
	}
	p.waits++
	timer := time.NewTimer(time.Duration(wait))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-stop:
	}
}
