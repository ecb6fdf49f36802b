package pubsub

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
)

// limitedLines takes what has come, and returns the seconds of the egress_limited
// lines among it.
func (c *client) limitedLines() (seconds []int) {
	for _, m := range c.take() {
		if n, ok := strings.CutPrefix(m, "ERR:egress_limited:"); ok {
			s, err := strconv.Atoi(n)
			if err != nil {
				c.rig.Error(m)
			}
			seconds = append(seconds, s)
		}
	}
	return seconds
}

// A client hears that its deliveries wait for a cap once they do for 2 s, and again
// each minute, with how late they are.
func TestEgressLimited(t *testing.T) {
	for name, set := range map[string]func(*Limits){
		"its own cap":      func(l *Limits) { l.DefaultEgressKB = 8 },
		"its token's cap":  func(l *Limits) { l.TokenEgressKB = 8 },
		"the tenant's cap": func(l *Limits) { l.TenantEgressKB = 8 },
	} {
		t.Run(name, func(t *testing.T) {
			limits := with(set)
			limits.SendQueue = 16 << 20
			inBubble(t, limits, func(r *rig) {
				c, p := r.pair("SUB:t:#")
				var told []int // the seconds of the test
				late := 0
				for second := range 150 { // 20 KB/s
					for range 20 {
						p.HandleFrame(framed("t", 1024-costOverhead-6))
						time.Sleep(time.Second / 20)
					}
					for _, s := range c.limitedLines() {
						told = append(told, second)
						if s <= late {
							t.Errorf("in second %d: %d s late, after %d", second, s, late)
						}
						late = s
					}
				}
				// Each second of the publisher is 2.5 of the client: it is 2 s late after
				// 3.3 s, 38 after 63 and 74 after 123.
				if len(told) != 3 || told[0] > 4 || told[1]-told[0] != 60 || told[2]-told[1] != 60 || late < 70 || late > 80 {
					t.Errorf("told in the seconds %v, at last that it is %d s late", told, late)
				}
				equal(t, "lines counted", r.hub.Metrics().Refused["egress_limited"], 3)
			})
		})
	}
}

// It hears so while the cap holds back one large message, too.
func TestEgressLimitedByALargeMessage(t *testing.T) {
	inBubble(t, with(func(l *Limits) { l.DefaultEgressKB = 8 }), func(r *rig) {
		c, p := r.pair("SUB:t:#")
		p.HandleFrame(framed("t", 60<<10)) // the next one may be written 7 s later
		c.take()
		p.HandleFrame(framed("t", 100))
		for _, step := range []struct {
			after time.Duration
			want  string
		}{{limitedAfter - time.Millisecond, "[]"}, {time.Millisecond, "[2]"}, {time.Minute, "[]"}} {
			time.Sleep(step.after)
			equal(t, "seconds told", fmt.Sprint(c.limitedLines()), step.want)
		}
	})
}

// Nobody hears so whose deliveries wait a moment, or for the client.
func TestNotEgressLimited(t *testing.T) {
	inBubble(t, with(func(l *Limits) { l.DefaultEgressKB = 128 }), func(r *rig) {
		c, p := r.pair("SUB:t:#")
		for range 4 { // three seconds' worth at once, once in a while
			p.handle(4, framed("t", 60<<10))
			time.Sleep(10 * time.Second)
		}
		release := c.block()
		p.handle(2, framed("t", 1000))
		time.Sleep(20 * time.Second)
		release()
		time.Sleep(10 * time.Second)
		equal(t, "seconds told", fmt.Sprint(c.limitedLines()), "[]")
	})
}
