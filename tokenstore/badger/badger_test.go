package badger

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"
	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/millrace/millrace/internal/testcheck"
	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/tokenstore/storetest"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(killDirEnv); dir != "" {
		writeUntilKilled(dir)
		os.Exit(1)
	}
	if dir := os.Getenv(fullDirEnv); dir != "" {
		if err := writeToFullDisk(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

func open(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(Config{Dir: dir, Reserve: DefaultReserve})
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) tokenstore.Store { return open(t, t.TempDir()) })
}

func TestOptions(t *testing.T) {
	opt := open(t, t.TempDir()).db.Opts()
	if !opt.SyncWrites {
		t.Error("writes are not synchronous: an acknowledged one would not survive power loss")
	}
	if opt.MemTableSize > 16<<20 || opt.NumMemtables > 2 || opt.BlockCacheSize != 0 {
		t.Errorf("memory: %d tables of %d bytes, cache of %d", opt.NumMemtables, opt.MemTableSize, opt.BlockCacheSize)
	}
}

func TestDirectoryIsPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "tokens")
	open(t, dir)
	info, err := os.Stat(dir)
	must(t, err)
	if info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v, want 0700", info.Mode().Perm())
	}
}

func TestOpenTwice(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	_, err := Open(Config{Dir: dir, Reserve: DefaultReserve})
	if !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), "already open by another process: "+dir) {
		t.Errorf("error %v", err)
	}
	must(t, s.Close())
	open(t, dir)
}

func TestOpenFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	if _, err := Open(Config{Dir: file}); err == nil {
		t.Error("a file was opened as a directory")
	}
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, ballastName, "full"), 0o700); err != nil { // it cannot be removed
		t.Fatal(err)
	}
	if _, err := Open(Config{Dir: dir}); err == nil {
		t.Error("a directory with a folder in place of the ballast was opened")
	}
}

func TestReopen(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	end := time.Now().Add(time.Hour)
	rec := tokenstore.Record{Kind: tokenstore.KindAccess, ID: "a", Value: []byte("x"), DeleteAfter: end}
	kept, err := s.Create(t.Context(), rec)
	must(t, err)
	rec.ID = "b"
	gone, err := s.Create(t.Context(), rec)
	must(t, err)
	must(t, s.Delete(t.Context(), rec.Kind, rec.ID, gone))
	must(t, s.Close())

	s = open(t, dir)
	got, err := s.Get(t.Context(), tokenstore.KindAccess, "a")
	if err != nil || string(got.Value) != "x" || got.Version != kept {
		t.Errorf("Get = %+v, %v", got, err)
	}
	if got.DeleteAfter.Before(end) || got.DeleteAfter.After(end.Add(time.Second)) {
		t.Errorf("DeleteAfter = %v, want %v rounded up", got.DeleteAfter, end)
	}
	again, err := s.Create(t.Context(), rec)
	must(t, err)
	if again <= gone+1 { // the deletion took a version, too
		t.Errorf("version %d after %d, a deletion and a restart", again, gone)
	}
}

func TestForgets(t *testing.T) {
	s := open(t, t.TempDir())
	rec := tokenstore.Record{
		Kind: tokenstore.KindAccess, ID: "a", Value: []byte("x"), DeleteAfter: time.Now().Add(-time.Minute),
	}
	first, err := s.Create(t.Context(), rec)
	must(t, err)
	if _, err := s.Get(t.Context(), rec.Kind, rec.ID); !errors.Is(err, tokenstore.ErrNotFound) {
		t.Errorf("Get: %v", err)
	}
	rec.DeleteAfter = time.Time{}
	second, err := s.Create(t.Context(), rec)
	if err != nil || second <= first {
		t.Errorf("Create after expiry: version %d after %d, %v", second, first, err)
	}
}

func TestLogger(t *testing.T) {
	core, logs := observer.New(zapcore.DebugLevel)
	l := newLogger(zap.New(core))
	l.Debugf("debug %d", 1)
	l.Infof("info %d", 2)
	l.Warningf("warning %d\n", 3)
	l.Errorf("error %d\n", 4)
	var got []string
	for _, e := range logs.All() {
		got = append(got, e.Level.String()+": "+e.Message)
	}
	want := "warn: token store: warning 3, error: token store: error 4"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("logged %q, want %q", s, want)
	}
	newLogger(nil).Errorf("discarded")
}

var must = testcheck.Must

// A store that compacts itself has all it had, less what was deleted or has
// expired, in fewer tables.
func TestCompact(t *testing.T) {
	s := open(t, t.TempDir())
	s.stop() // or maintain would do it
	<-s.done
	want := map[string]uint64{}
	rec := tokenstore.Record{Kind: tokenstore.KindAccess, Value: make([]byte, 256<<10)}
	level0 := func() (tables int) {
		for _, table := range s.db.Tables() {
			if table.Level == 0 {
				tables++
			}
		}
		return tables
	}
	for n := 0; level0() < minTables; n++ {
		rec.ID = rand.Text()
		version, err := s.Create(t.Context(), rec)
		must(t, err)
		if n%2 == 0 {
			want[rec.ID] = version
		} else if err := s.Delete(t.Context(), rec.Kind, rec.ID, version); err != nil {
			t.Fatal(err)
		}
	}
	must(t, s.compact())
	if n := level0(); n > 0 {
		t.Errorf("%d tables at level 0", n)
	}
	err := s.Scan(t.Context(), tokenstore.KindAccess, "", func(rec tokenstore.Record) bool {
		if want[rec.ID] != rec.Version {
			t.Errorf("%s has version %d, want %d", rec.ID, rec.Version, want[rec.ID])
		}
		delete(want, rec.ID)
		return true
	})
	if err != nil || len(want) > 0 {
		t.Errorf("%d records are lost, %v", len(want), err)
	}
}

// Much is not written again for little.
func TestIsWorthwhile(t *testing.T) {
	for _, c := range []struct {
		fresh, old int
		want       bool
	}{{minTables, 1, true}, {minTables, 15, true}, {minTables, 16, false}, {minTables - 1, 0, false}} {
		list := []badger.TableInfo{{Level: 1, OnDiskSize: uint32(c.old)}}
		for range c.fresh {
			list = append(list, badger.TableInfo{OnDiskSize: 1})
		}
		if is, size := isWorthwhile(list); is != c.want || size != int64(c.fresh+c.old) {
			t.Errorf("%d fresh ones beside %d: %v, size %d", c.fresh, c.old, is, size)
		}
	}
}

// A stored value is refused, or is what its record is written as.
func FuzzValue(f *testing.F) {
	f.Add([]byte(nil), int64(0))
	f.Add([]byte("1234567"), int64(1))
	f.Add([]byte("12345678"), int64(1<<40))
	f.Add([]byte("123456789"), int64(-1))
	f.Fuzz(func(t *testing.T, stored []byte, expires int64) {
		rec, err := decode(append([]byte{byte(tokenstore.KindAccess)}, "id"...), stored, uint64(max(expires, 0)))
		if err != nil {
			if len(stored) >= versionLen {
				t.Fatalf("%q: %v", stored, err)
			}
			return
		}
		e := entryOf(rec)
		if !bytes.Equal(e.Value, stored) || string(e.Key) != "\x01id" {
			t.Fatalf("%q is written as %q under %q", stored, e.Value, e.Key)
		}
		if expires > 0 && expires < time.Now().AddDate(1000, 0, 0).Unix() && e.ExpiresAt != uint64(expires) {
			t.Fatalf("expiry %d is written as %d", expires, e.ExpiresAt)
		}
	})
}

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
