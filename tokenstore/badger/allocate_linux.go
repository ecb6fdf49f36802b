package badger

import (
	"os"
	"syscall"
)

const keepSize = 1 // FALLOC_FL_KEEP_SIZE, linux/falloc.h

// allocate makes sure that the first size bytes of a file have room on disk, including
// those behind its end. It changes neither its size nor its content. Some file systems
// cannot do this.
func allocate(path string, size int64) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return syscall.Fallocate(int(f.Fd()), keepSize, 0, size)
}
