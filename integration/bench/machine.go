package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

// A machine is what the figures depend on besides the code.
type machine struct {
	System   string `json:"system"` // kernel
	CPU      string `json:"cpu"`
	Cores    int    `json:"cores"`
	Memory   string `json:"memory,omitempty"`
	Go       string `json:"go"`
	Pinning  string `json:"pinning"`
	Millrace string `json:"millrace,omitempty"` // revision
	NATS     string `json:"nats_server"`
	MQTT     string `json:"mochi_mqtt"`
	Date     string `json:"date"`
}

func describeMachine(ctx context.Context, server, load int, program string) machine {
	m := machine{
		System: runtime.GOOS + "/" + runtime.GOARCH, CPU: "unknown", Cores: runtime.NumCPU(), Go: runtime.Version(),
		Date: time.Now().UTC().Format(time.DateOnly),
	}
	if out, err := exec.Command("uname", "-sr").Output(); err == nil {
		m.System = string(bytes.TrimSpace(out)) + " " + runtime.GOARCH
	}
	if model, ok := fileField("/proc/cpuinfo", "model name"); ok {
		m.CPU = model
	}
	if total, ok := fileField("/proc/meminfo", "MemTotal"); ok {
		if kib, err := strconv.Atoi(strings.TrimSuffix(total, " kB")); err == nil {
			m.Memory = fmt.Sprintf("%.0f GiB", float64(kib)/(1<<20))
		}
	}
	switch {
	case server >= 0:
		m.Pinning = fmt.Sprintf("server on core %d, generator on core %d", server, load)
	case runtime.GOOS == "linux":
		m.Pinning = "NONE: one core for server and generator; figures are not comparable"
	default:
		m.Pinning = "NONE: only Linux can; figures are not comparable"
	}
	if program != "" {
		m.Millrace = revision(ctx, program)
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dep := range info.Deps {
			switch dep.Path {
			case "github.com/nats-io/nats-server/v2":
				m.NATS = dep.Version
			case "github.com/mochi-mqtt/server/v2":
				m.MQTT = dep.Version
			}
		}
	}
	return m
}

// revision returns the commit of the sources, and any peculiarity of the program.
func revision(ctx context.Context, program string) string {
	text := "of an unknown commit"
	if folder, err := repository(ctx); err == nil {
		git := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty=, with changes")
		git.Dir = folder
		if out, err := git.Output(); err == nil {
			text = string(bytes.TrimSpace(out))
		}
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return text
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "-pgo":
			text += ", PGO"
		case "-race":
			text += ", RACE DETECTOR"
		}
	}
	return text
}

func (m machine) String() string {
	text := fmt.Sprintf("%s, %s, %d cores", m.System, m.CPU, m.Cores)
	if m.Memory != "" {
		text += ", " + m.Memory
	}
	text += fmt.Sprintf(", %s; %s", m.Go, m.Pinning)
	text += "\n"
	if m.Millrace != "" {
		text += "millrace " + m.Millrace + ", "
	}
	text += fmt.Sprintf("nats-server %s, mochi-mqtt %s; %s", m.NATS, m.MQTT, m.Date)
	return text
}

// fileField returns the value of the first line "name : value" of a file.
func fileField(file, name string) (string, bool) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", false
	}
	for line := range strings.Lines(string(data)) {
		key, value, ok := strings.Cut(line, ":")
		if ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value), true
		}
	}
	return "", false
}

const clockTick = 100 // ticks a second in /proc on all architectures that Go knows

// readTicks reads proc_stat(5) and proc_pid_stat(5); zeroes where there are none.
func readTicks(servers ...int) ticks {
	t := ticks{at: time.Now()}
	if data, err := os.ReadFile("/proc/stat"); err == nil {
		line, _, _ := strings.Cut(string(data), "\n")
		t.all = sumTicks(strings.Fields(line), 1, 2, 3) // user, nice, system
	}
	for _, server := range servers {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", server))
		if err != nil {
			continue
		}
		t.server += sumTicks(strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:])), 11, 12)
	}
	return t
}

// sumTicks returns the sum of some fields, s.
func sumTicks(fields []string, which ...int) (sum float64) {
	for _, i := range which {
		if i < len(fields) {
			v, _ := strconv.ParseFloat(fields[i], 64) // the kernel writes numbers
			sum += v / clockTick
		}
	}
	return sum
}
