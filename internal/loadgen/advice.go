package loadgen

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"
	"unicode"

	"github.com/millrace/millrace/wire"
)

const (
	capOverhead = 32 // bytes that a message counts beyond its own (docs/protocol.md, Bandwidth)
	// capTolerance is how far a rate may be from a cap to be taken for it.
	capTolerance = 0.04
)

// sampleChannel is as long as the channel of a run.
const sampleChannel = "bench.0000"

// usualCaps are caps of a token which names none, KB/s: those of an edge without options and
// of `pubsub dev`, and the maximum.
var usualCaps = []int{8, 128, 1024, 16384}

// Advise implements Adviser: a rate that equals a cap of the token says nothing
// about the edge.
func (d *edgeDriver) Advise(o Options, r *Result) error {
	if d.target == nil || o.Scenario == Idle || r.DeliveriesPerSecond == 0 {
		return nil
	}
	if o.Scenario == Fanout && o.MaxRate > 0 {
		return nil // below the cap; late messages that arrive all at once may look like more
	}
	t := d.target
	channel := sampleChannel
	kb := func(perSecond float64, bytes int) float64 { return perSecond * float64(bytes+capOverhead) / 1024 }
	out := wire.DeliverLen([]byte(t.Tenant), []byte(channel), make([]byte, o.Payload), []string{channel})
	in := publishLen(len(t.Tenant), channel, o.Payload)
	var sent, received float64 // KB/s of a connection
	switch o.Scenario {
	case Rooms:
		if r.DeliveriesPerSecond > 0.95*o.MemberRate*float64(o.Rooms*o.Members*o.Members) {
			return nil // it is the requested rate
		}
		received = kb(r.DeliveriesPerSecond/float64(o.Rooms*o.Members), out)
		sent = received / float64(o.Members) * float64(in+capOverhead) / float64(out+capOverhead)
	default:
		if o.Scenario == Latency && r.DeliveriesPerSecond > 0.95*o.Rate*float64(o.Subscribers) {
			return nil
		}
		received = kb(r.DeliveriesPerSecond/float64(o.Subscribers), out)
		sent = kb(r.DeliveriesPerSecond/float64(o.Subscribers), in)
	}
	caps := usualCaps
	if t.CapKBPerSec > 0 {
		caps = []int{t.CapKBPerSec}
	}
	for _, limit := range caps {
		for _, c := range []struct {
			name string
			rate float64
		}{{"egress", received}, {"ingress", sent}} {
			if math.Abs(c.rate-float64(limit)) < capTolerance*float64(limit) {
				return fmt.Errorf("this is the %s cap of %d KB/s, not the limit of the edge: use a token with higher "+
					"ingress_kb_per_sec and egress_kb_per_sec (up to 16384), or more subscribers", c.name, limit)
			}
		}
	}
	return nil
}

// problemText returns the text of a refusal (docs/protocol.md, REST).
func problemText(status int, body []byte) string {
	var problem struct{ Detail, Code string }
	if json.Unmarshal(body, &problem) == nil && problem.Detail != "" {
		return fmt.Sprintf("%s (%d %s)", printable(problem.Detail), status, printable(problem.Code))
	}
	return fmt.Sprintf("%d %s", status, http.StatusText(status))
}

// printable removes what could control a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s)
}
