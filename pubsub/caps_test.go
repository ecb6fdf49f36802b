package pubsub

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/wire"
)

// framed is a publish whose frame has n bytes.
func framed(tenant string, n int) []byte {
	p := wire.Publish{Tenant: []byte(tenant), Channel: []byte("a")}
	p.Payload = make([]byte, n-len(wire.AppendPublish(nil, p)))
	return wire.AppendPublish(nil, p)
}

// pump sends n frames as fast as the caps let it.
func (c *client) pump(frame []byte, n int) {
	for range n {
		if !c.Ready(time.Hour) {
			c.rig.Error("ended")
			return
		}
		c.Charge(len(frame))
		c.HandleFrame(frame)
	}
	c.Ready(time.Hour)
}

// within checks a time that 10 s at a cap should take: 5 % less is what a new
// connection's first quarter of a second and rounding may save.
func within(t *testing.T, what string, took time.Duration) {
	t.Helper()
	if took < 9500*time.Millisecond || took > 10500*time.Millisecond {
		t.Errorf("%s: 10 s' worth took %v", what, took)
	}
}

var (
	rates = []int{8, 128, 2048, 16384} // KB/s
	sizes = []int{64, 1024, 65536}     // bytes of a frame
)

// eachCap runs a test for rates and sizes of messages of which some go into 10 s.
func eachCap(t *testing.T, test func(t *testing.T, kb, size, count int)) {
	for _, kb := range rates {
		for _, size := range sizes {
			count := 10 * kb * 1024 / (size + costOverhead)
			if count < 20 || count > 50_000 {
				continue
			}
			t.Run(fmt.Sprintf("%d KB/s in %d bytes", kb, size), func(t *testing.T) { test(t, kb, size, count) })
		}
	}
}

func TestIngressCap(t *testing.T) {
	eachCap(t, func(t *testing.T, kb, size, count int) {
		inBubble(t, with(func(l *Limits) { l.DefaultIngressKB = kb }), func(r *rig) {
			start := time.Now()
			r.connect("a").pump(framed("t", size), count)
			within(t, "ingress", time.Since(start))
		})
	})
}

func TestEgressCap(t *testing.T) {
	eachCap(t, func(t *testing.T, kb, size, count int) {
		inBubble(t, with(func(l *Limits) { l.DefaultEgressKB, l.SendQueue = kb, 1<<30 }), func(r *rig) {
			s, p := r.connect("a"), r.connect("p")
			s.ok("SUB:t:#")
			start := time.Now()
			frame := framed("t", size-6) // a deliver frame is so much longer
			for range count {
				p.HandleFrame(frame)
			}
			got := 0
			for got < count && time.Since(start) < time.Minute {
				time.Sleep(50 * time.Millisecond)
				got += len(s.take())
			}
			within(t, "egress", time.Since(start))
		})
	})
}

// A line does not wait for the cap behind deliveries.
func TestPongOvertakesTheCap(t *testing.T) {
	inBubble(t, with(func(l *Limits) { l.DefaultEgressKB = 8 }), func(r *rig) {
		c, p := r.connect("a"), r.connect("p")
		c.ask("SUB:t:#")
		for range 80 {
			p.HandleFrame(framed("t", 1000))
		}
		time.Sleep(time.Second)
		c.send("PING")
		if got := c.take(); !slices.Contains(got, "PONG") || len(got) > 12 {
			t.Errorf("after a second: %d messages; PONG among them: %v", len(got), slices.Contains(got, "PONG"))
		}
	})
}

// Neither does an ERR line: a client hears of dropped deliveries when they are dropped.
func TestErrorsOvertakeTheCap(t *testing.T) {
	inBubble(t, with(func(l *Limits) { l.DefaultEgressKB, l.SendQueue = 8, 256<<10 }), func(r *rig) {
		c, p := r.connect("a"), r.connect("p")
		c.ok("SUB:t:#")
		p.HandleFrame(framed("t", 60<<10)) // the next one may be written 7 s later
		c.take()
		told, before := 0, 1 // of what was dropped within a second, a line may tell only then
		for range 6 {
			p.HandleFrame(framed("t", 60<<10))
		}
		for second := range 3 {
			for _, m := range c.take() {
				n, ok := strings.CutPrefix(m, "ERR:slow_consumer:")
				if !ok && strings.HasPrefix(m, "ERR:egress_limited:") {
					continue
				}
				if !ok {
					t.Errorf("in second %d: got %.30q, want a line of what was dropped", second, m)
				}
				dropped, _ := strconv.Atoi(n)
				told += dropped
			}
			if told < before {
				t.Errorf("in second %d: %d deliveries were dropped, and the client was told of %d", second, before, told)
			}
			before = int(r.hub.Metrics().Dropped["queue_full"])
			time.Sleep(time.Second)
			p.HandleFrame(framed("t", 60<<10))
		}
		c.HandleFrame(nil)
		if got := c.take(); !slices.Contains(got, "ERR:bad_frame") {
			t.Errorf("got %.30q, want ERR:bad_frame", got)
		}
	})
}

// After a pause a client may send one second's worth at once, and no more.
func TestBucketHoldsOneSecond(t *testing.T) {
	inBubble(t, with(func(l *Limits) { l.DefaultIngressKB = 8 }), func(r *rig) {
		c := r.connect("a")
		c.pump(framed("t", 64), 1)
		time.Sleep(time.Minute)
		start := time.Now()
		c.pump(framed("t", 1024-costOverhead), 8)
		equal(t, "time of a second's worth", time.Since(start), 0)
		c.pump(framed("t", 1024-costOverhead), 8)
		if took := time.Since(start); took < 900*time.Millisecond || took > 1100*time.Millisecond {
			t.Errorf("the next took until %v", took)
		}
	})
}

// The caps of a token, and of a tenant, hold for several connections together.
func TestSharedIngressCaps(t *testing.T) {
	for name, c := range map[string]struct {
		set     func(*Limits)
		tokens  []string // of the connections
		tenants []string
		want    time.Duration
	}{
		"one token":     {func(l *Limits) { l.TokenIngressKB = 8 }, []string{"a", "a"}, []string{"t", "u"}, 20 * time.Second},
		"two tokens":    {func(l *Limits) { l.TokenIngressKB = 8 }, []string{"a", "b"}, []string{"t", "t"}, 10 * time.Second},
		"one tenant":    {func(l *Limits) { l.TenantIngressKB = 8 }, []string{"a", "b"}, []string{"t", "t"}, 20 * time.Second},
		"two tenants":   {func(l *Limits) { l.TenantIngressKB = 8 }, []string{"a", "a"}, []string{"t", "u"}, 10 * time.Second},
		"no shared cap": {func(*Limits) {}, []string{"a", "a"}, []string{"t", "t"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			limits := fastLimits()
			c.set(&limits)
			inBubble(t, limits, func(r *rig) {
				start := time.Now()
				done := make(chan struct{})
				for i := range c.tokens {
					go func() { // ends with its frames; awaited below
						r.connect(c.tokens[i]).pump(framed(c.tenants[i], 1024-costOverhead), 80)
						done <- struct{}{}
					}()
				}
				for range c.tokens {
					<-done
				}
				if took := time.Since(start); took < c.want*95/100 || took > c.want*105/100 {
					t.Errorf("took %v, want %v", took, c.want)
				}
			})
		})
	}
}

func TestSharedEgressCaps(t *testing.T) {
	for name, c := range map[string]struct {
		set     func(*Limits)
		tokens  []string // of the subscribers
		tenants []string
		want    time.Duration
	}{
		"one token":   {func(l *Limits) { l.TokenEgressKB = 8 }, []string{"a", "a"}, []string{"t", "u"}, 20 * time.Second},
		"two tokens":  {func(l *Limits) { l.TokenEgressKB = 8 }, []string{"a", "b"}, []string{"t", "u"}, 10 * time.Second},
		"one tenant":  {func(l *Limits) { l.TenantEgressKB = 8 }, []string{"a", "b"}, []string{"t", "t"}, 20 * time.Second},
		"two tenants": {func(l *Limits) { l.TenantEgressKB = 8 }, []string{"a", "a"}, []string{"t", "u"}, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			limits := fastLimits()
			limits.SendQueue = 1 << 30
			c.set(&limits)
			inBubble(t, limits, func(r *rig) {
				var clients []*client
				for i := range c.tokens {
					s := r.connect(c.tokens[i])
					s.ask("SUB:" + c.tenants[i] + ":#")
					clients = append(clients, s)
				}
				p := r.connect("p")
				start := time.Now()
				for range 80 {
					for _, tenant := range slices.Compact(slices.Clone(c.tenants)) {
						p.HandleFrame(framed(tenant, 1024-costOverhead-6))
					}
				}
				got := 0
				for got < 160 && time.Since(start) < time.Minute {
					time.Sleep(50 * time.Millisecond)
					for _, s := range clients {
						got += len(s.take())
					}
				}
				if took := time.Since(start); took < c.want*95/100 || took > c.want*105/100 {
					t.Errorf("took %v, want %v", took, c.want)
				}
			})
		})
	}
}

// Tenants that are out of use do not stay in memory.
func TestTenantCapsAreForgotten(t *testing.T) {
	inBubble(t, with(func(l *Limits) { l.TenantIngressKB = 1 }), func(r *rig) {
		for i := range 3 * minSweep {
			r.hub.tenantCapsOf(fmt.Appendf(nil, "t%d", i))
			if i%minSweep == 0 {
				time.Sleep(2 * unusedKept)
			}
		}
		if n := len(r.hub.tenantCaps.caps); n > minSweep {
			t.Errorf("%d tenants", n)
		}
		a := r.hub.tenantCapsOf(bytes.Clone([]byte("t")))
		if r.hub.tenantCapsOf([]byte("t")) != a {
			t.Error("a tenant in use has two buckets")
		}
	})
}
