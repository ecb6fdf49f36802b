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

// within checks a time: 5 % less is what a new connection's first quarter of a second and
// rounding may save.
func within(t *testing.T, took, want time.Duration) {
	t.Helper()
	if took < want*95/100 || took > want*105/100 {
		t.Errorf("took %v, want %v", took, want)
	}
}

var (
	rates = []int{8, 128, 2048, 16384} // KB/s
	sizes = []int{64, 1024, 65536}     // bytes of a frame
)

// eachCap runs a test for rates and sizes of messages so that some go into 10 s.
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

// handle handles a frame n times, without waiting for caps.
func (c *client) handle(n int, frame []byte) {
	for range n {
		c.HandleFrame(frame)
	}
}

// arrive waits until clients have got n messages, for a minute at most.
func arrive(n int, clients ...*client) time.Duration {
	start := time.Now()
	for got := 0; got < n && time.Since(start) < time.Minute; {
		time.Sleep(50 * time.Millisecond)
		for _, c := range clients {
			got += len(c.take())
		}
	}
	return time.Since(start)
}

// eachSharedCap has two connections take 10 s' worth each of a cap of 8 KB/s.
func eachSharedCap(
	t *testing.T, set func(l *Limits, token, tenant int), test func(r *rig, tokens, tenants []string) time.Duration,
) {
	for name, c := range map[string]struct {
		token, tenant   int // the caps
		tokens, tenants string
		want            time.Duration
	}{
		"one token":     {8, 0, "a a", "t u", 20 * time.Second},
		"two tokens":    {8, 0, "a b", "t t", 10 * time.Second},
		"one tenant":    {0, 8, "a b", "t t", 20 * time.Second},
		"two tenants":   {0, 8, "a a", "t u", 10 * time.Second},
		"no shared cap": {0, 0, "a a", "t u", 0},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, with(func(l *Limits) { set(l, c.token, c.tenant) }), func(r *rig) {
				took := test(r, strings.Fields(c.tokens), strings.Fields(c.tenants))
				within(t, took.Truncate(100*time.Millisecond), c.want)
			})
		})
	}
}

func TestIngressCap(t *testing.T) {
	eachCap(t, func(t *testing.T, kb, size, count int) {
		inBubble(t, with(func(l *Limits) { l.DefaultIngressKB = kb }), func(r *rig) {
			start := time.Now()
			r.connect("a").pump(framed("t", size), count)
			within(t, time.Since(start), 10*time.Second)
		})
	})
}

func TestEgressCap(t *testing.T) {
	eachCap(t, func(t *testing.T, kb, size, count int) {
		inBubble(t, with(func(l *Limits) { l.DefaultEgressKB, l.SendQueue = kb, 1<<30 }), func(r *rig) {
			c, p := r.pair("SUB:t:#")
			p.handle(count, framed("t", size-6)) // a deliver frame is so much longer
			within(t, arrive(count, c), 10*time.Second)
		})
	})
}

// A line does not wait for the cap behind deliveries.
func TestPongOvertakesTheCap(t *testing.T) {
	inBubble(t, with(func(l *Limits) { l.DefaultEgressKB = 8 }), func(r *rig) {
		c, p := r.pair("SUB:t:#")
		p.handle(80, framed("t", 1000))
		time.Sleep(time.Second)
		if got := c.ask("PING"); !slices.Contains(got, "PONG") || len(got) > 12 {
			t.Errorf("after a second: %d messages; PONG among them: %v", len(got), slices.Contains(got, "PONG"))
		}
	})
}

// Neither does an ERR line: a client hears of dropped deliveries when they are dropped.
func TestErrorsOvertakeTheCap(t *testing.T) {
	inBubble(t, with(func(l *Limits) { l.DefaultEgressKB, l.SendQueue = 8, 256<<10 }), func(r *rig) {
		c, p := r.pair("SUB:t:#")
		large := framed("t", 60<<10)
		p.HandleFrame(large) // the next one may be written 7 s later
		c.take()
		told, before := 0, 1 // of what was dropped within a second, a line may tell only then
		p.handle(6, large)
		for second := range 3 {
			for _, m := range c.take() {
				n, ok := strings.CutPrefix(m, "ERR:slow_consumer:")
				if !ok && !strings.HasPrefix(m, "ERR:egress_limited:") {
					t.Errorf("in second %d: got %.30q, want a line of what was dropped", second, m)
				}
				dropped, _ := strconv.Atoi(n)
				told += dropped
			}
			if told < before {
				t.Errorf("in second %d: %d deliveries were dropped, and the client got notice of %d", second, before, told)
			}
			before = int(r.hub.Metrics().Dropped["queue_full"])
			time.Sleep(time.Second)
			p.HandleFrame(large)
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
		within(t, time.Since(start), time.Second)
	})
}

// The caps of a token, and of a tenant, hold for several connections together.
func TestSharedIngressCaps(t *testing.T) {
	eachSharedCap(t, func(l *Limits, token, tenant int) { l.TokenIngressKB, l.TenantIngressKB = token, tenant },
		func(r *rig, tokens, tenants []string) time.Duration {
			start, done := time.Now(), make(chan struct{})
			for i := range tokens {
				go func() { // ends with its frames; awaited below
					r.connect(tokens[i]).pump(framed(tenants[i], 1024-costOverhead), 80)
					done <- struct{}{}
				}()
			}
			for range tokens {
				<-done
			}
			return time.Since(start)
		})
}

func TestSharedEgressCaps(t *testing.T) {
	eachSharedCap(t, func(l *Limits, token, tenant int) {
		l.TokenEgressKB, l.TenantEgressKB, l.SendQueue = token, tenant, 1<<30
	}, func(r *rig, tokens, tenants []string) time.Duration {
		var clients []*client
		for i := range tokens {
			c := r.connect(tokens[i])
			c.ok("SUB:" + tenants[i] + ":#")
			clients = append(clients, c)
		}
		p := r.connect("p")
		for range 80 {
			for _, tenant := range slices.Compact(slices.Clone(tenants)) {
				p.HandleFrame(framed(tenant, 1024-costOverhead-6))
			}
		}
		return arrive(160, clients...)
	})
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
		equal(t, "the bucket of a tenant in use", r.hub.tenantCapsOf([]byte("t")), a)
	})
}
