package client

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestProbe(t *testing.T) {
	const ms = time.Millisecond
	for _, test := range []struct {
		name      string
		latencies map[string]time.Duration // 0: it fails at once
		want      string
		within    time.Duration
	}{
		{"by latency", map[string]time.Duration{"a": 30 * ms, "b": 10 * ms, "c": 20 * ms}, "bca", 30 * ms},
		{"one fails", map[string]time.Duration{"a": 0, "b": 20 * ms, "c": 10 * ms}, "cba", 20 * ms},
		{"one hangs", map[string]time.Duration{"a": time.Hour, "b": 20 * ms, "c": 10 * ms}, "cba", 20*ms + probeGrace},
		{"all fail", map[string]time.Duration{"a": 0, "b": 0, "c": 0}, "abc", 0},
		{"all hang", map[string]time.Duration{"a": time.Hour, "b": time.Hour, "c": time.Hour}, "abc", 10 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				got := probe(t.Context(), []string{"a", "b", "c"}, func(ctx context.Context, origin string) (time.Duration, error) {
					latency := test.latencies[origin]
					if latency == 0 {
						return 0, errors.New("no")
					}
					select {
					case <-time.After(latency):
						return latency, nil
					case <-ctx.Done():
						return 0, ctx.Err()
					}
				}, 10*time.Second)
				if strings.Join(got, "") != test.want || time.Since(start) > test.within {
					t.Errorf("got %v after %v, want %s within %v", got, time.Since(start), test.want, test.within)
				}
			})
		})
	}
}
