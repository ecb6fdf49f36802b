package badger

import (
	"context"
	"time"

	"github.com/dgraph-io/badger/v4"
	"go.uber.org/zap"
)

const (
	checkInterval   = time.Second      // of the check for room, and for work
	gcInterval      = 10 * time.Minute // between rewrites of the value log
	compactInterval = time.Minute      // after a compaction that failed
)

// maintain does the work for which no call waits. It runs until Close cancels ctx,
// and closes done.
func (s *Store) maintain(ctx context.Context) {
	defer close(s.done)
	ticker := time.NewTicker(checkInterval)
	defer ticker.Stop()
	lastGC := time.Now()
	var failed time.Time // when a compaction last failed
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if s.versions == nil { // no other goroutine sets it after Open
			s.reopen()
		}
		if s.space.check(s.versions == nil) != nil {
			continue
		}
		if time.Since(failed) > compactInterval {
			if err := s.compact(); err != nil {
				failed = time.Now()
				s.log.Warn("token store: compaction", zap.Error(err))
			}
		}
		if time.Since(lastGC) > gcInterval {
			lastGC = time.Now()
			// Each call rewrites at most one file; an error means that there
			// is no other one worth it, and Badger logs real faults.
			for ctx.Err() == nil && s.space.hasRoom(flushRoom) && s.db.RunValueLogGC(0.5) == nil {
			}
		}
	}
}

// The tables of level 0 are the flushed logs: a look-up of a key searches each of them.
const (
	minTables          = 5 // of level 0 that make a compaction worthwhile
	minFractionDivisor = 4 // of the size of the database: the part that they must make up at least
)

// compact merges the tables of level 0 into the others, and drops deleted and expired
// records, if that is worthwhile and there is room for twice the size of the database.
func (s *Store) compact() error {
	worthwhile, size := isWorthwhile(s.db.Tables())
	if !worthwhile || !s.space.hasRoom(2*size) {
		return nil
	}
	return s.db.Flatten(1)
}

// isWorthwhile reports whether a compaction of these tables is, and their size.
func isWorthwhile(list []badger.TableInfo) (is bool, size int64) {
	var tables int
	var fresh, all int64
	for _, t := range list {
		all += int64(t.OnDiskSize)
		if t.Level == 0 {
			tables++
			fresh += int64(t.OnDiskSize)
		}
	}
	return tables >= minTables && fresh*minFractionDivisor >= all, all
}
