//go:build race

package main

// buildFlags make the measured program like the tests that measure it: for the
// race detector, never for figures.
var buildFlags = []string{"-race"}
