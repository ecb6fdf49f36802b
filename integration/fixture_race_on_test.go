//go:build race

package integration

// buildFlags builds the binary under test as this test binary was built.
var buildFlags = []string{"-race"}

// orderedMessages is fewer than without the race detector, as the edges are ten
// times as slow.
var orderedMessages = atLength(20_000, 100_000)

// revocations that are measured; they say little here.
const revocations = 30
