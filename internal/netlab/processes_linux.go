package netlab

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Signal sends a signal to all processes of a machine that has a namespace of its own.
func (m Machine) Signal(s syscall.Signal) error {
	if m.Namespace == "" {
		return errors.New("that would be this process")
	}
	var errs []error
	for done := map[int]bool{}; ; { // until none was started meanwhile
		pids, err := processes(m.Namespace)
		errs = append(errs, err)
		known := len(done)
		for _, pid := range pids {
			if done[pid] {
				continue
			}
			done[pid] = true
			if err := syscall.Kill(pid, s); err != nil && !errors.Is(err, syscall.ESRCH) {
				errs = append(errs, err)
			}
		}
		if len(done) == known {
			return errors.Join(errs...)
		}
	}
}

// processes returns the processes inside a namespace, and their descendants: a browser has
// some in namespaces of their own, without a network.
func processes(ns string) (pids []int, err error) {
	out, err := exec.Command("ip", "netns", "pids", ns).Output()
	if err != nil {
		return nil, fmt.Errorf("ip netns pids %s: %w", ns, err)
	}
	for _, field := range strings.Fields(string(out)) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			return nil, err
		}
		if pid == os.Getpid() {
			continue
		}
		pids = append(pids, pid)
	}
	children, err := children()
	for i := 0; i < len(pids); i++ { // more are added meanwhile
		for _, child := range children[pids[i]] {
			if !slices.Contains(pids, child) {
				pids = append(pids, child)
			}
		}
	}
	return pids, err
}

// children returns the children of each process, by its ID (proc_pid_stat(5)).
func children() (map[int][]int, error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	list := map[int][]int{}
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			return nil, err
		}
		// The name, in parentheses, may have spaces and parentheses.
		fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
		if len(fields) < 2 {
			return nil, fmt.Errorf("%s is %q", path, text)
		}
		parent, err := strconv.Atoi(string(fields[1]))
		if err != nil {
			return nil, err
		}
		list[parent] = append(list[parent], pid)
	}
	return list, nil
}

// removeNamespace ends the processes in a namespace, and removes it with its files.
func removeNamespace(ns string) error {
	pids, _ := processes(ns)
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
	}
	return errors.Join(ip("netns", "del", ns), os.RemoveAll(filesOf(ns)))
}
