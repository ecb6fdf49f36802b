package tokenstore

import (
	"fmt"
	"testing"
)

func TestCacheIsBounded(t *testing.T) {
	var c accessCache
	for i := range 3 * maxCached {
		e := &compiled{access: &Access{ID: fmt.Sprint(i), Version: 7}}
		c.put(e)
		c.put(e)
		if c.get(e.access.ID, 7) != e || c.get(e.access.ID, 8) != nil {
			t.Fatalf("entry %d is not found, or found under another version", i)
		}
	}
	if len(c.byID) != maxCached {
		t.Errorf("%d entries, want %d", len(c.byID), maxCached)
	}
	if c.get(fmt.Sprint(2*maxCached), 7) == nil || c.get(fmt.Sprint(2*maxCached-1), 7) != nil {
		t.Error("not the oldest entries were dropped")
	}
}
