//go:build !linux

package badger

// allocate does nothing here: the reserve has to do.
func allocate(string, int64) error { return nil }
