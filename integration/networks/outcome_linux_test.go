package networks

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// outcome is what a client saw of a case.
type outcome struct {
	back     time.Duration // until the first message that was sent after the break; the longest, if it broke several times
	never    bool          // within waitTimeout there was none
	silence  time.Duration // the longest time between two messages
	missed   int           // messages between the first and the last one
	late     int           // messages that came over a replaced connection
	events   []string      // what was told after the client had connected
	over     string        // the transport at the end
	switches int           // changes of the connection
	lost     bool          // disconnected was among the events
}

// watch is a case that is being played.
type watch struct {
	l *lab
	s *subject
	p *publisher
	o outcome
}

// aside is how long after the break the case is over at the latest.
const aside = 50 * time.Second

// next waits for a message that was sent after a time, and notes how long that took.
func (w *watch) next(after time.Time) {
	r, err := w.s.await(0, time.Until(after.Add(aside)), func(r report) bool {
		number, is := r.number()
		if !is {
			return false
		}
		sent, known := w.p.sentAt(number)
		return known && sent.After(after)
	})
	if err != nil {
		w.o.never = true
		w.o.back = aside
		return
	}
	w.o.back = max(w.o.back, r.at.Sub(after))
}

// read notes what the reports say, given when messages were sent.
func (o *outcome) read(reports []report, sent []time.Time) {
	got := map[uint64]bool{}
	var first, last uint64
	var previous time.Time
	for _, r := range reports {
		number, is := r.number()
		switch {
		case is:
			if len(got) == 0 {
				first, last = number, number
			}
			first, last = min(first, number), max(last, number)
			got[number] = true
			if r.Late {
				o.late++
			}
			if !previous.IsZero() {
				o.silence = max(o.silence, r.at.Sub(previous))
			}
			previous = r.at
		case r.Event == "connected":
			o.over = r.Transport
		default:
			o.hear(r)
		}
	}
	for number := first; number < last && number < uint64(len(sent)); number++ {
		if !got[number] {
			o.missed++
		}
	}
}

// hear notes an event.
func (o *outcome) hear(r report) {
	if slices.Contains([]string{"answer", "roundTrip", "linkUp", "linkDown"}, r.Event) {
		return
	}
	text := r.Event
	switch {
	case r.Event == "recovered" && r.Away > 0, r.Event == "reconnected", r.Event == "moved":
		o.over = r.Transport
		o.switches++
		text += " " + r.Transport
	}
	o.lost = o.lost || r.Event == "disconnected"
	o.events = append(o.events, text)
}

func (o outcome) String() string {
	back := "never"
	if !o.never {
		back = seconds(o.back)
	}
	return fmt.Sprintf("back after %s, silent for %s, %d missed, %d late, over %s, events: %s",
		back, seconds(o.silence), o.missed, o.late, o.over, strings.Join(o.events, ", "))
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

// median and worst of what each outcome has of something.
func middle(all []outcome, of func(outcome) time.Duration) (median, worst time.Duration) {
	list := make([]time.Duration, 0, len(all))
	for _, o := range all {
		list = append(list, of(o))
	}
	slices.Sort(list)
	return list[len(list)/2], list[len(list)-1]
}
