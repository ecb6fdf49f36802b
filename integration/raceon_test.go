//go:build race

package integration

// buildFlags builds the binary under test as this test binary was built.
var buildFlags = []string{"-race"}
