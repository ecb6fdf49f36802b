package harness

import (
	"os"
	"strconv"
	"testing"
	"time"
)

// Soaking says that this is a run of `make soak`, which has hours: other runs use a short
// form of what needs many rounds, large loads or long waits.
var Soaking = os.Getenv("MILLRACE_SOAK") != ""

// AtLength returns soak in a soak, and else short.
func AtLength[T any](short, soak T) T {
	if Soaking {
		return soak
	}
	return short
}

// SoakFor returns how long a test runs; MILLRACE_SOAK_TIME, such as 10m, overrides it.
func SoakFor(t *testing.T, short, soak time.Duration) time.Duration {
	t.Helper()
	text := os.Getenv("MILLRACE_SOAK_TIME")
	if text == "" {
		return AtLength(short, soak)
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		t.Fatalf("MILLRACE_SOAK_TIME is %q, want a duration such as 10m", text)
	}
	return d
}

// SoakCount returns how much a test does; MILLRACE_SOAK_COUNT overrides it.
func SoakCount(t *testing.T, short, soak int) int {
	t.Helper()
	text := os.Getenv("MILLRACE_SOAK_COUNT")
	if text == "" {
		return AtLength(short, soak)
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("MILLRACE_SOAK_COUNT is %q, want a number", text)
	}
	return n
}

// Seed starts a test's random choices. It is logged: MILLRACE_SEED repeats them.
func Seed(t *testing.T) uint64 {
	t.Helper()
	s := uint64(time.Now().UnixNano())
	if text := os.Getenv("MILLRACE_SEED"); text != "" {
		var err error
		if s, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("MILLRACE_SEED is %q, want a number", text)
		}
	}
	t.Logf("MILLRACE_SEED=%d", s)
	return s
}
