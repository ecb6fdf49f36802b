//go:build race

package integration

// buildFlags builds the binary under test as this test binary was built.
var buildFlags = []string{"-race"}

// orderedMessages is fewer than a million, as the edges are ten times as slow.
const orderedMessages = 100_000

// revocations that are measured; they say little here.
const revocations = 30
