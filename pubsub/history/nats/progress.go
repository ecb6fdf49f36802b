package nats

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.uber.org/zap"
)

// errStalled ends a session in which nothing comes of what the leader has acknowledged: the replica
// from which it reads is behind, and may stay so. After a partition some do, for minutes.
var errStalled = errors.New("the replica that it is read from does not have what the leader has")

// maxStallTicks bounds how many intervals in a row without a message are waited for.
const maxStallTicks = 5

// watchOver closes what comes in when the first of some watchers returns. why, which is called at the
// end, ends them all, and returns that watcher's error, or the one that it is given if none had one.
func watchOver(ctx context.Context, in *incoming, watchers ...func(context.Context) error) (why func(error) error) {
	ctx, stop := context.WithCancelCause(ctx)
	var running sync.WaitGroup
	for _, watch := range watchers {
		running.Go(func() {
			stop(watch(ctx))
			in.close()
		})
	}
	ended := errors.New("the session has ended")
	return func(err error) error {
		stop(ended)
		running.Wait()
		if cause := context.Cause(ctx); !errors.Is(cause, ended) {
			return cause
		}
		return err
	}
}

// watchProgress ends a session that does not receive what the stream has. mark is what must come first.
// Where the leader is silent for two call timeouts, the history is out of reach until it is not.
func (st *stream) watchProgress(ctx context.Context, server string, mark uint64) error {
	s := st.store
	ticker := time.NewTicker(s.heartbeat())
	defer ticker.Stop()
	last, quiet, answered, silent := st.lastNumber(), 0, time.Now(), false
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		before := last
		if last = st.lastNumber(); last >= mark {
			st.stalls = 0
		}
		if last != before && !silent {
			quiet, answered = 0, time.Now()
			continue
		}
		if quiet++; last < mark {
			if quiet >= min(2+st.stalls, maxStallTicks) {
				s.log.Warn("a server is behind with a history, which is read from another one now", zap.String("history", st.name), zap.String("server", server))
				st.stalls++
				if server != "" { // else there is no other one
					st.shunned[server] = time.Now()
				}
				return errStalled
			}
			continue
		}
		// Who hears nothing cannot know that there is nothing. The last one may have been removed since, and
		// then never comes; a mark comes, and can be stored while servers have no leader of all.
		info, err := s.streamInfo(ctx, s.names.stream(st.name))
		if err != nil || silent || info.State.LastSeq > last {
			if mark, err = st.remark(ctx, mark, silent); err == nil {
				quiet, silent = 0, false
			}
		}
		switch {
		case errors.Is(err, errRestart):
			return err
		case err == nil:
			answered = time.Now()
		case !silent && time.Since(answered) > 2*s.callTimeout:
			silent = true
			st.setDown(err)
		}
	}
}

// remark stores another mark, which is to come. The stream may be another one where its leader was silent.
func (st *stream) remark(ctx context.Context, mark uint64, silent bool) (uint64, error) {
	next, err := st.mark(ctx)
	if err != nil {
		return mark, err
	}
	if silent {
		epoch, known := st.known()
		if same, err := st.isSame(ctx, epoch, next); err != nil {
			return mark, err
		} else if !same || !known {
			return mark, errRestart
		}
		st.want(next)
	}
	return next, nil
}

// lastNumber returns the number up to which all was received.
func (st *stream) lastNumber() uint64 {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.last.n
}

// shunTime is how long no consumer is used on a server that was behind.
const shunTime = time.Minute

// isShunned reports whether a server was behind a while ago.
func (st *stream) isShunned(server string) bool {
	at, ok := st.shunned[server]
	if ok && time.Since(at) > shunTime {
		delete(st.shunned, server)
		ok = false
	}
	return ok
}
