package index

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

// A page that is read in steps has what one step would have read, within its bounds, and misses
// nothing that is removed between steps.
func TestPaging(t *testing.T) {
	const messages = 4 * maxScan
	p, err := pattern.Parse("c.*")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name            string
		every           int // how many messages one that matches comes
		most, bytes     int // of a page
		removed         uint64
		before, through uint64 // steps until something is removed; where the page ends
		want            int    // messages
		gap             bool
	}{
		{"few match", 100, 1000, 1 << 20, 0, 0, messages, messages / 100, false},
		{"full by number", 100, 7, 1 << 20, 0, 0, 700, 7, false},
		{"full by bytes", 100, 1000, 70, 0, 0, 2 * maxScan, 10, false},
		{"removed what it has", 100, 1000, 1 << 20, 100, 1, messages, messages / 100, false},
		{"removed what it does not have", 100, 1000, 1 << 20, 600, 1, messages, messages/100 - 1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			limits := history.DefaultLimits()
			limits.Messages = messages
			h := New(7, limits, nil)
			for i := range messages {
				channel := "d.x"
				if (i+1)%c.every == 0 {
					channel = fmt.Sprintf("c.%d", i/c.every%10)
				}
				h.Add("", "t", []byte(channel), wire.Position{Epoch: 7, N: uint64(i) + 1, T: 1}, nil, []byte("four"), 4)
			}
			g := NewPaging(&history.Query{Tenant: "t", Pattern: p, MaxMessages: c.most, MaxBytes: c.bytes})
			for step, done := uint64(1), false; !done; step++ {
				if done, err = g.Step(h, wire.Position{}); err != nil {
					t.Fatal(err)
				}
				if step == c.before {
					h.RemoveTo("t", c.removed)
				}
			}
			if len(g.Page.Messages) != c.want || g.Page.Through.N != c.through || g.Page.Removed.N > 0 != c.gap {
				t.Errorf("%d messages, through %v, removed %v", len(g.Page.Messages), g.Page.Through, g.Page.Removed)
			}
		})
	}
}

// What channels' own limits have removed is looked for once for a page, and later steps only look at
// what they have removed since.
func TestFloorsOfAPage(t *testing.T) {
	p, err := pattern.Parse("c.*")
	if err != nil {
		t.Fatal(err)
	}
	limits := history.DefaultLimits()
	limits.Messages = 1
	for _, c := range []struct {
		name   string
		others int  // channels that others roll after the first step
		match  bool // one that matches rolls before them
	}{
		{"nothing", 0, false}, {"others", maxRaised, false}, {"a match", 0, true}, {"a match and very many", maxRaised, true},
	} {
		h := New(7, limits, nil)
		add := func(channel string) {
			h.Add("", "t", []byte(channel), h.Next("t", time.UnixMilli(1_000_000)), nil, nil, 0)
		}
		for i := range 4 * maxScan {
			add(fmt.Sprint("d.", i))
		}
		for range 2 {
			for i := range 100 {
				add(fmt.Sprint("e.", i))
			}
		}
		g := NewPaging(&history.Query{Tenant: "t", Pattern: p, MaxMessages: 10, MaxBytes: 1000})
		if done, _ := g.Step(h, wire.Position{}); done || g.Page.Removed.N != 0 {
			t.Fatalf("after the first step: %v %v", done, g.Page.Removed)
		}
		if c.match {
			add("c.a")
			add("c.a")
		} else {
			h.tenants["t"].rolled[0].name = "c.b" // which nobody is to look at again
		}
		for i := range c.others {
			add(fmt.Sprint("e.", i))
		}
		for done := false; !done; {
			done, _ = g.Step(h, wire.Position{})
		}
		if g.Page.Removed.N > 0 != c.match {
			t.Errorf("%s: removed to %v", c.name, g.Page.Removed)
		}
	}
}

// One page of a tenant is read at a time, and one step of all tenants.
func TestTurns(t *testing.T) {
	var turns Turns
	var all sync.WaitGroup
	var mu sync.Mutex
	pages, inStep := map[string]int{}, 0
	for i := range 20 {
		tenant, steps := fmt.Sprint("t", i%2), 0
		all.Go(func() {
			err := turns.Do(t.Context(), tenant, func() (bool, error) {
				mu.Lock()
				if inStep++; inStep > 1 {
					t.Error("two steps at once")
				}
				if steps == 0 {
					pages[tenant]++
				}
				if pages[tenant] > 1 {
					t.Error("two pages of a tenant at once")
				}
				mu.Unlock()
				time.Sleep(time.Microsecond) // others may come in, if they can
				mu.Lock()
				defer mu.Unlock()
				inStep--
				if steps++; steps == 5 {
					pages[tenant]--
				}
				return steps == 5, nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// Who does not wait any more takes no turn, and no further step.
func TestTurnsEndWithTheirContext(t *testing.T) {
	var turns Turns
	ctx, cancel := context.WithCancel(t.Context())
	steps := 0
	err := turns.Do(ctx, "t", func() (bool, error) {
		steps++
		cancel()
		return false, turns.Do(ctx, "t", nil)
	})
	if !errors.Is(err, context.Canceled) || steps != 1 {
		t.Errorf("%d steps, and %v", steps, err)
	}
	if err = turns.Do(ctx, "u", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a step is taken: %v", err)
	}
}
