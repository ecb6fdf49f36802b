package pubsub

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

// logLimits has a rig's log kept, and returns what it says of caps.
func logLimits(r *rig) func() (lines []string) {
	core, logs := observer.New(zap.WarnLevel)
	r.hub.log = zap.New(core)
	return func() (lines []string) {
		for _, e := range logs.TakeAll() {
			m := e.ContextMap()
			lines = append(lines, fmt.Sprint(m["token_id"], " ", m["subject"], " ", m["tenant"], " ", m["direction"], " ", m["cap"], " ", m["kb_per_sec"], " ", m["delay"]))
		}
		return lines
	}
}

// flood sends messages of a KiB as fast as a client is read from, for a while.
func (c *client) flood(d time.Duration) {
	stop := time.Now().Add(d)
	c.readers.Go(func() {
		for time.Now().Before(stop) && c.ready() {
			f := framed("t", 1024-costOverhead)
			c.Charge(len(f))
			c.HandleFrame(f)
		}
	})
	time.Sleep(d)
}

// Whoever sends more than a cap allows is told so after 2 s and then once a minute, if they ask for reasons;
// operators see it in the log, the metrics and the list of connections, whoever it is, until a minute after.
func TestIngressLimited(t *testing.T) {
	for which, set := range map[string]func(*Limits){
		"connection": func(l *Limits) { l.DefaultIngressKB = 8 },
		"token":      func(l *Limits) { l.TokenIngressKB = 8 },
		"tenant":     func(l *Limits) { l.TenantIngressKB = 8 },
	} {
		t.Run(which, func(t *testing.T) {
			inBubble(t, with(set), func(r *rig) {
				said := logLimits(r)
				for _, asks := range []bool{true, false} {
					c := r.connectAs(fmt.Sprint("asks: ", asks))
					c.identity.Tenants = []string{"t"}
					if asks {
						c.ask("FEATURES:reasons")
					}
					c.flood(90 * time.Second)
					told := ""
					for _, line := range c.take() {
						if seconds, ok := strings.CutPrefix(line, "ERR:ingress_limited:"); ok {
							told += seconds + " "
						}
					}
					equal(t, "told", told, map[bool]string{true: "2 62 "}[asks])
					equal(t, "the log", strings.Join(said(), "|"),
						fmt.Sprintf("token of asks: %[1]v asks: %[1]v t ingress %[2]s 8 2s|token of asks: %[1]v asks: %[1]v t ingress %[2]s 8 1m2s", asks, which))
					equal(t, "seconds", c.Session.stat(r.hub.limits.Load()).IngressDelay, 62)
					equal(t, "in the metrics", r.hub.Metrics().Limited["ingress"], 1)
					equal(t, "in the list", r.hub.Connections(ConnectionFilter{Limited: true}, 0, 10).Matching, 1)
					time.Sleep(time.Minute)
					equal(t, "a minute later", r.hub.Connections(ConnectionFilter{Limited: true}, 0, 10).Matching, 0)
					c.vanish()
				}
			})
		})
	}
}

// Nobody is told so who sends large messages with pauses, or just as much as the cap allows.
func TestNotIngressLimited(t *testing.T) {
	inBubble(t, with(func(l *Limits) { l.DefaultIngressKB = 8 }), func(r *rig) {
		said := logLimits(r)
		c := r.connectAs("c", "reasons")
		// send reads n messages, which come one by one.
		send := func(n int, size int, every time.Duration) {
			begin, done := time.Now(), make(chan struct{})
			c.readers.Go(func() {
				defer close(done)
				for i := range n {
					c.ready()
					time.Sleep(time.Until(begin.Add(time.Duration(i) * every)))
					f := framed("t", size)
					c.Charge(len(f))
					c.HandleFrame(f)
				}
				c.ready()
			})
			<-done
			time.Sleep(time.Minute)
		}
		send(2, 60<<10, 0)
		send(3, 60<<10, 20*time.Second)
		send(20, 16<<10, 2500*time.Millisecond)
		send(300, 1024-costOverhead, time.Second/7)
		equal(t, "told", fmt.Sprint(said(), c.take()), "[] []")
	})
}

// Who waits behind others of the same token is told so, too.
func TestIngressLimitedByOthers(t *testing.T) {
	inBubble(t, with(func(l *Limits) { l.TokenIngressKB = 8 }), func(r *rig) {
		said := logLimits(r)
		for range 6 {
			c := r.connectAs("c", "reasons")
			c.start(framed("t", 8<<10))
		}
		time.Sleep(4 * time.Second)
		equal(t, "waiting", r.hub.Metrics().Limited["ingress"] >= 2, true)
		equal(t, "the log", strings.Join(said(), "|"), "token of c c  ingress token 8 2s")
	})
}

// What is received is in the log, too, with the cap and the tenant of the messages.
func TestEgressLimitedIsLogged(t *testing.T) {
	for which, set := range map[string]func(*Limits){
		"connection": func(l *Limits) { l.DefaultEgressKB = 8 },
		"token":      func(l *Limits) { l.TokenEgressKB = 8 },
		"tenant":     func(l *Limits) { l.TenantEgressKB = 8 },
	} {
		inBubble(t, with(set), func(r *rig) {
			said := logLimits(r)
			c, again, p := r.connectAs("c"), r.connectAs("c"), r.connect("p")
			for _, each := range []*client{c, again} {
				each.ask("SUB:t:#")
			}
			p.handle(100, framed("t", 1000))
			time.Sleep(5 * time.Second)
			equal(t, which, strings.Join(said(), "|"), "token of c c t egress "+which+" 8 2s") // once for the token
			equal(t, "in the metrics", r.hub.Metrics().Limited["egress"], 2)
		})
	}
}

// The lines are bounded, and two issuers that want all of them leave some for a third.
func TestLimitedLinesAreBounded(t *testing.T) {
	var l limitedLog
	lines := func(issuer string, n int) (got int) {
		for i := range n {
			if ok, _ := l.take(time.Second, limitedKey{fmt.Sprint(issuer, i), egress}, issuer); ok {
				got++
			}
		}
		return got
	}
	equal(t, "of one issuer", lines("a", 10*maxLimitedLines), maxLimitedLines/2)
	equal(t, "of another", lines("b", 10*maxLimitedLines), maxLimitedLines/4)
	equal(t, "of the same again", lines("b", 10), 0)
	equal(t, "of a third", lines("c", 10), 10)
	got := 0
	for i := range 2 * maxLimitedLines {
		got += lines(fmt.Sprint("other", i), 2)
	}
	equal(t, "of all others", got, maxLimitedLines/4-10)
	ok, omitted := l.take(time.Second+limitedEvery, limitedKey{"a0", egress}, "a")
	if !ok || omitted == 0 || len(l.said) != 1 || len(l.order) != 1 || len(l.issuers) != 1 {
		t.Errorf("a minute later: %v, %d omitted, %d kept", ok, omitted, len(l.said))
	}
}
