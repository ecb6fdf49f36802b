package nats

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/millrace/millrace/internal/outage"
)

// announce says when the history has been out of reach for longer than calls wait for it, and when it is back.
func (st *stream) announce(ctx context.Context) {
	for ctx.Err() == nil {
		up, changed := st.isUp()
		away, next := false, time.After(st.store.patience)
		for !up && ctx.Err() == nil {
			select {
			case <-changed:
				up, changed = st.isUp()
			case <-next:
				next = time.After(faultSilence / 3)
				why := st.setAway(true)
				st.store.faults.Note("history "+st.name, "", outage.Line{
					Level: zap.WarnLevel, Message: "a history is out of reach", Over: "a history is in reach again",
					Fields: []zap.Field{zap.String("history", st.name)}, Err: why,
				})
				if f := st.store.joined(); f != nil && !away {
					f.Reach(st.name, false)
				}
				away = true
			case <-ctx.Done():
			}
		}
		if away {
			_ = st.setAway(false)
			st.store.faults.End("history " + st.name)
			if f := st.store.joined(); f != nil {
				f.Reach(st.name, true)
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// setAway notes whether the history is out of reach, and returns why it was last.
func (st *stream) setAway(away bool) (why error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.away = away
	return st.why
}

// errNotReceived is why a history is out of reach before the first attempt to receive it has ended.
var errNotReceived = errors.New("it has not been received yet")
