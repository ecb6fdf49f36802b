//go:build !race

package integration

// buildFlags builds the binary under test as this test binary was built.
var buildFlags []string

// orderedMessages is how many are sent to see that none overtakes another.
var orderedMessages = atLength(100_000, 1_000_000)

// revocations that are measured.
var revocations = atLength(100, 1000)
