package nats

import (
	"encoding/hex"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/tokenstore"
)

// What a build of before 0.1.0 has put into the bucket is read, and changed. The token is of
// the year 2100.
func TestFormat1(t *testing.T) {
	t.Parallel()
	const token = "AT_14caf6cc3c040b269a27221c0f544a4d_778c51036d59c6dd5596d53a87877d42"
	header, err := hex.DecodeString("0100000000f487f350") // format 1, to be deleted in 2100
	must(t, err)
	value := string(header) + `{"secret_sha256":"fb97aee09ff9e6b977074159ffb4bcdd87e17db3c3646bd93aafecad79a07789","master_id":"cefda96c7a35cdc969426a05c183f2af",` +
		`"created_by":"x","created_at":"2100-01-01T00:00:00Z","expires_at":"2100-01-01T01:00:00Z","right":{"tenant_grants":[{"tenant_ids":["paint.room"],"allow_channels_pub":["a.#"]}]}}`
	s := openOne(t)
	kv := bucketOf(t, s)
	must(t, errorOf(kv.PutString(t.Context(), "1.14caf6cc3c040b269a27221c0f544a4d", value)))
	now := time.Date(2100, 1, 1, 0, 30, 0, 0, time.UTC)
	service, err := tokenstore.NewService(s, tokenstore.Config{Now: func() time.Time { return now }})
	must(t, err)
	a, err := service.Authenticate(t.Context(), token)
	if err != nil || !a.CanPublish([]byte("paint.room"), []byte("a.b")) {
		t.Fatalf("%+v, %v", a, err)
	}
	if rec, err := s.Get(t.Context(), access, a.ID); err != nil || rec.DeleteAfter.UTC() != time.Unix(0xf487f350, 0).UTC() {
		t.Errorf("%+v, %v", rec, err)
	}
	noError(t, service.RevokeByID(t.Context(), service.Overlay(), a.ID))
	entry, err := kv.Get(t.Context(), "1.14caf6cc3c040b269a27221c0f544a4d")
	if err != nil || entry.Value()[0] != 1 || !strings.Contains(string(entry.Value()), `"revoked_at":"2100-01-01T00:30:00Z"`) {
		t.Errorf("the bucket has %q, %v", entry.Value(), err)
	}
}

// A value of a later version is refused with an error that names the formats, by edges that
// knew the token and by those that start, and stays as it is, until somebody writes it in a
// known format, or deletes it.
func TestLaterFormat(t *testing.T) {
	t.Parallel()
	connect := natstest.Connect(natstest.Server(t))
	a := openReady(t, connect)
	rec := put(t, a, "x", time.Time{})
	kv := bucketOf(t, a)
	key := keyOf(access, "x")
	later, err := kv.Put(t.Context(), key, []byte("\x02of a later version"))
	must(t, err)
	await(t, "the running store has seen it", func() bool { return a.Unreadable() != nil })
	b := openReady(t, connect)
	for name, s := range map[string]testStore{"that knew the token": a, "that starts": b} {
		s.mirror.mu.Lock()
		s.mirror.now = func() time.Time { return time.Now().Add(2 * tombstoneTTL) }
		s.mirror.mu.Unlock()
		noError(t, s.removeExpired(t.Context()))
		get := func(_ tokenstore.Record, err error) error { return err }
		write := func(_ uint64, err error) error { return err }
		for call, err := range map[string]error{
			"Get": get(s.Get(t.Context(), access, "x")), "GetLocal": get(s.GetLocal(t.Context(), access, "x")),
			"GetLatest": get(s.GetLatest(t.Context(), access, "x")), "Unreadable": s.Unreadable(),
			"Update": write(s.Update(t.Context(), rec)), "Delete": s.Delete(t.Context(), access, "x", rec.Version),
		} {
			if !errors.Is(err, tokenstore.ErrFormat) || !strings.Contains(err.Error(), "access token x in the bucket has format 2") || !strings.Contains(err.Error(), "reads format 1") {
				t.Errorf("an edge %s: %s: %v", name, call, err)
			}
		}
		if _, err := s.Create(t.Context(), rec); !errors.Is(err, tokenstore.ErrExists) {
			t.Errorf("an edge %s: Create: %v", name, err)
		}
	}
	if entry, err := kv.Get(t.Context(), key); err != nil || entry.Revision() != later {
		t.Fatalf("the bucket has %+v, %v", entry, err)
	}

	// A full reading of the bucket leaves the record unreadable, as long as it is there.
	a.mirror.removeUnseen(entryKey{access, "x"}, 0, later)
	if a.Unreadable() == nil {
		t.Error("a reading that has seen the record drops it")
	}
	must(t, errorOf(kv.Put(t.Context(), key, encode(tokenstore.Record{Value: []byte("known")}))))
	for _, s := range []testStore{a, b} {
		await(t, "it can be read again", func() bool {
			got, err := s.Get(t.Context(), access, "x")
			return err == nil && string(got.Value) == "known"
		})
		noError(t, s.Unreadable())
	}
	must(t, errorOf(kv.Put(t.Context(), key, []byte("\x03"))))
	await(t, "the store has seen it", func() bool { return a.Unreadable() != nil })
	must(t, kv.Delete(t.Context(), key))
	await(t, "it is deleted", func() bool { _, err := a.Get(t.Context(), access, "x"); return errors.Is(err, tokenstore.ErrNotFound) })
}

// A full reading drops an unreadable record that the bucket does not have any more.
func TestUnreadableUnseen(t *testing.T) {
	m := newMirror()
	m.putUnreadable(access, "gone", 5, 1, errDamaged)
	m.putUnreadable(access, "there", 6, 1, errDamaged)
	m.putUnreadable(access, "there", 6, 2, errDamaged) // seen by the second reading
	if keys := m.unseen(2, 7); len(keys) != 1 || keys[0].id != "gone" {
		t.Errorf("unseen are %v", keys)
	}
	m.removeUnseen(entryKey{access, "gone"}, 2, 7)
	m.removeUnseen(entryKey{access, "there"}, 2, 7)
	if !errors.Is(m.missing(access, "gone"), tokenstore.ErrNotFound) || !errors.Is(m.missing(access, "there"), errDamaged) {
		t.Errorf("missing: %v, %v", m.missing(access, "gone"), m.missing(access, "there"))
	}
}

// Entries of the bucket that are not ours, or cannot be read, permit nothing, and do
// not keep others from being read.
func TestStrangeEntries(t *testing.T) {
	t.Parallel()
	connect := natstest.Connect(natstest.Server(t))
	a := openReady(t, connect)
	put(t, a, "good", time.Time{})
	broken := put(t, a, "broken", time.Time{})
	kv := bucketOf(t, a)
	for key, value := range map[string]string{
		"something": "else", "1.=67ood": string(encode(tokenstore.Record{Value: []byte("forged")})),
		keyOf(access, "broken"): "\x02 of a later version", keyOf(access, "short"): "",
	} {
		must(t, errorOf(kv.Put(t.Context(), key, []byte(value))))
	}
	await(t, "the running store has seen it", func() bool {
		_, ok := a.mirror.get(access, "broken")
		return !ok
	})
	put(t, a, "last", time.Time{})
	b := openReady(t, connect)
	for _, s := range []testStore{a, b} {
		if rec, err := s.Get(t.Context(), access, "good"); err != nil || string(rec.Value) != "x" {
			t.Errorf("Get = %+v, %v", rec, err)
		}
		for _, id := range []string{"broken", "short"} {
			if rec, err := s.Get(t.Context(), access, id); err == nil {
				t.Errorf("Get of what cannot be read = %+v", rec)
			}
		}
		if ids := s.mirror.ids(access, "", math.MaxInt); strings.Join(ids, " ") != "good last" {
			t.Errorf("has %v", ids)
		}
		if _, err := s.Update(t.Context(), broken); err == nil {
			t.Error("what cannot be read was replaced")
		}
	}
	for _, line := range []string{"the bucket has a key that is not ours", "a token cannot be read"} {
		if n := b.logs.FilterMessage(line).Len(); n != 2 {
			t.Errorf("%d log lines: %s; want 2", n, line)
		}
	}
}
