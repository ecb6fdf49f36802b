package tokenstore_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/tokenstore/storetest"
)

// A record of a later format is refused with an error that names the formats, and stays as
// it is, whatever is asked for; one of format 1 that says so is read.
func TestLaterFormat(t *testing.T) {
	b := newTestbed(t, tokenstore.Config{})
	m, _, err := b.CreateMaster(t.Context(), tokenstore.MasterSpec{Name: "backend"})
	must(t, err)
	issued := b.issue(t, &m, grantAll("t"))
	rec, err := b.store.Get(t.Context(), tokenstore.KindAccess, issued.TokenID)
	must(t, err)
	first := string(rec.Value)
	write := func(value string) {
		t.Helper()
		rec.Value = []byte(value)
		rec.Version, err = b.store.Update(t.Context(), rec)
		must(t, err)
	}
	write(`{"format":1,` + first[1:])
	if _, err := b.Authenticate(t.Context(), issued.Token); err != nil {
		t.Errorf("a record that names format 1: %v", err)
	}

	// Also one that names a member differently, and whose other members have other types.
	for _, later := range []string{`{"format":2,` + first[1:], `{"secret_sha256":7,"created_by":{},"expires_at":[],"format":2,"right":"all"}`} {
		write(later)
		for call, err := range map[string]error{
			"Authenticate": errorOf(b.Authenticate(t.Context(), issued.Token)),
			"Lookup":       errorOf(b.Lookup(t.Context(), issued.TokenID)),
			"Refresh":      errorOf(b.Refresh(t.Context(), &m, issued.TokenID, tokenstore.Expiry{At: "2030-01-01T13:30:00Z"})),
			"Revoke":       errorOf(b.Revoke(t.Context(), &m, issued.Token)),
			"RevokeByID":   b.RevokeByID(t.Context(), &m, issued.TokenID),
			"DeleteMaster": errorOf(b.DeleteMaster(t.Context(), m.ID, true)),
		} {
			if !errors.Is(err, tokenstore.ErrFormat) || !errors.Is(err, tokenstore.ErrUnavailable) ||
				!strings.Contains(err.Error(), "has format 2") || !strings.Contains(err.Error(), "reads format 1") {
				t.Errorf("%s of a token of a later format: %v", call, err)
			}
		}
		now, err := b.store.Get(t.Context(), tokenstore.KindAccess, issued.TokenID)
		if err != nil || string(now.Value) != later {
			t.Errorf("the record is now %s, %v", now.Value, err)
		}
		var backup bytes.Buffer
		if err := b.Backup(t.Context(), &backup); err != nil || !strings.Contains(backup.String(), later) {
			t.Errorf("a backup without the record as it is: %v", err)
		}
		if _, err := tokenstore.CheckBackup(&backup); !errors.Is(err, tokenstore.ErrBadBackup) || !strings.Contains(err.Error(), "has format 2") {
			t.Errorf("CheckBackup: %v", err)
		}
	}
}

func errorOf[T any](_ T, err error) error { return err }

// partlyUnreadable is a Store with records that it leaves out of a Scan.
type partlyUnreadable struct{ tokenstore.Store }

func (partlyUnreadable) Unreadable() error { return tokenstore.UnknownFormat("one", 7, 1) }

// What must not leave out any token fails if the store cannot read them all.
func TestUnreadable(t *testing.T) {
	b := newTestbedOn(t, partlyUnreadable{storetest.NewMemory()}, tokenstore.Config{})
	m, _, err := b.CreateMaster(t.Context(), tokenstore.MasterSpec{Name: "backend"})
	must(t, err)
	var backup bytes.Buffer
	if err := b.Backup(t.Context(), &backup); !errors.Is(err, tokenstore.ErrFormat) || backup.Len() > 0 {
		t.Errorf("Backup: %v, and %d bytes", err, backup.Len())
	}
	if n, err := b.DeleteMaster(t.Context(), m.ID, true); !errors.Is(err, tokenstore.ErrFormat) {
		t.Errorf("DeleteMaster: %d, %v", n, err)
	}
}
