package console

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"
)

const (
	idleTime    = 30 * time.Minute // without a request that its operator caused
	longestTime = 12 * time.Hour
	confirmTime = 10 * time.Minute // that a password counts as just typed

	maxSessionsOfOperator = 16    // the one that was used longest ago ends for another
	maxSessions           = 4_096 // of all consoles of this process, likewise
	maxCallsOfOperator    = 8     // under way at a time
)

// state outlives a reload, as long as one configuration has a console.
var states = caddy.NewUsagePool() // stateKey{} → *state

type stateKey struct{}

// state is what the consoles of this process share: the sessions, by the hashes of their
// keys, and the limits of logins.
type state struct {
	now    func() time.Time
	logins *logins

	revoking sync.WaitGroup // goroutines that revoke the live tokens of sessions that a reload ended

	mu       sync.Mutex // guards the rest, and what sessions say is guarded by it
	sessions map[[32]byte]*session
	calls    map[string]int       // under way, by operator
	tails    map[string]*attempts // live tokens, by operator
	consoles []lease              // of the configurations that are loaded
}

// lease is a console of a configuration that is loaded.
type lease struct {
	operators *operators
	revoke    func(liveTokens []string) // by their ids
	storage   certmagic.Storage         // of the configuration
}

// session is a login. The state's mutex guards what changes.
type session struct {
	id       [32]byte // the hash of its key
	operator string
	print    [32]byte // of the operator; see operator.print
	host     string   // that its cookie was set for
	created  time.Time

	used       time.Time // by its operator
	confirmed  time.Time // when the password was typed
	liveTokens []liveToken
}

func newState(now func() time.Time) *state {
	return &state{now: now, logins: newLogins(now), sessions: map[[32]byte]*session{}, calls: map[string]int{}, tails: map[string]*attempts{}}
}

// leaseState takes the state from the pool. A new one has from the storage where operators
// have logged in.
func leaseState(l lease, log *zap.Logger) (*state, error) {
	v, _, err := states.LoadOrNew(stateKey{}, func() (caddy.Destructor, error) {
		s := newState(time.Now)
		s.logins.homes = newHomes(l.storage, log)
		s.logins.homes.load(s.logins)
		return s, nil
	})
	if err != nil {
		return nil, err
	}
	s := v.(*state)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.consoles = append(s.consoles, l)
	s.useStorage()
	return s, nil
}

// useStorage has the storage of the configuration used that was loaded last. The caller holds
// s.mu.
func (s *state) useStorage() {
	if n := len(s.consoles); n > 0 && s.logins.homes != nil {
		s.logins.homes.use(s.consoles[n-1].storage)
	}
}

// release ends a console's use. The sessions of operators that no configuration has any
// more, or that have another password there, end for good, with their live tokens.
func (s *state) release(o *operators) error {
	s.mu.Lock()
	s.consoles = slices.DeleteFunc(s.consoles, func(l lease) bool { return l.operators == o })
	s.useStorage()
	var orphans []string
	for id, session := range s.sessions {
		stays, publishes := false, false
		for _, l := range s.consoles {
			if session.of(l.operators) {
				stays, publishes = true, publishes || l.operators.byName[session.operator].role == Manager
			}
		}
		if !stays {
			delete(s.sessions, id)
		}
		session.liveTokens = slices.DeleteFunc(session.liveTokens, func(t liveToken) bool {
			over := !stays || t.publishes && !publishes
			if over {
				orphans = append(orphans, t.id)
			}
			return over
		})
	}
	for name := range s.tails {
		if !slices.ContainsFunc(s.consoles, func(l lease) bool { _, known := l.operators.byName[name]; return known }) {
			delete(s.tails, name)
		}
	}
	// Without a console, tokens that are left expire within liveTokenLifetime.
	if n := len(s.consoles); n > 0 && len(orphans) > 0 {
		revoke := s.consoles[n-1].revoke
		s.revoking.Go(func() { revoke(orphans) })
	}
	s.mu.Unlock()
	_, err := states.Delete(stateKey{})
	return err
}

// Destruct implements [caddy.Destructor].
func (s *state) Destruct() error {
	s.revoking.Wait()
	if s.logins.homes != nil {
		s.logins.homes.running.Wait()
	}
	return nil
}

// of reports whether a configuration has the session's operator, unchanged.
func (s *session) of(o *operators) bool {
	op, known := o.byName[s.operator]
	return known && op.print == s.print
}

// open makes a session, and returns its key, which is nowhere else: 256 random bits. It
// also returns the live tokens, by their ids, of the sessions that ended for it.
func (s *state) open(name string, op operator, host string) (key string, made session, orphans []string) {
	var random [32]byte
	_, _ = rand.Read(random[:]) // documented never to fail
	key = base64.RawURLEncoding.EncodeToString(random[:])
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	orphans = s.makeRoom(name, now)
	n := &session{
		id: sha256.Sum256([]byte(key)), operator: name, print: op.print, host: host,
		created: now, used: now, confirmed: now,
	}
	s.sessions[n.id] = n
	return key, *n, orphans
}

// makeRoom forgets sessions that are over, and ends old ones where there are too many. It
// returns the live tokens of the latter; those of the former have expired. The caller holds
// s.mu.
func (s *state) makeRoom(name string, now time.Time) (orphans []string) {
	var all, ofOperator []*session
	for id, other := range s.sessions {
		if other.over(now) {
			delete(s.sessions, id)
			continue
		}
		all = append(all, other)
		if other.operator == name {
			ofOperator = append(ofOperator, other)
		}
	}
	oldest := func(list []*session) *session {
		return slices.MinFunc(list, func(a, b *session) int { return a.used.Compare(b.used) })
	}
	var over *session
	switch {
	case len(ofOperator) >= maxSessionsOfOperator:
		over = oldest(ofOperator)
	case len(all) >= maxSessions:
		over = oldest(all)
	default:
		return nil
	}
	delete(s.sessions, over.id)
	return over.liveIDs()
}

// over reports whether a session has ended by itself.
func (s *session) over(now time.Time) bool {
	return !now.Before(s.idleAt()) || !now.Before(s.endsAt())
}

// find returns the session of a key at a host, for a console with these operators. A call
// that its operator did not cause, such as one of a timer, does not prolong it.
func (s *state) find(key, host string, o *operators, caused bool) (found session, ok bool) {
	id := sha256.Sum256([]byte(key))
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.sessions[id] // that this takes longer for some hashes says nothing about keys
	switch {
	case known == nil:
		return found, false
	case known.over(now):
		delete(s.sessions, id)
		return found, false
	case known.host != host || !known.of(o):
		return found, false
	}
	if caused {
		known.used = now
	}
	return *known, true
}

// change calls f with a session that is open.
func (s *state) change(id [32]byte, f func(*session)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.sessions[id]
	if known != nil {
		f(known)
	}
	return known != nil
}

// begin counts a call of an operator, and end undoes that; ok is false where too many are
// under way.
func (s *state) begin(operator string) (end func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls[operator] >= maxCallsOfOperator {
		return nil, false
	}
	s.calls[operator]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.calls[operator]--; s.calls[operator] == 0 {
			delete(s.calls, operator)
		}
	}, true
}

// close ends a session, and returns its live tokens by their ids.
func (s *state) close(id [32]byte) (liveTokens []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.sessions[id]; known != nil {
		liveTokens = known.liveIDs()
		delete(s.sessions, id)
	}
	return liveTokens
}

// confirmedUntil is when the password has to be typed again for what is most dangerous.
func (s *session) confirmedUntil() time.Time { return s.confirmed.Add(confirmTime) }

// endsAt is when the session ends whatever its operator does.
func (s *session) endsAt() time.Time { return s.created.Add(longestTime) }

// idleAt is when the session ends if its operator does nothing.
func (s *session) idleAt() time.Time { return s.used.Add(idleTime) }
