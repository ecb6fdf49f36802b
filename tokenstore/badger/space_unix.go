//go:build linux || darwin || freebsd

package badger

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// watchesSpace: this system says how much room there is.
const watchesSpace = true

// leastFiles is how many more files the file system must take. Badger loses what
// it compacts when it cannot make a file for it, and says nothing.
const leastFiles = 1000

// freeBytes returns how much this process may still write to the file system of
// a directory, and 0 if that takes hardly any more files.
func freeBytes(dir string) (int64, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return 0, fmt.Errorf("token store %s: free space: %w", dir, err)
	}
	// Some file systems, such as Btrfs, count no files and have 0 of 0.
	if int64(st.Files) > 0 && int64(st.Ffree) < leastFiles {
		return 0, nil
	}
	return int64(st.Bavail) * int64(st.Bsize), nil //nolint:unconvert // on other systems it is no int64
}

// noSpace reports whether an error of Badger, which wraps none, came from a full
// disk.
func noSpace(err error) bool {
	return err != nil &&
		(strings.Contains(err.Error(), syscall.ENOSPC.Error()) || strings.Contains(err.Error(), syscall.EDQUOT.Error()))
}

// lockDir takes the lock of a directory, as Badger would: also another version
// of the edge respects it. It returns [ErrInUse] where somebody has it. The store
// keeps it from one opening of the database to the next.
func lockDir(dir string) (unlock func() error, err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("token store: %w", err)
	}
	switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return nil, errors.Join(fmt.Errorf("token store: %w: %s", ErrInUse, dir), f.Close())
	case err != nil:
		return nil, errors.Join(fmt.Errorf("token store %s: lock: %w", dir, err), f.Close())
	}
	return f.Close, nil
}
