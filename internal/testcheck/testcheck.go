// Package testcheck has the shortest assertions of tests, which many packages share.
package testcheck

import "testing"

// Must ends a test where there is an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// NoError fails a test where there is an error. The test goes on.
func NoError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}
