package harness

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// ResidentMiB is how much memory the edge has.
func (e *Edge) ResidentMiB() int {
	e.T.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", e.Cmd.Process.Pid))
	if err != nil {
		e.T.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.Atoi(strings.Fields(value)[0])
			if err != nil {
				e.T.Fatal(err)
			}
			return kib >> 10
		}
	}
	e.T.Fatal("no VmRSS in the edge's status")
	return 0
}

// ConnectionCost is what quic-go, HTTP/3 and the goroutines of a connection with one session
// take of the edge's memory, in KiB; about 120 as measured, and 180 with the race detector.
const ConnectionCost = 256

var heapNumber = regexp.MustCompile(`(?m)^# (HeapAlloc|TotalAlloc|Stack) = (\d+)`)

// memory is the content of the edge's memory, in KiB.
type memory struct {
	Live  int // reachable from somewhere, stacks included
	Total int // allocated since the start, freed or not
}

// Memory collects the edge's garbage and measures what is left.
func (e *Edge) Memory() memory {
	e.T.Helper()
	var got map[string]int
	for range 2 { // pools take two collections
		a := e.Do(Call{Method: "GET", URL: e.AdminURL("/debug/pprof/heap?gc=1&debug=1")})
		got = map[string]int{}
		for _, m := range heapNumber.FindAllStringSubmatch(string(a.Body), -1) {
			n, err := strconv.Atoi(m[2])
			if err != nil {
				e.T.Fatal(err)
			}
			got[m[1]] = n >> 10
		}
		if len(got) != 3 {
			e.T.Fatalf("pprof answers %d, with the numbers %v", a.Status, got)
		}
	}
	return memory{got["HeapAlloc"] + got["Stack"], got["TotalAlloc"]}
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
