//go:build linux || darwin || freebsd

package diskspace

import "syscall"

// Known reports whether this system says how much room there is.
const Known = true

// leastFiles is how many more files the file system must take. What cannot make a
// file often says nothing: Badger loses what it compacts then.
const leastFiles = 1000

// Free returns how many bytes this process may still write to the file system of a
// directory, and 0 if that takes hardly any more files.
func Free(dir string) (int64, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return 0, err
	}
	// Some file systems, such as Btrfs, count no files and have 0 of 0.
	if int64(st.Files) > 0 && int64(st.Ffree) < leastFiles {
		return 0, nil
	}
	return int64(st.Bavail) * int64(st.Bsize), nil //nolint:unconvert // on other systems it is no int64
}
