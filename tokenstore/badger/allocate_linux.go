package badger

import (
	"os"
	"syscall"
)

const keepSize = 1 // FALLOC_FL_KEEP_SIZE, linux/falloc.h

// allocate makes sure that the first bytes of a file have room on disk, also those
// that lie behind its end. It changes neither its size nor what it holds. Some file
// systems cannot.
func allocate(path string, size int64) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	return syscall.Fallocate(int(f.Fd()), keepSize, 0, size)
}
