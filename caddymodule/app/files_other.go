//go:build !unix

package app

// openFiles is how many files the process may open; 0: any number.
func openFiles() int { return 0 }
