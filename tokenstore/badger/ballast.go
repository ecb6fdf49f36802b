package badger

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"
)

const (
	// ballastName is the name of the ballast file. Its content has no meaning. The name
	// stays as it was in earlier versions, whose leftovers are removed by it.
	ballastName = "HOLD"
	// ballastSize is what a flush takes, in bytes, with what it takes until the ballast
	// is released.
	ballastSize = flushRoom + maxWALSize
	// ballastReleaseBelow is the number of free bytes below which the disk counts as full.
	ballastReleaseBelow = 1 << 20
)

// ballast is a file that takes room on the disk while a flush runs. If others fill the
// disk meanwhile, the file is removed, and the flush gets its room.
type ballast struct {
	space    *space
	path     string
	released chan struct{}
	running  sync.WaitGroup
}

// newBallast returns nil if there is no room for it. The caller must call release.
func newBallast(s *space) *ballast {
	b := &ballast{space: s, path: filepath.Join(s.dir, ballastName), released: make(chan struct{})}
	f, err := os.OpenFile(b.path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil
	}
	if err := errors.Join(f.Close(), allocate(b.path, ballastSize)); noSpace(err) {
		_ = os.Remove(b.path)
		return nil
	}
	b.running.Go(b.watch)
	return b
}

// watch removes the file as soon as the disk is full, or release is called.
func (b *ballast) watch() {
	ticker := time.NewTicker(500 * time.Microsecond)
	defer ticker.Stop()
	defer func() { _ = os.Remove(b.path) }()
	for {
		select {
		case <-b.released:
			return
		case <-ticker.C:
			if free, ok := b.space.free(); ok && free < ballastReleaseBelow {
				return
			}
		}
	}
}

// release ends the ballast, and waits until its file is removed.
func (b *ballast) release() {
	close(b.released)
	b.running.Wait()
}
