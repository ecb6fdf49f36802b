package index

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

// What is asked of the newest messages of very many channels is answered in parts.
func TestNewestInParts(t *testing.T) {
	const channels = 10 * maxScan
	l := history.DefaultLimits()
	l.Size = 1 << 30
	h := New(7, l, nil)
	now := time.UnixMilli(1_000_000)
	for i := range channels {
		h.Add("", "t", fmt.Appendf(nil, "c.%d.%d", i%100, i), h.Next("t", now), nil, nil, 0)
	}
	p, err := pattern.Parse("c.7.*")
	if err != nil {
		t.Fatal(err)
	}
	want := 0
	for i := 7; i < channels; i += 100 {
		want++
	}
	for _, limit := range []int{want, want - 1} {
		q := &history.Query{Tenant: "t", Pattern: p, Newest: true, MaxChannels: limit, MaxMessages: 10_000, MaxBytes: 1 << 20}
		count, done, parts, last := NewCount(q), false, 0, uint64(0)
		var err error
		for ; !done; parts++ {
			done, err = count.Step(h)
			if count.after-last > maxScan {
				t.Fatalf("a step went from %d to %d", last, count.after)
			}
			last = count.after
			if limit == want {
				h.Add("", "t", []byte("c.7.7"), h.Next("t", now), nil, nil, 0) // not counted twice
			}
		}
		if full := errors.Is(err, history.ErrTooManyChannels); full != (limit < want) {
			t.Errorf("with a limit of %d: %v", limit, err)
		}
		if parts < 3 {
			t.Errorf("all was looked at in %d steps", parts)
		}
	}
	got := map[string]int{}
	head := h.Head("t").N
	for after := uint64(0); after < head; {
		page := h.read(&history.Query{Tenant: "t", Pattern: p, Newest: true, After: after, MaxMessages: 10_000, MaxBytes: 1 << 20}, nil)
		if page.Through.N-after > maxScan || page.Through.N <= after {
			t.Fatalf("a page went from %d to %d", after, page.Through.N)
		}
		for _, e := range page.Entries {
			got[e.Channel()]++
		}
		after = page.Through.N
	}
	if len(got) != want {
		t.Errorf("%d channels, want %d", len(got), want)
	}
	for name, n := range got {
		if n != 1 {
			t.Errorf("%s comes %d times", name, n)
		}
	}
}

// Whether a reader has missed something is found out without a look at all channels.
func TestRemovedInSteps(t *testing.T) {
	const channels = 2 * maxFloors
	l := history.DefaultLimits()
	l.Size, l.Messages = 1<<30, 1
	h := New(7, l, nil)
	now := time.UnixMilli(1_000_000)
	for range 2 {
		for i := range channels {
			h.Add("", "t", fmt.Appendf(nil, "c.%d", i), h.Next("t", now), nil, nil, 0)
		}
	}
	p, err := pattern.Parse("d.*")
	if err != nil {
		t.Fatal(err)
	}
	rolled := h.tenants["t"].rolled
	if floor, steps := rolled.last(p, channels-10); floor.n != 0 || steps > 10 {
		t.Errorf("who has missed nothing: %v after %d steps", floor, steps)
	}
	if floor, steps := rolled.last(p, 0); floor.n != channels || steps > maxFloors {
		t.Errorf("who has missed much: %v after %d steps", floor, steps)
	}
}

// Keys are forgotten also where nobody asks whether they are repeated.
func TestKeysAreForgotten(t *testing.T) {
	h := New(1, history.Limits{Messages: 10, Age: time.Hour, Size: 1 << 30}, nil)
	now := time.Now()
	for i := range 10_000 {
		now = now.Add(time.Second)
		h.Expire(now, MaxStep)
		h.Remember("t", HashKey(&history.Message{Tenant: "t", Channel: []byte("c"), Key: []byte{byte(i), byte(i >> 8)}}), wire.Position{Epoch: 1, N: uint64(i) + 1}, now)
	}
	if most := int(history.KeyTime/time.Second) + 1; len(h.keys.known) > most || h.keys.byTenant["t"] > most || len(h.keys.queue.blocks) > 2+most/maxBlock {
		t.Errorf("%d keys are known, %d blocks are in the queue", len(h.keys.known), len(h.keys.queue.blocks))
	}
}

// A key of an earlier version is its sender's, in a store that may have some; another one does not even
// take the time for its hash.
func TestKeyOfAll(t *testing.T) {
	h, now := New(1, history.DefaultLimits(), nil), time.UnixMilli(1_000_000)
	m := &history.Message{Tenant: "t", Channel: []byte("c"), Key: []byte("k"), Sender: []byte("ann")}
	at := h.Next("t", now)
	h.Add("", "t", m.Channel, at, m.Sender, nil, 0)
	h.Remember("t", HashKeyOfAll(m), at, now)
	for _, ofAll := range []KeyHash{{}, HashKeyOfAll(m)} {
		if _, ok := h.Repeated(m, HashKey(m), ofAll, now); ok != (ofAll != KeyHash{}) {
			t.Errorf("%x: repeated %v", ofAll, ok)
		}
	}
	if hash := HashKeyOfAll(&history.Message{Key: m.Key}); hash != (KeyHash{}) {
		t.Errorf("without a sender: %x", hash)
	}
}

// However many keys are over at once, or entries of a list are not used any more, one message looks at a
// bounded number of them; and an expired key does not count.
func TestForgettingInSteps(t *testing.T) {
	const messages = 4 * MaxStep
	h := New(1, history.Limits{Messages: 2, Age: time.Hour, Size: 1 << 30}, nil)
	now := time.UnixMilli(1_000_000)
	var last *history.Message
	for i := range messages {
		last = &history.Message{Tenant: "t", Channel: []byte("c"), Key: fmt.Append(nil, i)}
		at := h.Next("t", now)
		h.Add("", "t", fmt.Append(nil, i), at, nil, nil, 0)
		h.Remember("t", HashKey(last), at, now)
	}
	now = now.Add(history.KeyTime)
	if _, ok := h.Repeated(last, HashKey(last), KeyHash{}, now); ok || len(h.keys.known) != messages-MaxStep {
		t.Errorf("repeated: %v, with %d keys left", ok, len(h.keys.known))
	}
	again := h.Next("t", now)
	h.Remember("t", HashKey(last), again, now)
	for range 4 {
		h.Expire(now, 0)
	}
	if at, ok := h.Repeated(last, HashKey(last), KeyHash{}, now); !ok || at != again || len(h.keys.known) != 1 || h.keys.byTenant["t"] != 1 {
		t.Errorf("a key that was stored again is at %v, %v; %d are left", at, ok, len(h.keys.known))
	}

	tenant, begun := h.tenants["t"], -1
	for i := 0; ; i++ { // in two channels, which roll
		before := len(tenant.entries)
		h.Add("", "t", fmt.Append(nil, i%2), h.Next("t", now), nil, nil, 0)
		if begun < 0 && tenant.shorter != nil {
			begun = i
		}
		if len(tenant.entries) < before {
			if begun < 0 || i-begun < messages/compactEach {
				t.Errorf("%d entries were looked at from message %d to %d", before, begun, i)
			}
			return
		}
	}
}

// What counts as removed of every tenant costs the same with many of them.
func TestFloorsOfManyTenants(t *testing.T) {
	const tenants = 100_000
	h := New(1, history.Limits{Messages: 10, Age: time.Hour, Size: 1 << 30}, nil)
	name := func(i uint64) string { return fmt.Sprint("t", i) }
	for i := range uint64(tenants) {
		h.Add("", name(i), []byte("c"), wire.Position{Epoch: 1, N: 2*i + 2, T: 1}, nil, nil, 0)
	}
	began := time.Now()
	for i := range uint64(tenants) {
		h.RaiseFloors(wire.Position{Epoch: 1, N: i + 1, T: 1}, wire.GapUnknown)
	}
	if took := time.Since(began); took > time.Minute { // instead of some ms, if each one costs as much as there are tenants
		t.Errorf("it took %v", took)
	}
	p, err := pattern.Parse("*")
	if err != nil {
		t.Fatal(err)
	}
	for _, tenant := range []string{name(0), name(tenants - 1), "new"} {
		if page := h.read(&history.Query{Tenant: tenant, Pattern: p, MaxMessages: 1, MaxBytes: 1}, nil); page.Removed.N != tenants {
			t.Errorf("%s: up to %v is removed", tenant, page.Removed)
		}
		if _, removed := h.Before(tenant, "c", 1); removed != tenants {
			t.Errorf("%s: before the last one, up to %d is removed", tenant, removed)
		}
		if floor := h.Floor(tenant); floor.N != tenants {
			t.Errorf("%s: the floor is %v", tenant, floor)
		}
	}
}
