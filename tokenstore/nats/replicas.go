package nats

import (
	"sync"
	"time"

	"go.uber.org/zap"
)

// replicaLagGrace is how long a server may be behind before that is logged: a server
// that has just started is behind for a moment.
const replicaLagGrace = 5 * time.Second

// replicas is what the leader last reported about the servers that hold the bucket.
type replicas struct {
	mu           sync.Mutex // guards the rest
	current, all int
	reportedAt   time.Time // when the leader was asked for that
	allCurrentAt time.Time // when all were last current
	lagLogged    bool      // the log says that some are not
}

// update takes what the leader reported. at is when it was asked.
func (r *replicas) update(b bucketState, at time.Time, log *zap.Logger) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.current, r.all, r.reportedAt = b.current, b.replicas, at
	fields := []zap.Field{zap.Int("current", r.current), zap.Int("replicas", r.all)}
	switch {
	case r.current == r.all:
		if r.lagLogged {
			log.Info("all servers of the bucket have the tokens again", fields...)
		}
		r.lagLogged, r.allCurrentAt = false, at
	case r.allCurrentAt.IsZero():
		r.allCurrentAt = at // some were behind from the start
	case !r.lagLogged && at.Sub(r.allCurrentAt) > replicaLagGrace:
		log.Warn("not all servers of the bucket have the tokens: it may be one failure away from having no majority", fields...)
		r.lagLogged = true
	}
}

// reportTTL is how long a report of the leader counts: it is asked four times a second.
const reportTTL = 10 * time.Second

// Replicas implements [tokenstore.ReplicaReporter]: it returns what the leader reported
// in the last 10 s.
func (s *Store) Replicas() (current, all int) {
	s.replicas.mu.Lock()
	defer s.replicas.mu.Unlock()
	if time.Since(s.replicas.reportedAt) > reportTTL {
		return 0, 0
	}
	return s.replicas.current, s.replicas.all
}
