package harness

import (
	"fmt"
	"os"
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
