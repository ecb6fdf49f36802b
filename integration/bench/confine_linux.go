package main

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// confine pins the calling thread to a core, unless core is -1, and gives it the
// scheduling class "idle" if asked to: sched_setaffinity(2), sched(7).
func confine(core int, idle bool) error {
	if core >= 0 {
		var set unix.CPUSet
		set.Set(core)
		if err := unix.SchedSetaffinity(0, &set); err != nil {
			return err
		}
	}
	if idle {
		return unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE}, 0)
	}
	return nil
}

// onMainThread reports whether the caller runs on the thread that the process began with.
func onMainThread() bool { return unix.Gettid() == unix.Getpid() }

// usableCores lists the cores that this process may use.
func usableCores() []int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return nil
	}
	var cores []int
	for core := range len(set) * 64 {
		if set.IsSet(core) {
			cores = append(cores, core)
		}
	}
	return cores
}

// processAttributes kill the process when the thread that started it ends, so
// that none stays behind whatever happens to this one, and keep Ctrl-C from it:
// stopping it is our part.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
