package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestConfined starts a server on one core, and one that has to wait for others.
func TestConfined(t *testing.T) {
	cores := usableCores()
	if len(cores) == 0 {
		t.Fatal("no core is usable")
	}
	core := cores[len(cores)-1]
	for _, idle := range []bool{false, true} {
		l, err := newLauncher(core, idle)
		if err != nil {
			t.Fatal(err)
		}
		process, _, err := startServer(t.Context(), l, floorQueue, false)
		if err != nil {
			t.Fatal(err)
		}
		status := fmt.Sprintf("/proc/%d/status", process.pid())
		if got, _ := fileField(status, "Cpus_allowed_list"); got != fmt.Sprint(core) {
			t.Errorf("the server may run on %q, want core %d", got, core)
		}
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", process.pid()))
		if err != nil {
			t.Fatal(err)
		}
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if got := fields[41-3] == "5"; got != idle { // field 41, policy; SCHED_IDLE is 5
			t.Errorf("policy %s, idle: %v", fields[41-3], idle)
		}
		process.stop()
		if process.err != nil {
			t.Errorf("the server ended with %v", process.err)
		}
		l.close()
	}
}

// TestLauncherEndsProcesses: those that nobody has stopped.
func TestLauncherEndsProcesses(t *testing.T) {
	l, err := newLauncher(-1, false)
	if err != nil {
		t.Fatal(err)
	}
	process, _, err := startServer(t.Context(), l, floorQueue, false)
	if err != nil {
		t.Fatal(err)
	}
	l.close()
	select {
	case <-process.exited:
	case <-time.After(waitTimeout):
		t.Error("the server still runs")
		process.kill()
	}
}

// TestInterrupt ends the program at the end of its second run: only that one's
// server still runs, then no process does, and what was measured is printed.
func TestInterrupt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := smallScale
	s.Rounds = 1000
	o := options{Servers: []string{floorQueue, natsServer}, Groups: []string{groupFanout}}
	var out bytes.Buffer
	var running []string
	log := &trigger{word: "nats-server  ", call: func() {
		running = children(t)
		cancel()
	}}
	if err := table(ctx, o, s, &out, log); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
	if !strings.Contains(out.String(), "| "+rowNames[floorQueue]+" | ") {
		t.Errorf("no table in\n%s", out.String())
	}
	if len(running) != 1 {
		t.Errorf("running beside each other: %v", running)
	}
	if left := children(t); len(left) > 0 {
		t.Errorf("still running: %v", left)
	}
}

// trigger is a log that acts on a word.
type trigger struct {
	word string
	call func()
}

func (l *trigger) Write(p []byte) (int, error) {
	if strings.Contains(string(p), l.word) {
		l.call()
	}
	return len(p), nil
}

// children lists the processes that this one has, ended ones included until
// somebody has waited for them.
func children(t *testing.T) (found []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(files) == 0 {
		t.Fatalf("no processes: %v", err)
	}
	for _, file := range files {
		stat, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if fields[4-3] == fmt.Sprint(os.Getpid()) { // field 4, parent
			found = append(found, file)
		}
	}
	return found
}
