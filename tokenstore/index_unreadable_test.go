package tokenstore

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
)

// unreadableStore is a Store that cannot be read until it is repaired.
type unreadableStore struct {
	Store
	repaired atomic.Bool
}

func (s *unreadableStore) Watch(func(Change)) func() { return func() {} }

func (s *unreadableStore) Scan(context.Context, Kind, string, func(Record) bool) error {
	if s.repaired.Load() {
		return nil
	}
	return ErrUnavailable
}

// A call that needs the index does not wait for a store that cannot be read, and the
// index works when the store does.
func TestIndexUnreadable(t *testing.T) {
	s := new(unreadableStore)
	x := NewIndex(s)
	defer x.Close()
	if _, err := x.reserve(t.Context(), "m", Quota{MaxTokens: 1}, "id", 1); !errors.Is(err, ErrUnavailable) {
		t.Fatalf("error %v", err)
	}
	s.repaired.Store(true)
	release, err := x.reserve(t.Context(), "m", Quota{MaxTokens: 1}, "id", 1)
	if err != nil { // the attempt that failed just now has ended before the call
		t.Fatal(err)
	}
	release()
}
