package loadgen

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// A process is the measured server, as Linux shows it under /proc. On other systems, and
// without a PID, nothing of it is measured.
type process struct{ dir string }

// newProcess returns an *OptionError if there is no such process.
func newProcess(pid int) (process, error) {
	if pid == 0 || runtime.GOOS != "linux" {
		return process{}, nil
	}
	p := process{fmt.Sprintf("/proc/%d", pid)}
	if _, err := os.Stat(p.dir + "/stat"); err != nil {
		return p, &OptionError{"server-pid", "a process of this machine"}
	}
	return p, nil
}

const clockTick = 100 // ticks a second in /proc on all architectures that Go knows

// cpu is the user and system time of the process, s (proc_pid_stat(5)).
func (p process) cpu() float64 {
	if p.dir == "" {
		return 0
	}
	stat, err := os.ReadFile(p.dir + "/stat")
	if err != nil {
		return 0 // it has ended, which the connections notice
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])) // from field 3
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.ParseFloat(fields[11], 64)
	system, _ := strconv.ParseFloat(fields[12], 64)
	return (user + system) / clockTick
}

// memory is VmRSS, bytes (proc_pid_status(5)).
func (p process) memory() (int64, bool) {
	if p.dir == "" {
		return 0, false
	}
	status, err := os.ReadFile(p.dir + "/status")
	if err != nil {
		return 0, false
	}
	_, rest, found := strings.Cut(string(status), "\nVmRSS:")
	fields := strings.Fields(rest)
	if !found || len(fields) == 0 {
		return 0, false
	}
	kib, err := strconv.ParseInt(fields[0], 10, 64)
	return kib << 10, err == nil
}

// A reading holds the values of the counters at one moment.
type reading struct {
	at              time.Time
	server, self    float64 // CPU, s
	delivered, sent int64
}

// seconds returns the time between two readings, s; 0 if one is missing.
func (r reading) seconds(before reading) float64 {
	if r.at.IsZero() || before.at.IsZero() {
		return 0
	}
	return r.at.Sub(before.at).Seconds()
}
