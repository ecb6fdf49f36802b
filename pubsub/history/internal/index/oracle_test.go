package index

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

// told is one message of the oracle: all that there ever was.
type told struct {
	at      wire.Position
	channel string
	gone    bool
}

// Random operations against a list of all that was ever stored. Whoever reads from a place
// on and is not notified of a removal gets every message behind it, and what is told is exact
// but for removals that concern all channels.
func TestOracle(t *testing.T) {
	for range 30 {
		seed := rand.Uint64()
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			o := &oracle{T: t, random: rand.New(rand.NewPCG(seed, 2)), all: map[string][]told{}, now: time.UnixMilli(1_000_000)}
			o.limits = history.Limits{Messages: 5, Age: time.Minute, Size: 40_000}
			o.index = New(7, o.limits, func(tenant string, e *Entry) {
				i := slices.IndexFunc(o.all[tenant], func(m told) bool { return m.at.N == e.N })
				if o.all[tenant][i].gone || o.all[tenant][i].channel != e.Channel() {
					t.Fatalf("%d of %s is removed again, or from another channel", e.N, tenant)
				}
				o.all[tenant][i].gone = true
			})
			for range 600 {
				o.step()
				o.check()
			}
		})
	}
}

type oracle struct {
	*testing.T
	random *rand.Rand
	index  *History
	limits history.Limits
	now    time.Time
	all    map[string][]told
}

func (o *oracle) step() {
	tenant := []string{"t", "u"}[o.random.IntN(2)]
	channel := fmt.Sprintf("c.%d", o.random.IntN(4))
	switch n := o.random.IntN(100); {
	case n < 80:
		at := o.index.Next(tenant, o.now)
		if list := o.all[tenant]; len(list) > 0 && (at.N <= list[len(list)-1].at.N || at.T < list[len(list)-1].at.T) {
			o.Fatalf("%v follows %v", at, list[len(list)-1].at)
		}
		o.all[tenant] = append(o.all[tenant], told{at: at, channel: channel})
		o.index.Expire(o.now, o.index.messages)
		size := o.random.IntN(2000)
		o.index.Add("", tenant, []byte(channel), at, nil, make([]byte, size), size)
	case n < 90:
		o.now = o.now.Add(time.Duration(o.random.IntN(30)) * time.Second)
		o.index.Expire(o.now, o.index.messages)
	case n < 95:
		o.limits.Messages = 1 + o.random.IntN(8)
		o.limits.Size = int64(10_000 + o.random.IntN(40_000))
		for s := o.index.SetLimits(o.limits); !s.Step(o.index, o.now); {
		}
	case n < 98:
		purge(o.index, tenant, channel)
	default:
		purge(o.index, tenant, "")
	}
}

func purge(h *History, tenant, channel string) {
	for p := NewPurge(h, tenant, channel); !p.Step(); {
	}
}

func (o *oracle) check() {
	bytes, messages := int64(0), 0
	for name, t := range o.index.tenants {
		kept := slices.DeleteFunc(slices.Clone(o.all[name]), func(m told) bool { return m.gone })
		messages += len(kept)
		bytes += t.bytes
		if t.live != len(kept) || len(t.entries) > 4*t.live+128 {
			o.Fatalf("%s has %d of %d entries, and lists %d", name, t.live, len(kept), len(t.entries))
		}
		perChannel := map[string]int{}
		for _, m := range kept {
			perChannel[m.channel]++
			if m.at.T <= uint64(o.now.Add(-o.limits.Age).UnixMilli()) {
				o.Fatalf("%v is too old", m.at)
			}
		}
		for channel, n := range perChannel {
			if n > o.limits.Messages {
				o.Fatalf("%s has %d messages, may have %d", channel, n, o.limits.Messages)
			}
		}
		o.checkReads(name)
	}
	if messages != o.index.messages || bytes != o.index.bytes || bytes > o.limits.Size && messages > 1 {
		o.Fatalf("%d messages, counted %d; %d bytes, counted %d, limit %d", messages, o.index.messages, bytes, o.index.bytes, o.limits.Size)
	}
}

func (o *oracle) checkReads(tenant string) {
	text := []string{"c.*", "#", "c.1", "d"}[o.random.IntN(4)]
	p, err := pattern.Parse(text)
	if err != nil {
		o.Fatal(err)
	}
	after := uint64(o.random.IntN(len(o.all[tenant]) + 1))
	var want, got []string
	lost := uint64(0)
	for _, m := range o.all[tenant] {
		switch {
		case m.at.N <= after || !p.Match(m.channel):
		case m.gone:
			lost = m.at.N
		default:
			want = append(want, fmt.Sprintf("%s@%d", m.channel, m.at.N))
		}
	}
	removed := wire.Position{}
	for cursor, head := after, o.index.Head(tenant).N; ; {
		page := o.index.read(&history.Query{Tenant: tenant, Pattern: p, After: cursor, MaxMessages: 1 + o.random.IntN(5), MaxBytes: 5000}, nil)
		if cursor == after {
			removed = page.Removed
		}
		for _, e := range page.Entries {
			got = append(got, fmt.Sprintf("%s@%d", e.Channel(), e.N))
		}
		if page.Through.N >= head {
			break
		}
		if page.Through.N <= cursor {
			o.Fatalf("a page after %d reaches %v", cursor, page.Through)
		}
		cursor = page.Through.N
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		o.Fatalf("%s %s after %d: got %v, want %v", tenant, text, after, got, want)
	}
	if lost > removed.N {
		o.Fatalf("%s %s after %d: %d is lost, and removals are told up to %v", tenant, text, after, lost, removed)
	}
	if removed.N > after && lost == 0 && removed != o.index.Floor(tenant) {
		o.Fatalf("%s %s after %d: a removal at %v, and nothing is lost", tenant, text, after, removed)
	}
	if removed.N > 0 {
		if m := o.all[tenant][removed.N-1]; m.at != removed {
			o.Fatalf("removed up to %v, where %v stood", removed, m.at)
		}
	}
	for _, m := range o.all[tenant] {
		if !o.index.Knows(tenant, m.at) {
			o.Fatalf("%v is not known", m.at)
		}
		wrong := m.at
		wrong.T += 120_000
		if o.index.Knows(tenant, wrong) && m.at.N > max(after, removed.N) && text == "#" {
			o.Fatalf("%v is known, and it was %v", wrong, m.at)
		}
	}
}

// Tenants without messages are forgotten when there are many, and their numbers are not
// given again.
func TestForgottenTenants(t *testing.T) {
	h := New(7, history.DefaultLimits(), nil)
	now := time.UnixMilli(1_000_000)
	for i := range 5 {
		at := h.Next("first", now)
		if at.N != uint64(i+1) {
			t.Fatal(at)
		}
		h.Add("", "first", []byte("c"), at, nil, nil, 0)
	}
	last := h.Head("first")
	purge(h, "first", "")
	for i := range maxIdleTenants + 1 {
		name := fmt.Sprintf("t%d", i)
		h.Add("", name, []byte("c"), h.Next(name, now), nil, nil, 0)
		purge(h, name, "")
	}
	if n := len(h.tenants); n > maxIdleTenants {
		t.Errorf("%d tenants are remembered", n)
	}
	if at := h.Next("first", now); at.N <= last.N {
		t.Errorf("%v follows %v", at, last)
	}
	p, err := pattern.Parse("#")
	if err != nil {
		t.Fatal(err)
	}
	h.Add("", "first", []byte("c"), h.Next("first", now), nil, nil, 0)
	page := h.read(&history.Query{Tenant: "first", Pattern: p, After: last.N - 1, MaxMessages: 10, MaxBytes: 1000}, nil)
	if page.Removed.N < last.N {
		t.Errorf("%+v: who stood at %d is told nothing", page, last.N-1)
	}
}

// With the default limits, what a message costs does not depend on how many others there are.
func BenchmarkAdd(b *testing.B) {
	h := New(7, history.DefaultLimits(), nil)
	now := time.Now()
	channels := make([][]byte, 1000)
	for i := range channels {
		channels[i] = fmt.Appendf(nil, "chat.%d", i)
	}
	payload := make([]byte, 128)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		h.Add("", "t", channels[i%len(channels)], h.Next("t", now), nil, payload, len(payload))
	}
}
