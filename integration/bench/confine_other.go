//go:build !linux

package main

import (
	"errors"
	"syscall"
)

func confine(core int, idle bool) error {
	if core >= 0 || idle {
		return errors.New("processes are pinned on Linux alone")
	}
	return nil
}

func onMainThread() bool { return false }

// usableCores returns none: nothing is pinned.
func usableCores() []int { return nil }

func processAttributes() *syscall.SysProcAttr { return nil }
