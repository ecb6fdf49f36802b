//go:build !race

package integration

// buildFlags builds the binary under test as this test binary was built.
var buildFlags []string

// orderedMessages is how many are sent to see that none overtakes another.
const orderedMessages = 1_000_000

// revocations that are measured.
const revocations = 1000
