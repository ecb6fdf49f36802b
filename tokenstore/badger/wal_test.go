package badger

import (
	"os"
	"sync/atomic"
	"testing"
)

// Badger removes logs that it has flushed while the store looks at them.
func TestWALFilesWhileRemoved(t *testing.T) {
	dir := t.TempDir()
	var stop atomic.Bool
	done := make(chan error, 1)
	go func() { // ends with stop
		for !stop.Load() {
			for fid := range 50 {
				if err := os.WriteFile(walPath(dir, fid), []byte("x"), 0o600); err != nil {
					done <- err
					return
				}
			}
			for fid := range 50 {
				if err := os.Remove(walPath(dir, fid)); err != nil {
					done <- err
					return
				}
			}
		}
		done <- nil
	}()
	for range 2000 {
		if _, err := walFiles(dir); err != nil {
			t.Error(err)
			break
		}
	}
	stop.Store(true)
	must(t, <-done)
}
