// Package storetest is the conformance suite of [tokenstore.Store]: every
// backend runs it, and it tests every line of the contract that can be tested
// on one open store. It also has a Store in memory for the tests of other packages.
package storetest

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/millrace/millrace/tokenstore"
)

const (
	access = tokenstore.KindAccess
	master = tokenstore.KindMaster
)

// eventTimeout is how long an event may take before a test fails.
const eventTimeout = 3 * time.Minute

// Run runs the suite. open returns an empty store and arranges for its end
// with t.Cleanup; a second Close must do no harm.
func Run(t *testing.T, open func(t *testing.T) tokenstore.Store) {
	for _, c := range []struct {
		name string
		test func(*testing.T, tokenstore.Store)
	}{
		{"create and get", testCreate},
		{"update", testUpdate},
		{"delete", testDelete},
		{"versions are never used twice", testVersions},
		{"kinds are apart", testKinds},
		{"the store copies values", testCopies},
		{"delete after", testDeleteAfter},
		{"scan", testScan},
		{"scan stops", testScanStops},
		{"cancelled context", testCancelled},
		{"close", testClose},
		{"close waits", testCloseWaits},
		{"watch", testWatch},
		{"watch stop", testWatchStop},
		{"a write has been watched when it returns", testWatchedBeforeReturn},
		{"one creator wins", testCreateRace},
		{"compare and swap loses no update", testUpdateRace},
		{"delete races update", testDeleteRace},
		{"watch order", testWatchOrder},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
	}
}

func record(kind tokenstore.Kind, id, value string) tokenstore.Record {
	return tokenstore.Record{Kind: kind, ID: id, Value: []byte(value)}
}

func create(t *testing.T, s tokenstore.Store, rec tokenstore.Record) tokenstore.Record {
	t.Helper()
	version, err := s.Create(t.Context(), rec)
	if err != nil {
		t.Fatalf("Create(%s %s): %v", rec.Kind, rec.ID, err)
	}
	rec.Version = version
	return rec
}

func wantErr(t *testing.T, what string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("%s: error %v, want %v", what, got, want)
	}
}

func wantRecord(t *testing.T, s tokenstore.Store, want tokenstore.Record) {
	t.Helper()
	got, err := s.Get(t.Context(), want.Kind, want.ID)
	if err != nil {
		t.Fatalf("Get(%s %s): %v", want.Kind, want.ID, err)
	}
	if !equal(got, want) {
		t.Errorf("Get = %+v, want %+v", got, want)
	}
}

func equal(a, b tokenstore.Record) bool {
	return a.Kind == b.Kind && a.ID == b.ID && bytes.Equal(a.Value, b.Value) &&
		a.Version == b.Version && a.DeleteAfter.Equal(b.DeleteAfter)
}
