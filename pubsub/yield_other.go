//go:build !unix

package pubsub

import "runtime"

// prepareYield does nothing.
func prepareYield() {}

// lookAtNetwork does nothing, see yield_unix.go: here what comes waits for up to 10 ms while processors are busy.
func lookAtNetwork() {}

// letOthersRun puts the goroutine behind those that are ready.
func letOthersRun() { runtime.Gosched() }
