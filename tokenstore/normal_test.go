package tokenstore

import (
	"fmt"
	"testing"
	"time"
)

// FuzzOrigin: what is accepted is a fixed point, so equal origins are equal
// strings.
func FuzzOrigin(f *testing.F) {
	for _, s := range []string{"null", "https://A.example:443", "http://[::1]:80", "x+y://a_b.c:9", "https://", "https://a/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		norm, ok := normalizeOrigin(s)
		if !ok {
			return
		}
		if again, ok := normalizeOrigin(norm); !ok || again != norm {
			t.Errorf("%q gives %q, which gives %q, %v", s, norm, again, ok)
		}
	})
}

// FuzzExpiry: what is accepted is in range, and its answer is accepted again
// as the same time.
func FuzzExpiry(f *testing.F) {
	now := time.Date(2030, 1, 1, 12, 0, 0, 1, time.UTC)
	for _, s := range []string{"2030-01-01T13:00:00Z", "2030-01-01t13:00:00.5+01:00", "2030-01-02T12:00:00-00:00", "2030-01-01T1:00:00Z", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		end, err := parseExpiry("p", s, now)
		if err != nil {
			return
		}
		if !end.After(now) || end.After(now.Add(MaxLifetime)) || end.Nanosecond() != 0 {
			t.Errorf("%q gives %v", s, end)
		}
		if again, err := parseExpiry("p", end.Format(time.RFC3339), now); err != nil || !again.Equal(end) {
			t.Errorf("%q gives %v, which gives %v, %v", s, end, again, err)
		}
	})
}

func TestCacheIsBounded(t *testing.T) {
	var c accessCache
	for i := range 3 * cacheSize {
		e := &compiled{access: &Access{ID: fmt.Sprint(i), Version: 7}}
		c.put(e)
		c.put(e)
		if c.get(e.access.ID, 7) != e || c.get(e.access.ID, 8) != nil {
			t.Fatalf("entry %d is not found, or found under another version", i)
		}
	}
	if len(c.byID) != cacheSize {
		t.Errorf("%d entries, want %d", len(c.byID), cacheSize)
	}
	if c.get(fmt.Sprint(2*cacheSize), 7) == nil || c.get(fmt.Sprint(2*cacheSize-1), 7) != nil {
		t.Error("not the oldest entries were dropped")
	}
}
