package integration

import (
	"os"
	"time"
)

// soaking says that this is a run of `make soak`, which has hours: everything
// else tries what needs many rounds, large loads or long waits in a short form.
var soaking = os.Getenv("MILLRACE_SOAK") != ""

// atLength is how often or how much: short, or in a soak at length.
func atLength[T any](short, soak T) T {
	if soaking {
		return soak
	}
	return short
}

// promptly is how soon what docs/protocol.md promises within a second must be there.
// Only a soak takes the promise at its word, as it has the machine for itself: what
// never happens shows on a busy one, too.
var promptly = atLength(10*time.Second, time.Second)
