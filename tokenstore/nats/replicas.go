package nats

import (
	"sync"
	"time"

	"go.uber.org/zap"
)

// replicasTime is how long a server may be behind before the log says so: one that
// has just been started is, for a moment.
const replicasTime = 5 * time.Second

// replicas is what the leader has said of the servers that have the bucket.
type replicas struct {
	mu           sync.Mutex // guards the rest
	current, all int
	said         time.Time // when the leader said so
	whole        time.Time // when all were current, the last time
	told         bool      // that some are not
}

// note takes what the leader said, at a time.
func (r *replicas) note(p position, at time.Time, log *zap.Logger) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.current, r.all, r.said = p.current, p.replicas, at
	fields := []zap.Field{zap.Int("current", r.current), zap.Int("replicas", r.all)}
	switch {
	case r.current == r.all:
		if r.told {
			log.Info("all servers of the bucket have the tokens again", fields...)
		}
		r.told, r.whole = false, at
	case r.whole.IsZero():
		r.whole = at // it was so from the start
	case !r.told && at.Sub(r.whole) > replicasTime:
		log.Warn("not all servers of the bucket have the tokens: it may be one failure away from having no majority", fields...)
		r.told = true
	}
}

// saidTime is how long the word of a leader is believed: it is asked four times a second.
const saidTime = 10 * time.Second

// Replicas implements [tokenstore.ReplicaReporter]: as their leader said in the last 10 s.
func (s *Store) Replicas() (current, all int) {
	s.replicas.mu.Lock()
	defer s.replicas.mu.Unlock()
	if time.Since(s.replicas.said) > saidTime {
		return 0, 0
	}
	return s.replicas.current, s.replicas.all
}
