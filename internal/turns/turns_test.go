package turns

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

// A caller that wants more than its turns waits, alone; what has no calls is forgotten.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var turns Turns
		take := func(caller string) func() {
			leave, err := turns.Take(t.Context(), caller, 2)
			if err != nil {
				t.Error(err)
			}
			return leave
		}
		first, second := take("greedy"), take("greedy")
		third := make(chan func())
		go func() { third <- take("greedy") }()
		canceled, cancel := context.WithCancelCause(t.Context())
		why := errors.New("it was enough")
		go cancel(why)
		if _, err := turns.Take(canceled, "greedy", 2); err != why {
			t.Errorf("one that does not wait any more: %v", err)
		}
		take("other")()
		select {
		case <-third:
			t.Error("a third one has begun")
		default:
		}
		first()
		(<-third)()
		second()
		if n := len(turns.callers); n != 0 {
			t.Errorf("%d callers are known that have no calls", n)
		}
	})
}
