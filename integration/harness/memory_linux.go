package harness

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// ResidentMiB is how much memory the edge has.
func (e *Edge) ResidentMiB() (resident int) {
	e.T.Helper()
	status := value(os.ReadFile(fmt.Sprintf("/proc/%d/status", e.Cmd.Process.Pid)))(e.T)
	_, rest, _ := strings.Cut(string(status), "\nVmRSS:")
	value(fmt.Sscan(rest, &resident))(e.T)
	return resident >> 10
}

// ConnectionCost is what quic-go, HTTP/3 and the goroutines of a connection with one session
// take of the edge's memory, in KiB; about 120 as measured, and 180 with the race detector.
const ConnectionCost = 256

var heapNumber = regexp.MustCompile(`(?m)^# (HeapAlloc|Stack) = (\d+)`)

// memory is the content of the edge's memory, in KiB.
type memory struct {
	Live int // reachable from somewhere, stacks included
}

// Memory collects the edge's garbage and measures what is left.
func (e *Edge) Memory() memory {
	e.T.Helper()
	var got map[string]int
	for range 2 { // pools take two collections
		a := e.AdminCall("GET", "/debug/pprof/heap?gc=1&debug=1", nil)
		got = map[string]int{}
		for _, m := range heapNumber.FindAllStringSubmatch(string(a.Body), -1) {
			got[m[1]] = value(strconv.Atoi(m[2]))(e.T) >> 10
		}
		if len(got) != 2 {
			e.T.Fatalf("pprof answers %d, with the numbers %v", a.Status, got)
		}
	}
	return memory{got["HeapAlloc"] + got["Stack"]}
}

// CheckGrowth requires that the edge's memory now holds at most bound KiB more than before.
func (e *Edge) CheckGrowth(before memory, bound int, what string) {
	e.T.Helper()
	grown := e.Memory().Live - before.Live
	e.T.Logf("%s: the edge's memory grew by %d KiB of %d (resident: %d MiB)", what, grown, bound, e.ResidentMiB())
	if grown > bound {
		e.T.Errorf("%s: the edge's memory grew by %d KiB, want at most %d", what, grown, bound)
	}
}
