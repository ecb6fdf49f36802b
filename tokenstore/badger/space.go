package badger

import (
	"sync"
	"sync/atomic"

	"go.uber.org/zap"

	"github.com/millrace/millrace/internal/diskspace"
	"github.com/millrace/millrace/tokenstore"
)

// Badger writes to its files through memory maps. If the disk has no room for a page,
// such a write does not fail with an error: the signal SIGBUS ends the process. So the
// store checks for room before it lets Badger write:
//
//   - a write of a record needs the reserve free. The room of its log was allocated
//     from the start (see wal), so what others write meanwhile does it no harm;
//   - a flush of a full log into a table is caused only by a write, begins right after
//     a check for room, and runs while no other write does. It takes 10 MiB and about
//     a tenth of a second, in which others must not use up the whole reserve;
//   - a compaction is started by the store (see compact), never by Badger, and needs
//     the reserve and twice the size of the database;
//   - opening flushes all logs, and needs resumeMargin beside the reserve; without
//     that, the database is opened read-only (see open);
//   - closing flushes, too. If there is no room, the database is left as a crash would
//     leave it, which loses nothing.
const (
	// DefaultReserve is a reserve in bytes that suits most.
	DefaultReserve = 256 << 20
	// MinReserve is the least reserve in bytes that keeps the edge from crashing.
	MinReserve = 64 << 20

	// flushRoom is what a flush of the log takes, in bytes: the table and the next log.
	flushRoom = 2 * maxWALSize
	// resumeMargin is how many bytes must be free beside the reserve before changes
	// are accepted again, so that accepting and refusing them don't alternate. It is
	// more than an opening takes, which flushes NumMemtables and two logs at most.
	resumeMargin = 64 << 20
)

// space knows whether there is room. All methods may be called concurrently.
type space struct {
	dir     string
	log     *zap.Logger
	reserve atomic.Int64 // bytes; 0: room is not checked

	mu       sync.Mutex
	writable bool // what was logged last
}

// enabled reports whether room is checked.
func (s *space) enabled() bool { return diskspace.Known && s.reserve.Load() > 0 }

// free returns the free bytes; ok is false if room is not checked, or not known.
func (s *space) free() (free int64, ok bool) {
	if !s.enabled() {
		return 0, false
	}
	free, err := diskspace.Free(s.dir)
	return free, err == nil
}

// hasRoom reports whether there is room for a number of bytes beside the reserve.
func (s *space) hasRoom(bytes int64) bool {
	free, ok := s.free()
	return !ok || free >= s.reserve.Load()+bytes
}

// check returns nil if changes may be written now, else
// [tokenstore.ErrInsufficientStorage]. readOnly is the state of the database. It
// logs when that begins and when it ends.
func (s *space) check(readOnly bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	extra := int64(0)
	if !s.writable {
		extra = resumeMargin
	}
	if now := !readOnly && s.hasRoom(extra); now != s.writable {
		s.writable = now
		s.logChange()
	}
	if !s.writable {
		return tokenstore.ErrInsufficientStorage
	}
	return nil
}

// logChange logs that writable has changed. The caller holds s.mu.
func (s *space) logChange() {
	free, _ := s.free()
	reserve := s.reserve.Load()
	if s.writable {
		s.log.Info("token store: there is room on the disk again: changes of tokens are accepted",
			zap.String("path", s.dir), zap.Int64("free_bytes", free))
		return
	}
	s.log.Error("token store: the disk has less room than the reserve: changes of tokens are refused",
		zap.String("path", s.dir), zap.Int64("free_bytes", free),
		zap.Int64("reserve_bytes", reserve), zap.Int64("accepted_again_at_bytes", reserve+resumeMargin))
}
