package natstest

import (
	"flag"
	"runtime"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// Limit bounds a wait for an event: only what is broken reaches it.
const Limit = 3 * time.Minute

// Await waits until something is so.
func Await(t testing.TB, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(Limit); !is(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			inVain(t, what)
		}
	}
}

// Receive waits for what a channel has, or for its end.
func Receive[T any](t testing.TB, what string, from <-chan T) (got T) {
	t.Helper()
	select {
	case got = <-from:
	case <-time.After(Limit):
		inVain(t, what)
	}
	return got
}

// inVain fails a test, and shows what runs.
func inVain(t testing.TB, what string) {
	t.Helper()
	stacks := make([]byte, 1<<20)
	t.Fatalf("waited %v in vain for %s\n%s", Limit, what, stacks[:runtime.Stack(stacks, true)])
}

// Main runs the tests of a package, and looks for goroutines that they have left. More
// tests than there are processors run at a time, as most wait for servers and clocks.
func Main(m *testing.M) {
	_ = flag.Set("test.parallel", "16") // the command line comes later
	goleak.VerifyTestMain(m)
}
