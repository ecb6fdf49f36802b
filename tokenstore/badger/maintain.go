package badger

import (
	"context"
	"time"

	"go.uber.org/zap"
)

const (
	checkInterval   = time.Second      // of looking for room, and of looking for work
	gcInterval      = 10 * time.Minute // of rewriting the value log
	compactInterval = time.Minute      // after a compaction that failed
)

// maintain does the work that no call waits for. It runs until Close cancels ctx,
// and closes done.
func (s *Store) maintain(ctx context.Context) {
	defer close(s.done)
	ticker := time.NewTicker(checkInterval)
	defer ticker.Stop()
	lastGC := time.Now()
	var failed time.Time // when the last compaction did
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if s.versions == nil { // no other goroutine writes it now
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
			for ctx.Err() == nil && s.space.has(flushRoom) && s.db.RunValueLogGC(0.5) == nil {
			}
		}
	}
}

// The tables of level 0 are the flushed logs: each is looked through for each key.
const (
	leastTables   = 5 // of level 0 that are worth a compaction
	leastFraction = 4 // of the database, as a divisor, that they must make up
)

// compact merges the tables of level 0 into the others, and forgets what was
// deleted and what has expired, if that is worth it and there is room for all of
// the database once more, and again.
func (s *Store) compact() error {
	var tables int
	var fresh, all int64
	for _, t := range s.db.Tables() {
		all += int64(t.OnDiskSize)
		if t.Level == 0 {
			tables++
			fresh += int64(t.OnDiskSize)
		}
	}
	if tables < leastTables || fresh*leastFraction < all || !s.space.has(2*all) {
		return nil
	}
	return s.db.Flatten(1)
}
