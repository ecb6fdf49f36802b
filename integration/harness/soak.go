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
	return fromEnv(t, "MILLRACE_SOAK_TIME", AtLength(short, soak), time.ParseDuration)
}

// SoakCount returns how much a test does; MILLRACE_SOAK_COUNT overrides it.
func SoakCount(t *testing.T, short, soak int) int {
	t.Helper()
	return fromEnv(t, "MILLRACE_SOAK_COUNT", AtLength(short, soak), strconv.Atoi)
}

// Seed starts a test's random choices. It is logged: MILLRACE_SEED repeats them.
func Seed(t *testing.T) uint64 {
	t.Helper()
	s := fromEnv(t, "MILLRACE_SEED", uint64(time.Now().UnixNano()), func(text string) (uint64, error) {
		return strconv.ParseUint(text, 10, 64)
	})
	t.Logf("MILLRACE_SEED=%d", s)
	return s
}

func fromEnv[T int | uint64 | time.Duration](t *testing.T, name string, otherwise T, parse func(string) (T, error)) T {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	v, err := parse(text)
	if err != nil || v <= 0 {
		t.Fatalf("%s is %q, want a number, or a duration such as 10m", name, text)
	}
	return v
}
