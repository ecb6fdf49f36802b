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

// top says whether the result is that of a test, and not of a subtest of Go's. The names of
// other tests may have slashes, too.
func top(e event) bool {
	name, _, sub := strings.Cut(e.Test, "/")
	return !sub || strings.Contains(name, " ") || !strings.HasPrefix(name, "Test") && !strings.HasPrefix(name, "Fuzz")
}
