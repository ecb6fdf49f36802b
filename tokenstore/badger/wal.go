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

// maxWALSize is the most bytes that Badger writes to a log: it begins the next log when
// this one has memTableSize, and the last write may exceed that.
const maxWALSize = memTableSize + memTableSize/4

// entryOverhead is the most that a record takes in the log, or in memory, beside
// its key and value, in bytes: headers, checksums, the end of its transaction, and
// a node of the skip list.
const entryOverhead = 160

const walSuffix = ".mem"

// wal allocates room on disk for Badger's write-ahead logs, which Badger itself makes
// as sparse files: so a write to a log finds its room, whatever others do with the
// disk meanwhile. It also lets the flush of a full log begin only while no other write
// runs, so that little time passes between the check for room and its use.
type wal struct {
	dir   string
	space *space

	// rotation is held for reading by a write that fits into the log, and for writing
	// by a write that may begin the next log.
	rotation sync.RWMutex
	used     atomic.Int64 // upper bound of the bytes in the log

	// The rest is guarded by rotation, held for writing.
	fid          int  // of the log that is written to
	nextPrepared bool // the next log is there, with its room allocated
}

// findActive finds the log that Badger writes to. It is called just after the database
// was opened.
func (w *wal) findActive() error {
	logs, err := walFiles(w.dir)
	if err != nil {
		return err
	}
	w.rotation.Lock()
	defer w.rotation.Unlock()
	w.fid, w.nextPrepared = 0, false
	for _, l := range logs {
		w.fid = max(w.fid, l.fid)
	}
	w.used.Store(0)
	// Where this fails, as on file systems that cannot allocate, the reserve must suffice.
	_ = allocate(walPath(w.dir, w.fid), maxWALSize)
	return nil
}

// write runs a write of the given number of bytes. It returns
// [tokenstore.ErrInsufficientStorage] if there is no room for it.
func (w *wal) write(bytes int, do func() error) error {
	bytes += entryOverhead
	w.rotation.RLock()
	if w.used.Add(int64(bytes)) < memTableSize {
		defer w.rotation.RUnlock()
		return do()
	}
	w.rotation.RUnlock()
	w.rotation.Lock()
	defer w.rotation.Unlock()
	if w.used.Load() < memTableSize { // another write has begun the next log
		w.used.Add(int64(bytes))
		return do()
	}
	if !w.space.hasRoom(0) || !w.prepareNext() {
		return tokenstore.ErrInsufficientStorage
	}
	if w.space.enabled() {
		b := newBallast(w.space)
		if b == nil {
			return tokenstore.ErrInsufficientStorage
		}
		defer b.release()
	}
	err := do()
	w.rotated(int64(bytes))
	return err
}

// prepareNext makes the next log, empty, and allocates its room. It reports whether
// there is room. The caller holds w.rotation for writing.
func (w *wal) prepareNext() bool {
	if w.nextPrepared || !w.space.enabled() {
		return true
	}
	path := walPath(w.dir, w.fid+1)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return false
	}
	if err := errors.Join(f.Close(), allocate(path, maxWALSize)); noSpace(err) {
		_ = os.Remove(path)
		return false
	}
	w.nextPrepared = true
	return true
}

// rotated continues with the next log if Badger has begun it, and waits until the full
// log has become a table. bytes is what the next log holds. The caller holds w.rotation
// for writing.
func (w *wal) rotated(bytes int64) {
	info, err := os.Stat(walPath(w.dir, w.fid+1))
	if err != nil || info.Size() == 0 {
		return
	}
	before := walPath(w.dir, w.fid)
	w.fid++
	w.nextPrepared = false
	w.used.Store(bytes)
	// Badger removes a log that has become a table, without notice. If the disk is full
	// nevertheless, writes wait no longer than flushTimeout.
	for end := time.Now().Add(flushTimeout); exists(before) && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
}

const flushTimeout = 5 * time.Second

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

// walFiles lists the logs of a directory. It works while Badger removes some.
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

// removeLeftovers removes empty logs, with which Badger does not open a database: the
// prepared next log, and a log whose header a crash has prevented. It also removes a
// ballast file that a crash has left. The caller has the lock of the directory.
func removeLeftovers(dir string) error {
	logs, err := walFiles(dir)
	for _, l := range logs {
		if l.size == 0 {
			err = errors.Join(err, os.Remove(walPath(dir, l.fid)))
		}
	}
	if removed := os.Remove(filepath.Join(dir, ballastName)); !os.IsNotExist(removed) {
		err = errors.Join(err, removed)
	}
	return err
}

// walEnd matches the text in which Badger says where the last complete write of a log
// ends. It stands beside the text of ErrTruncateNeeded, which Badger does not wrap.
var walEnd = regexp.MustCompile(`(?s)opening fid: (\d+)\b.*\bend offset: (\d+) < size: \d+`)

// trimWAL cuts off what a crash has left behind the last complete write of a log.
// Badger does so itself when it opens the database for writing; when it opens it
// read-only, it asks for it with the error needed. Trimming takes no room. trimWAL
// returns needed if that is another error. The caller has the lock of the directory.
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
