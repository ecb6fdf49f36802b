package console

import (
	"context"
	"time"
)

// lane is where passwords are checked, one at a time: whoever guesses takes a part of one
// processor at most.
type lane struct {
	rest    int           // times as long as the work took
	waiting chan struct{} // a place for each that waits or works
	turn    chan struct{}
}

func newLane(rest int) lane {
	return lane{rest, make(chan struct{}, maxWaiting), make(chan struct{}, 1)}
}

// run runs check when it is its turn.
func (l *lane) run(ctx context.Context, check func()) error {
	select {
	case l.waiting <- struct{}{}:
	default:
		return errTooManyAttempts{time.Second}
	}
	defer func() { <-l.waiting }()
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	begin := time.Now()
	check()
	rest := time.Duration(l.rest) * time.Since(begin)
	if rest == 0 {
		<-l.turn
		return nil
	}
	time.AfterFunc(rest, func() { <-l.turn }) // the next one's turn; nobody waits for this
	return nil
}
