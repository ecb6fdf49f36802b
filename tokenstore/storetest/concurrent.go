package storetest

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/millrace/millrace/tokenstore"
)

// parallel runs fn n times at once and waits for all.
func parallel(n int, fn func(i int)) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-start
			fn(i)
		})
	}
	close(start)
	wg.Wait()
}

func testCreateRace(t *testing.T, s tokenstore.Store) {
	for round := range 20 {
		id := fmt.Sprint("race-", round)
		var mu sync.Mutex
		wins := 0
		parallel(8, func(i int) {
			_, err := s.Create(t.Context(), record(access, id, fmt.Sprint(i)))
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				wins++
			case !errors.Is(err, tokenstore.ErrExists):
				t.Errorf("Create: %v", err)
			}
		})
		if wins != 1 {
			t.Fatalf("%d of 8 created the record", wins)
		}
	}
}

// increment adds one to a counter by compare-and-swap.
func increment(t *testing.T, s tokenstore.Store, id string) {
	for {
		rec, err := s.Get(t.Context(), access, id)
		if err != nil {
			t.Errorf("Get: %v", err)
			return
		}
		n, err := strconv.Atoi(string(rec.Value))
		if err != nil {
			t.Errorf("value: %v", err)
			return
		}
		rec.Value = strconv.AppendInt(nil, int64(n+1), 10)
		_, err = s.Update(t.Context(), rec)
		if err == nil {
			return
		}
		if !errors.Is(err, tokenstore.ErrConflict) {
			t.Errorf("Update: %v", err)
			return
		}
	}
}

func testUpdateRace(t *testing.T, s tokenstore.Store) {
	const workers, rounds = 8, 20
	create(t, s, record(access, "n", "0"))
	parallel(workers, func(int) {
		for range rounds {
			increment(t, s, "n")
		}
	})
	rec, err := s.Get(t.Context(), access, "n")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(rec.Value), fmt.Sprint(workers*rounds); got != want {
		t.Errorf("counter = %s, want %s", got, want)
	}
}

func testDeleteRace(t *testing.T, s tokenstore.Store) {
	for round := range 50 {
		rec := create(t, s, record(access, fmt.Sprint("r", round), "x"))
		var errs [2]error
		parallel(2, func(i int) {
			if i == 0 {
				errs[i] = s.Delete(t.Context(), access, rec.ID, rec.Version)
			} else {
				_, errs[i] = s.Update(t.Context(), rec)
			}
		})
		_, err := s.Get(t.Context(), access, rec.ID)
		switch {
		case errs[0] == nil && errors.Is(errs[1], tokenstore.ErrNotFound) && errors.Is(err, tokenstore.ErrNotFound):
		case errors.Is(errs[0], tokenstore.ErrConflict) && errs[1] == nil && err == nil:
		default:
			t.Fatalf("Delete: %v, Update: %v, then Get: %v", errs[0], errs[1], err)
		}
	}
}
