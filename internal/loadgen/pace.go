package loadgen

import (
	"time"

	"github.com/millrace/millrace/wire"
)

const (
	// paceShare is how much of a connection's cap fanout uses: enough below it that
	// the figures are the edge's, and not the cap's.
	paceShare = 0.9
	// paceCatchUp is how much of a delay is made up for, at most.
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
	begin int64   // nanotime; moved by what is not made up for

	calls, waits int // of await, and how many of these had to wait
}

func newPace(rate float64) *pace { return &pace{rate: rate, begin: nanotime()} }

// held reports whether it was the pace that most messages waited for, rather than the
// server or this machine.
func (p *pace) held() bool { return p.waits*2 > p.calls }

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
