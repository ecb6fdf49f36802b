package console

import (
	"context"
	"testing"
	"time"

	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

// restarted returns the logins of an edge that starts with what another has stored.
func restarted(storage certmagic.Storage, log *zap.Logger) *logins {
	l := newLogins(time.Now)
	l.homes = newHomes(storage, log)
	l.homes.load(l)
	return l
}

// After a reload, the storage of the new configuration counts.
func TestHomesFollowReloads(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	before, after := &certmagic.FileStorage{Path: t.TempDir()}, &certmagic.FileStorage{Path: t.TempDir()}
	var leases []*operators
	var s *state
	for _, storage := range []certmagic.Storage{before, after} {
		leases = append(leases, new(operators))
		var err error
		if s, err = leaseState(lease{operators: leases[len(leases)-1], storage: storage}, zap.NewNop()); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.release(leases[0]); err != nil {
		t.Fatal(err)
	}
	expect(t, s.logins, "in", here, "ada", true)
	if err := s.release(leases[1]); err != nil { // waits until it is stored
		t.Fatal(err)
	}
	if n, m := len(restarted(before, zap.NewNop()).listHomes()), len(restarted(after, zap.NewNop()).listHomes()); n != 0 || m != 1 {
		t.Errorf("%d and %d homes are stored before and after, want 0 and 1", n, m)
	}
}

// Where operators have logged in outlives a restart.
func TestHomesOutliveRestarts(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", t.TempDir()) // has the id of the edge
	storage := &certmagic.FileStorage{Path: t.TempDir()}
	core, logs := observer.New(zap.InfoLevel)
	l := restarted(storage, zap.New(core))
	for range 3 { // the first time stores it
		expect(t, l, "in", here, "ada", true)
		l.homes.running.Wait()
	}
	expect(t, l, "wrong", elsewhere, "ada", false)
	l = restarted(storage, zap.New(core))
	for _, home := range l.listHomes() {
		if home.Name != "ada" || home.Address != here || time.Since(home.Used) > time.Hour {
			t.Errorf("stored: %+v", home)
		}
	}
	if _, from := l.ofAddress(here, familiarKey{"ada", here}, time.Now()); from != familiar {
		t.Error("after a restart ada is a stranger at home")
	}
	if _, from := l.ofAddress(elsewhere, familiarKey{"ada", elsewhere}, time.Now()); from == familiar {
		t.Error("a failure makes a home")
	}
	if logs.Len() > 0 {
		t.Errorf("logged %v", logs.All())
	}

	// What cannot be read is logged, locks nobody out, and is not overwritten.
	for _, broken := range []string{`{"format":2}`, `{`, `null`} {
		before := logs.Len()
		if err := storage.Store(context.Background(), l.homes.file, []byte(broken)); err != nil {
			t.Fatal(err)
		}
		l = restarted(storage, zap.New(core))
		expect(t, l, "in", here, "ada", true)
		l.homes.running.Wait()
		stored, err := storage.Load(context.Background(), l.homes.file)
		if string(stored) != broken || err != nil || logs.Len() != before+2 {
			t.Errorf("%s: %s, %v, %d lines in the log", broken, stored, err, logs.Len()-before)
		}
	}
	if err := storage.Delete(context.Background(), l.homes.file); err != nil {
		t.Fatal(err)
	}
	expect(t, l, "in", elsewhere, "ada", true)
	l.homes.running.Wait()
	if n := len(restarted(storage, zap.New(core)).listHomes()); n != 2 {
		t.Errorf("%d homes are stored once the file is gone, want 2", n)
	}
}
