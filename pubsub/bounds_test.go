package pubsub

import (
	"strings"
	"testing"
)

// hostile returns the i-th of very many patterns that match channel, of different
// shapes.
func hostile(channel string, i int) string {
	tokens := strings.Split(channel, ".")
	for at, token := range tokens {
		keep := i % (len(token) + 1)
		i /= len(token) + 1
		tokens[at] = token[:keep] + "*"
	}
	return strings.Join(tokens, ".")
}

const hostileChannel = "aaaaaaa.bbbbbbb.ccccccc.ddddddd"

// Patterns of as many shapes as are allowed, and as many channels as one wants.
func TestPatternShapesOfConnection(t *testing.T) {
	inBubble(t, with(func(l *Limits) { l.MaxPatternShapes = 3 }), func(r *rig) {
		c := r.connect("a")
		c.ok("SUB:t:a.*", "SUB:t:#", "SUB:u:a.#")
		c.send("SUB:t:ab.*", "SUB:u:#", "SUB:t:a.b", "SUB:t:c") // shapes that are there, and channels
		c.expect("OK:SUB:t:ab.*", "OK:SUB:u:#", "OK:SUB:t:a.b", "OK:SUB:t:c")
		c.answer("SUB:t:a*", "ERR:too_many_patterns:SUB:t:a*")
		c.ok("UNSUB:t:#")
		c.send("SUB:t:a*") // u has one of that shape, too
		c.expect("ERR:too_many_patterns:SUB:t:a*")
		c.ok("UNSUB:u:#", "SUB:t:a*")
	})
}

func TestPatternShapesOfTenant(t *testing.T) {
	inBubble(t, with(func(l *Limits) { l.MaxPatternShapesPerTenant = 2 }), func(r *rig) {
		a, b := r.connect("a"), r.connect("b")
		a.ok("SUB:t:a*", "SUB:t:ab*")
		b.answer("SUB:t:abc*", "ERR:too_many_patterns:SUB:t:abc*")
		b.ok("SUB:t:b*", "SUB:t:abc", "SUB:u:abc*")
		a.ask("UNSUB:t:ab*")
		b.ok("SUB:t:abc*")
	})
}

func TestDistinctPatterns(t *testing.T) {
	for _, c := range []struct {
		name  string
		set   func(*Limits)
		lines []string // of connections by turns: a, b, a, b …
		last  string   // is one too many
	}{
		{"edge", func(l *Limits) { l.MaxPatterns = 4 }, []string{"SUB:t:a", "SUB:u:a", "SUB:t:b", "SUB:u:b"}, "SUB:v:a"},
		{"half for a tenant", func(l *Limits) { l.MaxPatterns = 4 }, []string{"SUB:t:a", "SUB:t:b"}, "SUB:t:c"},
		{"tenant", func(l *Limits) { l.MaxPatternsPerTenant = 2 }, []string{"SUB:t:a", "SUB:t:b"}, "SUB:t:c"},
		{"half for a token", func(l *Limits) { l.MaxPatterns = 4 }, []string{"SUB:t:a", "SUB:t:a", "SUB:u:a", "SUB:u:a"}, "SUB:v:a"},
		{"token", func(l *Limits) { l.MaxPatternsPerToken = 1 }, []string{"SUB:t:a", "SUB:u:a"}, "SUB:v:a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			limits := fastLimits()
			c.set(&limits)
			inBubble(t, limits, func(r *rig) {
				connections := []*client{r.connect("a"), r.connect("b")}
				for i, line := range c.lines {
					connections[i%2].send(line)
					connections[i%2].expect("OK:" + line)
				}
				a := connections[0]
				a.answer(c.last, "ERR:too_many_patterns:"+c.last)
				a.send(c.lines[0]) // what is there is no new one
				a.expect("OK:" + c.lines[0])
				if n := len(r.hub.tenants); strings.Contains(c.last, ":v:") && n != 2 {
					t.Errorf("the hub has %d tenants: the refused one is there", n)
				}
				for i, line := range c.lines {
					connections[i%2].send("UN" + line)
				}
				a.take()
				a.answer(c.last, "OK:"+c.last)
				a.ask("UN" + c.last)
				equal(t, "patterns counted where there is none", r.hub.patterns.all.Load(), 0)
			})
		})
	}
}

// A refused subscription with a stream of its own opens none.
func TestRefusedPatternOpensNoStream(t *testing.T) {
	inBubble(t, with(func(l *Limits) { l.MaxPatternsPerTenant = 1 }), func(r *rig) {
		c := r.connectStreams("s")
		c.ok("SUB:t:a")
		c.stream("SUB:U:t:b")
		c.expect("ERR:too_many_patterns:SUB:t:b")
		equal(t, "streams are open", len(c.streams), 0)
	})
}
