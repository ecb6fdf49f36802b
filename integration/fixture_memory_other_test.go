//go:build !linux

package integration

// residentMiB is zero where there is no /proc: tests then check all but the
// edge's memory.
func (e *edge) residentMiB() int { return 0 }
