package badger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/millrace/millrace/tokenstore"
)

// walRoom is how much of a log Badger writes at most, in bytes: it takes the next
// one when this one has memTableSize, and the last write may go beyond it.
const walRoom = memTableSize + memTableSize/4

// entryOverhead is the most that a record takes in the log, or in memory, beside
// its key and value, in bytes: headers, checksums, the end of its transaction, and
// a node of the skip list.
const entryOverhead = 160

const walSuffix = ".mem"

// wal gives the logs of writes their room on disk before Badger makes them, as
// files with holes: what is written to a log finds its room whatever others do
// meanwhile. And it has the flush of a full log begin when nothing else is under
// way, so that little time passes between the look for room and its use.
type wal struct {
	dir   string
	space *space

	// full is held for reading by a write that fits into the log, and for writing
	// by one that may begin the next.
	full sync.RWMutex
	used atomic.Int64 // bytes of the log, at most

	// These are guarded by full, held for writing.
	fid   int  // of the log that is written to
	spare bool // the next one is there, with its room
}

// opened finds the log that Badger writes to, just after it was opened.
func (w *wal) opened() error {
	logs, err := walFiles(w.dir)
	if err != nil {
		return err
	}
	w.full.Lock()
	defer w.full.Unlock()
	w.fid, w.spare = 0, false
	for _, l := range logs {
		w.fid = max(w.fid, l.fid)
	}
	w.used.Store(0)
	// Where this fails, as on file systems that cannot, the reserve has to do.
	_ = allocate(walPath(w.dir, w.fid), walRoom)
	return nil
}

// write runs a write of so many bytes. It returns
// [tokenstore.ErrInsufficientStorage] where that needs room that there is not.
func (w *wal) write(bytes int, do func() error) error {
	bytes += entryOverhead
	w.full.RLock()
	if w.used.Add(int64(bytes)) < memTableSize {
		defer w.full.RUnlock()
		return do()
	}
	w.full.RUnlock()
	w.full.Lock()
	defer w.full.Unlock()
	if w.used.Load() < memTableSize { // another write has begun the next log
		w.used.Add(int64(bytes))
		return do()
	}
	if !w.space.has(0) || !w.makeSpare() {
		return tokenstore.ErrInsufficientStorage
	}
	if w.space.asked() {
		h := newHold(w.space)
		if h == nil {
			return tokenstore.ErrInsufficientStorage
		}
		defer h.end()
	}
	err := do()
	w.follow(int64(bytes))
	return err
}

// makeSpare makes the next log, empty, with its room. The caller holds w.full.
func (w *wal) makeSpare() bool {
	if w.spare || !w.space.asked() {
		return true
	}
	path := walPath(w.dir, w.fid+1)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return false
	}
	if err := errors.Join(f.Close(), allocate(path, walRoom)); noSpace(err) {
		_ = os.Remove(path)
		return false
	}
	w.spare = true
	return true
}

// follow goes on with the next log, if Badger has begun it, when the full one is a
// table. The caller holds w.full.
func (w *wal) follow(bytes int64) {
	info, err := os.Stat(walPath(w.dir, w.fid+1))
	if err != nil || info.Size() == 0 {
		return
	}
	before := walPath(w.dir, w.fid)
	w.fid++
	w.spare = false
	w.used.Store(bytes)
	// Badger removes a log that has become a table, and says nothing. A disk that
	// is full all the same keeps nobody waiting.
	for end := time.Now().Add(flushPatience); exists(before) && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}

const flushPatience = 5 * time.Second

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func walPath(dir string, fid int) string {
	return filepath.Join(dir, fmt.Sprintf("%05d%s", fid, walSuffix))
}

type walFile struct {
	fid  int
	size int64
}

// walFiles lists the logs of a directory, also while Badger removes some.
func walFiles(dir string) (list []walFile, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("token store: %w", err)
	}
	for _, e := range entries {
		name, isLog := strings.CutSuffix(e.Name(), walSuffix)
		fid, err := strconv.Atoi(name)
		if !isLog || err != nil {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // Badger has just flushed it
		}
		if err != nil {
			return nil, fmt.Errorf("token store: %w", err)
		}
		list = append(list, walFile{fid, info.Size()})
	}
	return list, nil
}

// dropLeftovers removes the next log, which is empty, a log that a crash has left
// so before its header, and what a crash has left of a hold. Badger does not open
// a database with an empty log. The caller has the lock of the directory.
func dropLeftovers(dir string) error {
	logs, err := walFiles(dir)
	for _, l := range logs {
		if l.size == 0 {
			err = errors.Join(err, os.Remove(walPath(dir, l.fid)))
		}
	}
	if gone := os.Remove(filepath.Join(dir, holdName)); !os.IsNotExist(gone) {
		err = errors.Join(err, gone)
	}
	return err
}

// walEnd is how Badger says where the last whole write of a log ends, beside the
// text of its ErrTruncateNeeded, which it does not wrap.
var walEnd = regexp.MustCompile(`(?s)opening fid: (\d+)\b.*\bend offset: (\d+) < size: \d+`)

// trimWAL cuts off what a crash has left behind the last whole write of a log, as
// Badger does when it opens the database for writing, and asks for when it opens
// it read-only. That takes no room. The caller has the lock of the directory.
func trimWAL(dir string, needed error) error {
	if !strings.Contains(needed.Error(), badger.ErrTruncateNeeded.Error()) {
		return needed
	}
	found := walEnd.FindStringSubmatch(needed.Error())
	if found == nil {
		return needed
	}
	fid, err := strconv.Atoi(found[1])
	if err != nil {
		return needed
	}
	end, err := strconv.ParseInt(found[2], 10, 64)
	if err != nil {
		return needed
	}
	return os.Truncate(walPath(dir, fid), end)
}
