package badger

import (
	"sync"
	"sync/atomic"

	"go.uber.org/zap"

	"github.com/millrace/millrace/internal/diskspace"
	"github.com/millrace/millrace/tokenstore"
)

// Badger writes to its files through memory. Where the disk has no room for a
// page, that write is no error but a signal, SIGBUS, which ends the process. So
// the store asks for room before it lets Badger write:
//
//   - a write of ours wants the reserve free. Its log has its room from the start
//     (see wal), so what is written meanwhile by others does it no harm;
//   - a flush of a full log into a table follows from a write alone, begins right
//     after a look for room, and has no other writes beside it. It takes 10 MiB and
//     about a tenth of a second, in which others may not take all of the reserve;
//   - a compaction is the store's to start (see compact), never Badger's, and wants
//     the reserve and twice the database;
//   - opening flushes all logs, and wants resumeRoom beside the reserve; without
//     that, the database is opened read-only (see open);
//   - closing flushes too. Where there is no room the database is left as a
//     crash would leave it, which loses nothing.
const (
	// DefaultReserve is a reserve in bytes that suits most.
	DefaultReserve = 256 << 20
	// MinReserve is the least reserve in bytes that keeps the edge from crashing.
	MinReserve = 64 << 20

	// flushRoom is what a flush of the log takes: the table and the next log.
	flushRoom = 2 * walRoom
	// resumeRoom is what must be free beside the reserve until changes are taken
	// again, so that accepting and refusing them don't alternate. It is more than
	// an opening takes, which flushes NumMemtables and two logs at most.
	resumeRoom = 64 << 20
)

// space says whether there is room. All methods may be called concurrently.
type space struct {
	dir     string
	log     *zap.Logger
	reserve atomic.Int64 // bytes; 0: nobody asks

	mu       sync.Mutex
	writable bool // what was said last
}

// asked reports whether anybody asks for room.
func (s *space) asked() bool { return diskspace.Known && s.reserve.Load() > 0 }

// free returns the free bytes; ok is false where nobody asks or knows.
func (s *space) free() (free int64, ok bool) {
	if !s.asked() {
		return 0, false
	}
	free, err := diskspace.Free(s.dir)
	return free, err == nil
}

// has reports whether there is room for a number of bytes beside the reserve.
func (s *space) has(bytes int64) bool {
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
		extra = resumeRoom
	}
	if now := !readOnly && s.has(extra); now != s.writable {
		s.writable = now
		s.tell()
	}
	if !s.writable {
		return tokenstore.ErrInsufficientStorage
	}
	return nil
}

// tell logs a change. The caller holds s.mu.
func (s *space) tell() {
	free, _ := s.free()
	reserve := s.reserve.Load()
	if s.writable {
		s.log.Info("token store: there is room on the disk again: changes of tokens are accepted",
			zap.String("path", s.dir), zap.Int64("free_bytes", free))
		return
	}
	s.log.Error("token store: the disk has less room than the reserve: changes of tokens are refused",
		zap.String("path", s.dir), zap.Int64("free_bytes", free),
		zap.Int64("reserve_bytes", reserve), zap.Int64("accepted_again_at_bytes", reserve+resumeRoom))
}
