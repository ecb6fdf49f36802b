package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/millrace/millrace/tokenstore"
)

func testCancelled(t *testing.T, s tokenstore.Store) {
	rec := create(t, s, record(access, "a", "x"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for what, err := range callAll(ctx, s, rec) {
		wantErr(t, what, err, context.Canceled)
	}
	wantRecord(t, s, rec)
}

func testClose(t *testing.T, s tokenstore.Store) {
	rec := create(t, s, record(access, "a", "x"))
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for what, err := range callAll(t.Context(), s, rec) {
		wantErr(t, what+" after Close", err, tokenstore.ErrClosed)
	}
}

func testCloseWaits(t *testing.T, s tokenstore.Store) {
	create(t, s, record(access, "seed", "x"))
	started := make(chan struct{}, 8)
	closed := make(chan struct{})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := 0; ; n++ {
				_, err := s.Create(t.Context(), record(access, fmt.Sprintf("%d-%d", i, n), "x"))
				if n == 0 {
					started <- struct{}{}
				}
				if errors.Is(err, tokenstore.ErrClosed) {
					return
				}
				if err != nil {
					t.Errorf("Create during Close: %v", err)
					return
				}
			}
		})
	}
	for range 8 {
		<-started
	}
	go func() {
		defer close(closed)
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}()
	wg.Wait()
	select {
	case <-closed:
	case <-time.After(eventTimeout):
		t.Fatal("Close does not return")
	}
}

// callAll makes each call that can fail.
func callAll(ctx context.Context, s tokenstore.Store, rec tokenstore.Record) map[string]error {
	_, get := s.Get(ctx, rec.Kind, rec.ID)
	_, create := s.Create(ctx, record(rec.Kind, "other", "x"))
	_, update := s.Update(ctx, rec)
	return map[string]error{
		"Get": get, "Create": create, "Update": update,
		"Delete": s.Delete(ctx, rec.Kind, rec.ID, rec.Version),
		"Scan":   s.Scan(ctx, rec.Kind, "", func(tokenstore.Record) bool { return true }),
	}
}
