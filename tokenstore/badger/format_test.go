package badger

import (
	"errors"
	"maps"
	"math"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"
	"go.uber.org/zap"

	"github.com/millrace/millrace/internal/unpack"
	"github.com/millrace/millrace/tokenstore"
)

// What a build of before 0.1.0 has stored, which names no format, is read and changed. The
// tokens are of the year 2100.
func TestFormat1(t *testing.T) {
	const (
		master  = "MT_cefda96c7a35cdc969426a05c183f2af_72a585127ed2b19897606af433689de0"
		valid   = "AT_14caf6cc3c040b269a27221c0f544a4d_778c51036d59c6dd5596d53a87877d42"
		revoked = "AT_68ad10e786c26675f1a05791b690cfcc_cdf46d01c82e4c046885c839619b7d4c"
	)
	dir := unpack.TarGz(t, "testdata/format1.tar.gz")
	for range 2 {
		s, err := Open(Config{Dir: dir})
		must(t, err)
		now := time.Date(2100, 1, 1, 0, 30, 0, 0, time.UTC)
		service, err := tokenstore.NewService(s, tokenstore.Config{Now: func() time.Time { return now }})
		must(t, err)
		m, err := service.AuthenticateMasterLocal(t.Context(), master, netip.IPv4Unspecified())
		must(t, err)
		a, err := service.Authenticate(t.Context(), valid)
		if err != nil || !a.CanPublish([]byte("paint.room"), []byte("a.b")) || a.CanPublish([]byte("paint.room"), []byte("b")) {
			t.Errorf("the valid token: %+v, %v", a, err)
		}
		if _, err := service.Authenticate(t.Context(), revoked); !errors.Is(err, tokenstore.ErrTokenEnded) {
			t.Errorf("the revoked token: %v", err)
		}
		_, err = service.Refresh(t.Context(), m, a.ID, tokenstore.Expiry{At: "2100-01-01T02:00:00Z"})
		must(t, err)
		must(t, s.Close())
		if got := contents(t, dir)[string(formatKey)]; got != "\x01" {
			t.Errorf("the database has the format %q", got)
		}
	}
}

// contents is all that a database has.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	edit(t, dir, func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.DefaultIteratorOptions)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			value, err := it.Item().ValueCopy(nil)
			if err != nil {
				return err
			}
			all[string(it.Item().Key())] = string(value)
		}
		return nil
	})
	return all
}

func edit(t *testing.T, dir string, change func(*badger.Txn) error) {
	t.Helper()
	db, err := badger.Open(databaseOptions(dir, zap.NewNop()))
	must(t, err)
	must(t, errors.Join(db.Update(change), db.Close()))
}

// A database of a later version is refused, also where there is no room to write, and
// nothing is changed there.
func TestLaterFormat(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(Config{Dir: dir})
	must(t, err)
	_, err = s.Create(t.Context(), tokenstore.Record{Kind: tokenstore.KindAccess, ID: "a", Value: []byte("x")})
	must(t, errors.Join(err, s.Close()))
	edit(t, dir, func(txn *badger.Txn) error { return txn.Set(formatKey, []byte{2}) })
	before := contents(t, dir)
	for _, reserve := range []int64{0, math.MaxInt64 / 2} {
		s, err := Open(Config{Dir: dir, Reserve: reserve})
		if err == nil {
			_ = s.Close()
		}
		if !errors.Is(err, tokenstore.ErrFormat) || !strings.Contains(err.Error(), dir+" has format 2") || !strings.Contains(err.Error(), "reads format 1") {
			t.Errorf("with a reserve of %d: %v", reserve, err)
		}
		if after := contents(t, dir); !maps.Equal(before, after) {
			t.Errorf("the database had %q, and has %q", before, after)
		}
	}
}
