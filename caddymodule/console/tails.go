package console

import (
	"slices"
	"time"
)

const (
	maxLiveTokens = 16              // of an operator that are valid; another one ends the oldest
	liveBurst     = 20              // live tokens of an operator,
	liveEvery     = 5 * time.Second // and one more after each of these
)

// liveToken is an access token of a live tail. It ends with its session.
type liveToken struct {
	id        string
	publishes bool
	expires   time.Time
}

// liveIDs are the ids of a session's live tokens.
func (s *session) liveIDs() (ids []string) {
	for _, t := range s.liveTokens {
		ids = append(ids, t.id)
	}
	return ids
}

// mayTail counts a live token of an operator, whatever their sessions: the records of tokens
// are kept for a day.
func (s *state) mayTail(operator string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tails[operator] == nil {
		s.tails[operator] = new(attempts)
	}
	return s.tails[operator].take(s.now(), liveBurst, liveEvery) == 0
}

// addLive adds a live token to a session, and returns the ids of those that end for it. If
// the session has ended in the meantime, that is the token itself, and open is false.
func (s *state) addLive(id [32]byte, t liveToken) (over []string, open bool) {
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	own := s.sessions[id]
	if own == nil {
		return []string{t.id}, false
	}
	own.liveTokens = append(own.liveTokens, t)
	var oldest *session
	valid := 0
	for _, other := range s.sessions {
		if other.operator != own.operator {
			continue
		}
		other.liveTokens = slices.DeleteFunc(other.liveTokens, func(t liveToken) bool { return !now.Before(t.expires) })
		valid += len(other.liveTokens)
		if len(other.liveTokens) > 0 && (oldest == nil || other.liveTokens[0].expires.Before(oldest.liveTokens[0].expires)) {
			oldest = other
		}
	}
	if valid > maxLiveTokens {
		over = append(over, oldest.liveTokens[0].id)
		oldest.liveTokens = oldest.liveTokens[1:]
	}
	return over, true
}
