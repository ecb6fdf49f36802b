package harness

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Sample is what the edge holds at a moment.
type Sample struct{ Heap, Goroutines, Descriptors, Disk, Resident int }

func (e *Edge) Sample() Sample {
	e.T.Helper()
	s := Sample{Heap: e.Memory().Live, Resident: e.ResidentMiB()}
	_, s.Goroutines = e.Goroutines()
	s.Descriptors = len(value(os.ReadDir(fmt.Sprintf("/proc/%d/fd", e.Cmd.Process.Pid)))(e.T))
	e.Must(filepath.WalkDir(e.Dir, func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			var info fs.FileInfo
			if info, err = entry.Info(); err == nil {
				s.Disk += int(info.Sys().(*syscall.Stat_t).Blocks / 2)
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = nil // it has just been removed
		}
		return err
	}))
	return s
}
