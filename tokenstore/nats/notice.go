package nats

import (
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/millrace/millrace/tokenstore"
)

// Edges tell each other of revocations by a link of their own, too: it is up sooner than the
// bucket after a fault, and does not depend on where the bucket's leader is. A notice proves
// nothing, so it only makes other edges ask: see hold. An edge whose copy is not confirmed
// asks by the same link what others know, four times a second: it may have been stopped, or
// the link was down when they sent their notices.
type notice struct {
	Bucket  time.Time `json:"bucket"`            // when the bucket was made
	Changed []change  `json:"changed,omitempty"` // records whose right may have ended
	After   *uint64   `json:"after,omitempty"`   // a question: what was changed after this revision?
}

// answerInterval is the least time between two answers to such questions, which go to all.
const answerInterval = probeInterval

// notices are the links by which they go.
type notices struct {
	mu         sync.Mutex
	links      []*link
	answeredAt time.Time
}

type link struct {
	send  func([]byte)
	doubt func(tokenID string)
}

// Link implements [tokenstore.Linker].
func (s *Store) Link(send func(notice []byte), doubt func(tokenID string)) (take func(notice []byte) error, unlink func()) {
	n, l := &s.notices, &link{send, doubt}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.links = append(n.links, l)
	return s.takeNotice, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.links = slices.DeleteFunc(slices.Clone(n.links), func(other *link) bool { return other == l })
	}
}

// list returns the links, to be used without the lock.
func (n *notices) list() []*link {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.links[:len(n.links):len(n.links)]
}

// mayAnswer reports whether a question is to be answered now.
func (n *notices) mayAnswer(now time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if now.Sub(n.answeredAt) < answerInterval {
		return false // whoever asks asks again
	}
	n.answeredAt = now
	return true
}

// notify tells the other edges something.
func (s *Store) notify(n notice) {
	links := s.notices.list()
	if n.Bucket = s.progress.snapshot().created; len(links) == 0 || n.Bucket.IsZero() {
		return
	}
	message, err := json.Marshal(n)
	if err != nil {
		panic(err) // JSON can encode all that it has
	}
	for _, l := range links {
		l.send(message)
	}
}

// notifyChange tells the other edges of a change that this one has made.
func (s *Store) notifyChange(c tokenstore.Change, revision uint64) {
	if tokenstore.MayEnd(c) {
		s.notify(notice{Changed: []change{{keyOf(c.Record.Kind, c.Record.ID), revision}}})
	}
}

// doubt says that it takes long to learn what became of a record.
func (s *Store) doubt(key entryKey) {
	if key.kind != tokenstore.KindAccess {
		return
	}
	for _, l := range s.notices.list() {
		l.doubt(key.id)
	}
}

var errNotice = errors.New("not a notice of an edge about tokens")

// takeNotice takes what another edge says.
func (s *Store) takeNotice(message []byte) error {
	var n notice
	if json.Unmarshal(message, &n) != nil || len(n.Changed) > maxRecent {
		return errNotice
	}
	now := s.progress.snapshot()
	if !n.Bucket.Equal(now.created) {
		return nil // this edge, or that one, does not have the present bucket yet
	}
	for _, c := range n.Changed {
		kind, id, ok := splitKey(c.Key)
		if !ok {
			return errNotice
		}
		s.mirror.hold(entryKey{kind, id}, c.Revision)
	}
	if len(n.Changed) > 0 && elapsed(s.freshness.lastConfirmed(), time.Now()) > sureFor {
		signal(s.lookups.confirmWanted) // else the watch brings it sooner
	}
	if n.After == nil {
		return nil
	}
	if list := s.mirror.changesAfter(*n.After); len(list) > 0 && s.notices.mayAnswer(time.Now()) {
		s.notify(notice{Changed: list})
	}
	return nil
}

var _ tokenstore.Linker = (*Store)(nil)
