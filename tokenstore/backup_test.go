package tokenstore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/tokenstore/storetest"
)

func (b *testbed) backup(t *testing.T) []byte {
	t.Helper()
	var file bytes.Buffer
	must(t, b.Backup(t.Context(), &file))
	return file.Bytes()
}

func (b *testbed) restored(t *testing.T, file []byte, o tokenstore.RestoreOptions, want tokenstore.Restored) {
	t.Helper()
	got, err := b.Restore(t.Context(), bytes.NewReader(file), o)
	if err != nil || got != want {
		t.Errorf("restored %+v, %v\nwant %+v", got, err, want)
	}
}

// A backup brings an empty store back, more than a page of it, and nothing else.
func TestBackup(t *testing.T) {
	b := newTestbed(t, tokenstore.Config{})
	m, master := b.master(t, "paint.")
	var tokens []tokenstore.Issued
	for i := range 1100 {
		tokens = append(tokens, b.issue(t, m, grantAll(fmt.Sprintf("t%d", i))))
	}
	revoked := tokens[0]
	must(t, errorOf(b.Revoke(t.Context(), m, revoked.Token)))
	file := b.backup(t)
	if secret := tokens[1].Token[36:]; bytes.Contains(file, []byte(secret)) || bytes.Contains(file, []byte(master[36:])) {
		t.Error("a secret is in the backup")
	}
	if got, err := tokenstore.CheckBackup(bytes.NewReader(file)); err != nil || got.MasterTokens != 1 || got.AccessTokens != 1100 || !got.TakenAt.Equal(noon) {
		t.Errorf("CheckBackup = %+v, %v", got, err)
	}

	empty := newTestbed(t, tokenstore.Config{})
	all := tokenstore.Restored{MasterTokens: 1, AccessTokens: 1100, Valid: 1099}
	empty.restored(t, file, tokenstore.RestoreOptions{DryRun: true}, all)
	wantErr(t, "a dry run", errorOf(empty.Authenticate(t.Context(), tokens[1].Token)), tokenstore.ErrUnauthorized)
	empty.restored(t, file, tokenstore.RestoreOptions{}, all)
	empty.restored(t, file, tokenstore.RestoreOptions{}, tokenstore.Restored{Kept: 1101})
	for _, issued := range tokens[1:] {
		must(t, errorOf(empty.Authenticate(t.Context(), issued.Token)))
	}
	wantErr(t, "a revoked token", errorOf(empty.Authenticate(t.Context(), revoked.Token)), tokenstore.ErrUnauthorized)
	noError(t, errorOf(empty.AuthenticateMaster(t.Context(), master, netip.Addr{})))
	if again := empty.backup(t); !bytes.Equal(again, file) {
		t.Error("a backup of what was restored is another one")
	}
}

// A restore undoes no revocation, and makes up for one that the store does not know.
func TestRestoreIntoUse(t *testing.T) {
	b := newTestbed(t, tokenstore.Config{})
	m, _ := b.master(t, "")
	early, late := b.issue(t, m, grantAll("t")), b.issue(t, m, grantAll("t"))
	before := b.backup(t)
	for _, issued := range []tokenstore.Issued{early, late} {
		must(t, errorOf(b.Revoke(t.Context(), m, issued.Token)))
	}
	after := b.backup(t)
	b.restored(t, before, tokenstore.RestoreOptions{}, tokenstore.Restored{Kept: 3})
	for _, issued := range []tokenstore.Issued{early, late} {
		wantErr(t, "a revoked token", errorOf(b.Authenticate(t.Context(), issued.Token)), tokenstore.ErrUnauthorized)
	}

	other := newTestbed(t, tokenstore.Config{})
	other.restored(t, before, tokenstore.RestoreOptions{MastersOnly: true}, tokenstore.Restored{MasterTokens: 1, Skipped: 2})
	other.restored(t, before, tokenstore.RestoreOptions{}, tokenstore.Restored{AccessTokens: 2, Valid: 2, Kept: 1})
	var told []tokenstore.Change
	defer other.store.Watch(func(c tokenstore.Change) { told = append(told, c) })()
	other.restored(t, after, tokenstore.RestoreOptions{DryRun: true}, tokenstore.Restored{Revoked: 2, Kept: 1})
	other.restored(t, after, tokenstore.RestoreOptions{}, tokenstore.Restored{Revoked: 2, Kept: 1})
	if len(told) != 2 { // which ends their sessions
		t.Errorf("%d changes, want 2", len(told))
	}

	late2 := newTestbed(t, tokenstore.Config{})
	late2.advance(time.Hour + tokenstore.KeepExpired)
	late2.restored(t, before, tokenstore.RestoreOptions{}, tokenstore.Restored{MasterTokens: 1, Expired: 2})
}

// What is no whole backup is refused, and says where.
func TestBadBackups(t *testing.T) {
	b := newTestbed(t, tokenstore.Config{})
	m, _ := b.master(t, "paint.")
	b.issue(t, m, grantAll("t"))
	file := string(b.backup(t))
	lines := strings.SplitAfter(file, "\n")
	edit := func(line int, from, to string) string {
		changed := append([]string(nil), lines...)
		if changed[line] = strings.Replace(lines[line], from, to, 1); changed[line] == lines[line] {
			t.Fatalf("%q is not in %s", from, lines[line])
		}
		return strings.Join(changed, "")
	}
	for name, tt := range map[string]struct{ file, want string }{
		"empty":           {"", "it ends in line 1"},
		"another file":    {"{}\n", "its first line is not that of one"},
		"another version": {edit(0, `"version":1`, `"version":2`), "its version is 2, and not 1"},
		"cut":             {file[:len(file)/2], "it ends in line"},
		"without its end": {strings.Join(lines[:3], ""), "it ends in line 4"},
		"a line less":     {lines[0] + lines[2] + lines[3], "line 3 does not fit"},
		"changed":         {edit(2, "#", "x"), "line 4 does not fit"},
		"with more":       {file + "x", "line 4 is not the last one"},
		"another kind":    {edit(1, `"master"`, `"slave"`), "line 2 has an unknown kind of record; known are master and access"},
		"no id":           {edit(1, `"id":"`, `"id":"x`), "line 2 has no id of a token"},
		"no record":       {edit(2, `"secret_sha256":"`, `"secret_sha256":"z`), "line 3 has an access token that cannot be read"},
		"a bad record":    {edit(2, `["#"]`, `["["]`), "line 3 has an access token that breaks a rule"},
		"a long life":     {edit(2, `"expires_at":"2`, `"expires_at":"3`), "line 3 has an access token that breaks a rule"},
		"a wide prefix":   {edit(1, `"tenant_prefix":"paint."`, `"tenant_prefix":"paint"`), "line 2 has a master token that breaks a rule"},
		"no JSON":         {edit(1, "{", "["), "line 2 is not JSON"},
		"a long line":     {lines[0] + strings.Repeat("x", tokenstore.MaxRecord+2000) + "\n", "line 2 is too long"},
	} {
		_, checked := tokenstore.CheckBackup(strings.NewReader(tt.file))
		_, restored := newTestbed(t, tokenstore.Config{}).Restore(t.Context(), strings.NewReader(tt.file), tokenstore.RestoreOptions{})
		for _, err := range []error{checked, restored} {
			if !errors.Is(err, tokenstore.ErrBadBackup) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: %v, want %q", name, err, tt.want)
			}
		}
	}
}

// A store that fails ends a restore with its error.
func TestRestoreFails(t *testing.T) {
	b := newTestbed(t, tokenstore.Config{})
	m, _ := b.master(t, "")
	for range 200 {
		b.issue(t, m, grantAll("t"))
	}
	file := b.backup(t)
	full := newTestbedOn(t, fullStore{storetest.NewMemory()}, tokenstore.Config{})
	if _, err := full.Restore(t.Context(), bytes.NewReader(file), tokenstore.RestoreOptions{}); !errors.Is(err, tokenstore.ErrInsufficientStorage) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Restore(ctx, bytes.NewReader(file), tokenstore.RestoreOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// fullStore has no room.
type fullStore struct{ tokenstore.Store }

func (fullStore) Create(context.Context, tokenstore.Record) (uint64, error) {
	return 0, tokenstore.ErrInsufficientStorage
}
