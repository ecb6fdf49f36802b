//go:build linux || darwin || freebsd

package badger

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
)

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
