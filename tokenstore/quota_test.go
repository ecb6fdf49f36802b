package tokenstore_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/tokenstore/storetest"
)

func TestQuota(t *testing.T) {
	b := newIndexedTestbed(t, storetest.NewMemory(), tokenstore.Config{Quota: tokenstore.Quota{MaxTokens: 2}})
	own := b.master(tokenstore.MasterSpec{Quota: tokenstore.Quota{MaxTokens: 3}})
	byDefault := b.master(tokenstore.MasterSpec{})
	for name, c := range map[string]struct {
		master *tokenstore.Master
		most   int
	}{"own": {own, 3}, "default": {byDefault, 2}} {
		var ids []string
		for range c.most {
			ids = append(ids, b.mustIssue(c.master, "t"))
		}
		// A revoked token counts as long as it is kept.
		must(t, b.RevokeByID(t.Context(), c.master, ids[0]))
		_, err := b.issue(c.master, "t")
		if !errors.Is(err, tokenstore.ErrQuotaExceeded) || !strings.Contains(err.Error(), fmt.Sprint("at most ", c.most)) {
			t.Errorf("%s: one more: %v", name, err)
		}
		rec, err := b.store.Get(t.Context(), tokenstore.KindAccess, ids[0])
		must(t, err)
		must(t, b.store.Delete(t.Context(), rec.Kind, rec.ID, rec.Version))
		b.mustIssue(c.master, "t")
	}
	for range 5 {
		b.mustIssue(b.Overlay(), "t") // which has none
	}
	// A change of the quota holds at once, for who authenticates again.
	m, err := b.UpdateMaster(t.Context(), own.ID, tokenstore.MasterPatch{MaxTokens: new(4)})
	must(t, err)
	raised := *own
	raised.Quota = m.Quota
	b.mustIssue(&raised, "t")
}

func TestQuotaOfBytes(t *testing.T) {
	b := newIndexedTestbed(t, storetest.NewMemory(), tokenstore.Config{})
	m := b.master(tokenstore.MasterSpec{Quota: tokenstore.Quota{MaxBytes: 1000}})
	for range 10 {
		if _, err := b.issue(m, "t"); errors.Is(err, tokenstore.ErrQuotaExceeded) {
			var bytes int
			if err := b.store.Scan(t.Context(), tokenstore.KindAccess, "", func(rec tokenstore.Record) bool {
				bytes += len(rec.Value)
				return true
			}); err != nil || bytes > 1000 || bytes < 500 {
				t.Errorf("%d bytes of 1,000, %v", bytes, err)
			}
			return
		}
	}
	t.Error("no bound")
}

// Callers at the same time get no more than one after the other.
func TestQuotaRace(t *testing.T) {
	b := newIndexedTestbed(t, storetest.NewMemory(), tokenstore.Config{})
	m := b.master(tokenstore.MasterSpec{Quota: tokenstore.Quota{MaxTokens: 20}})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 10 {
				if _, err := b.issue(m, "t"); err != nil && !errors.Is(err, tokenstore.ErrQuotaExceeded) {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if ids, _ := b.pages(b.Overlay(), tokenstore.ListOptions{}); len(ids) != 20 {
		t.Errorf("%d tokens, want 20", len(ids))
	}
}

func TestCallsPerSecond(t *testing.T) {
	now := time.Now()
	b := newIndexedTestbed(t, storetest.NewMemory(), tokenstore.Config{
		Now: func() time.Time { return now }, Quota: tokenstore.Quota{CallsPerSecond: 5},
	})
	calls := func(m *tokenstore.Master) (allowed int) {
		for range 30 {
			if err := b.Allow(m); err == nil {
				allowed++
			} else if !errors.Is(err, tokenstore.ErrTooManyRequests) {
				t.Fatal(err)
			}
		}
		return allowed
	}
	one, other := b.master(tokenstore.MasterSpec{}), b.master(tokenstore.MasterSpec{Quota: tokenstore.Quota{CallsPerSecond: 10}})
	if a, b := calls(one), calls(other); a != 5 || b != 10 {
		t.Errorf("%d and %d calls, want 5 and 10", a, b)
	}
	now = now.Add(time.Second)
	equal(t, "calls in the next second", calls(one), 5)
	one.CallsPerSecond = 7
	equal(t, "calls at the time of a change", calls(one), 0)
	now = now.Add(time.Second)
	equal(t, "calls after a change", calls(one), 7)
	equal(t, "calls of the operator", calls(b.Overlay()), 30)
}

func TestBadQuota(t *testing.T) {
	b := newIndexedTestbed(t, storetest.NewMemory(), tokenstore.Config{})
	for path, q := range map[string]tokenstore.Quota{
		"max_tokens": {MaxTokens: -1}, "max_bytes": {MaxBytes: 1 << 41}, "calls_per_second": {CallsPerSecond: -5},
	} {
		_, _, err := b.CreateMaster(t.Context(), tokenstore.MasterSpec{Name: "n", Quota: q})
		var bad *tokenstore.InvalidError
		if !errors.As(err, &bad) || bad.Path != path {
			t.Errorf("%s: %v", path, err)
		}
		if _, err := tokenstore.NewService(b.store, tokenstore.Config{Quota: q}); err == nil {
			t.Errorf("%s: a service with such a default", path)
		}
	}
}
