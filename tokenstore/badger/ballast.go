package badger

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"
)

const (
	// holdName is a file without meaning.
	holdName = "HOLD"
	// holdRoom is what a flush takes, in bytes, and what it takes while somebody
	// notices that the disk is full.
	holdRoom = flushRoom + walRoom
	// holdLow is when the disk counts as full, in bytes.
	holdLow = 1 << 20
)

// hold keeps room for a flush that is about to begin. Should others fill the disk
// before it is over, they find it full, and the flush gets what was kept.
type hold struct {
	space *space
	path  string
	over  chan struct{}
	done  sync.WaitGroup
}

// newHold returns nil where there is no room. Its end must be called.
func newHold(s *space) *hold {
	h := &hold{space: s, path: filepath.Join(s.dir, holdName), over: make(chan struct{})}
	f, err := os.OpenFile(h.path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil
	}
	if err := errors.Join(f.Close(), allocate(h.path, holdRoom)); noSpace(err) {
		_ = os.Remove(h.path)
		return nil
	}
	h.done.Go(h.watch)
	return h
}

// watch gives the room back as soon as the disk is full, or end is called.
func (h *hold) watch() {
	ticker := time.NewTicker(500 * time.Microsecond)
	defer ticker.Stop()
	defer func() { _ = os.Remove(h.path) }()
	for {
		select {
		case <-h.over:
			return
		case <-ticker.C:
			if free, ok := h.space.free(); ok && free < holdLow {
				return
			}
		}
	}
}

func (h *hold) end() {
	close(h.over)
	h.done.Wait()
}
