//go:build unix

package app

import "syscall"

// openFiles is how many files the process may open; 0: any number. Go raises the soft limit to the hard one
// when the process starts.
func openFiles() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil || limit.Cur > maxFiles {
		return 0
	}
	return int(limit.Cur)
}
