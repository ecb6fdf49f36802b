package dial

import (
	"context"
	"fmt"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"
)

// A lookup takes longer than an attempt may: the next one has its result, and the one after
// that looks for itself.
func TestPatient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before := lookup
		defer func() { lookup = before }()
		lookups := 0
		lookup = func(ctx context.Context, _ string) ([]netip.Addr, error) {
			lookups++
			select {
			case <-time.After(5 * time.Second):
				return []netip.Addr{netip.MustParseAddr("1.1.1.1")}, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		p := NewPatient()
		attempt := func() string {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			found, err := p.lookup(ctx, "nats.test")
			return fmt.Sprint(found, err)
		}
		const late = "[] lookup nats.test: the name server does not answer in time"
		for i, want := range []string{late, late, "[1.1.1.1] <nil>", late} {
			if got := attempt(); got != want {
				t.Errorf("attempt %d: %s, want %s", i+1, got, want)
			}
		}
		p.Close()
		if lookups != 2 {
			t.Errorf("%d lookups, want 2", lookups)
		}
	})
}
