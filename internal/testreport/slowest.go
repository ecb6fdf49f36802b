package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// slowest prints the ten slowest tests, without subtests.
func slowest(w io.Writer, folder string) error {
	var tests []event
	if err := readResults(folder, func(e event) {
		if top(e) {
			tests = append(tests, e)
		}
	}); err != nil {
		return err
	}
	slices.SortStableFunc(tests, func(a, b event) int { return cmp.Compare(b.Elapsed, a.Elapsed) })
	if len(tests) == 0 {
		_, err := fmt.Fprintln(w, "no test ran: all results are from the cache")
		return err
	}
	fmt.Fprintln(w, "slowest tests")
	for _, e := range tests[:min(10, len(tests))] {
		fmt.Fprintf(w, "%8.1f s  %s  %s\n", e.Elapsed, e.Test, e.Package)
	}
	return nil
}

// top says whether the result is that of a test, and not of a subtest. The names of tests
// in Node may have slashes.
func top(e event) bool {
	return !strings.HasPrefix(e.Test, "Test") || !strings.Contains(e.Test, "/")
}
