package harness

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

// Sample is what the edge holds at a moment; memory and disk are in KiB, Resident in MiB.
type Sample struct{ Heap, Goroutines, Descriptors, Disk, Resident int }

func (e *Edge) Sample() Sample {
	e.T.Helper()
	s := Sample{Heap: e.Memory()}
	all, _ := e.Resident()
	s.Resident = all >> 10
	_, s.Goroutines = e.Goroutines()
	s.Descriptors = len(value(os.ReadDir(fmt.Sprintf("/proc/%d/fd", e.Cmd.Process.Pid)))(e.T))
	used, _ := exec.Command("du", "-sk", e.Dir).Output() // an error if it just misses a file that goes
	value(fmt.Sscan(string(used), &s.Disk))(e.T)
	return s
}

// Resident is the edge's resident memory in KiB, garbage included, and the part of it that is
// its own. The rest are pages of files, as of the program, which the kernel takes away when
// anybody needs memory.
func (e *Edge) Resident() (all, own int) {
	e.T.Helper()
	status := value(os.ReadFile(fmt.Sprintf("/proc/%d/status", e.Cmd.Process.Pid)))(e.T)
	for name, kib := range map[string]*int{"VmRSS": &all, "RssAnon": &own} {
		_, rest, _ := strings.Cut(string(status), "\n"+name+":")
		value(fmt.Sscan(rest, kib))(e.T)
	}
	return all, own
}

// ConnectionCost is what quic-go, HTTP/3 and the goroutines of a connection with one session
// take of the edge's memory, in KiB; about 120 as measured, and 180 with the race detector.
const ConnectionCost = 256

var heapNumber = regexp.MustCompile(`(?m)^# (HeapAlloc|Stack) = (\d+)`)

// Memory collects the edge's garbage and measures what is left: what can be reached from
// somewhere, stacks included, in KiB.
func (e *Edge) Memory() (live int) {
	e.T.Helper()
	e.AdminCall("GET", "/debug/pprof/heap?gc=1", nil) // pools take two collections
	a := e.AdminCall("GET", "/debug/pprof/heap?gc=1&debug=1", nil)
	found := heapNumber.FindAllStringSubmatch(string(a.Body), -1)
	if len(found) != 2 {
		e.T.Fatalf("pprof answers %d, with the numbers %v", a.Status, found)
	}
	for _, m := range found {
		live += value(strconv.Atoi(m[2]))(e.T) >> 10
	}
	return live
}

// CheckGrowth requires that the edge's memory now holds at most bound KiB more than before.
func (e *Edge) CheckGrowth(before, bound int, what string) {
	e.T.Helper()
	if grown := e.Memory() - before; grown > bound {
		e.T.Errorf("%s: the edge's memory grew by %d KiB, want at most %d", what, grown, bound)
	}
}
