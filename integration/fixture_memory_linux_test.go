package integration

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// residentMiB is how much memory the edge has.
func (e *edge) residentMiB() int {
	e.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", e.cmd.Process.Pid))
	if err != nil {
		e.t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.Atoi(strings.Fields(value)[0])
			if err != nil {
				e.t.Fatal(err)
			}
			return kib >> 10
		}
	}
	e.t.Fatal("no VmRSS in the edge's status")
	return 0
}
