//go:build linux || darwin || freebsd

package badger

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// noSpace reports whether an error of Badger came from a full disk. Badger does not
// wrap the cause.
func noSpace(err error) bool {
	return err != nil &&
		(strings.Contains(err.Error(), syscall.ENOSPC.Error()) || strings.Contains(err.Error(), syscall.EDQUOT.Error()))
}

// lockDir takes the lock of a directory, as Badger would, so that other versions of the
// edge respect it. It returns [ErrInUse] if the lock is taken. The store keeps the lock
// while it closes and reopens the database.
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
