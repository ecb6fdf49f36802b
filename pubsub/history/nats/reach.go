package nats

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub/history"
)

// stillOut is how often a history that stays out of reach is logged.
const stillOut = time.Minute

// announce says when the history has been out of reach for longer than calls wait for it, and when it is back.
func (st *stream) announce(ctx context.Context) {
	for ctx.Err() == nil {
		up, changed := st.isUp()
		began, next, out := time.Now(), time.After(st.store.patience), false
		for !up && ctx.Err() == nil {
			select {
			case <-changed:
				up, changed = st.isUp()
			case <-next:
				next = time.After(stillOut)
				why := st.setAway(true)
				st.store.log.Warn("a history is out of reach", st.fields(began, zap.Error(why))...)
				if f := st.store.joined(); f != nil && !out {
					f.Reach(st.name, false)
				}
				out = true
			case <-ctx.Done():
			}
		}
		if out {
			_ = st.setAway(false)
			if f := st.store.joined(); f != nil {
				f.Reach(st.name, true)
			}
			if ctx.Err() == nil {
				st.store.log.Info("a history is in reach again", st.fields(began)...)
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

func (st *stream) fields(began time.Time, more ...zap.Field) []zap.Field {
	return append([]zap.Field{zap.String("history", st.name), zap.Duration("for", time.Since(began).Round(time.Millisecond))}, more...)
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

// OutOfReach implements [history.Shared].
func (s *Store) OutOfReach() map[string]error {
	all := map[string]error{}
	s.mu.Lock()
	for name, w := range s.wanted {
		if !w.done && time.Since(w.since) > s.patience {
			all[name] = fmt.Errorf("%w, since it could not be defined: %w", history.ErrUnknown, cmp.Or(w.why, errNotReceived))
		}
	}
	streams := maps.Clone(s.streams)
	s.mu.Unlock()
	for name, st := range streams {
		st.mu.Lock()
		if st.away {
			all[name] = cmp.Or(st.why, errNotReceived)
		}
		st.mu.Unlock()
	}
	return all
}
