package nats

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub/history"
)

// What a log says while the definitions cannot be followed, or made.
const (
	notFollowed = "the definitions of histories in NATS cannot be followed"
	notDefined  = "a history is not defined in NATS yet, or cannot be used"
)

// watchLoop follows the document.
func (s *Store) watchLoop(ctx context.Context) {
	for ctx.Err() == nil {
		if err := s.watch(ctx); err != nil && ctx.Err() == nil {
			s.warn(notFollowed, err)
			if errors.Is(err, history.ErrFormat) {
				for _, each := range s.list() {
					each.restart() // and look at the definitions first, so that they are out of reach
				}
			}
		}
		select {
		case <-time.After(time.Second):
		case <-s.reconnected:
		case <-ctx.Done():
		}
	}
}

// watch follows the document until the connection is back from a break, or cannot.
func (s *Store) watch(ctx context.Context) error {
	calling, done := context.WithTimeout(ctx, s.callTimeout)
	kv, err := s.js.KeyValue(calling, s.names.bucket())
	done()
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		none := &document{Histories: map[string]*record{}}
		if s.isOlder(none, 0) {
			return s.adopt(ctx)
		}
		s.putInForce(none, 0) // nobody has defined anything
		s.faults.End(notFollowed)
		return nil
	}
	if err != nil {
		return err
	}
	w, err := kv.Watch(ctx, documentKey)
	if err != nil {
		return err
	}
	defer func() { _ = w.Stop() }()
	doc, revision, err := s.readDocument(ctx) // what the watch begins with may be old
	if err != nil {
		return err
	}
	if s.isOlder(doc, revision) {
		return s.adopt(ctx)
	}
	s.putInForce(doc, revision)
	s.faults.End(notFollowed)
	// What it is watched on may be a replica that stays behind.
	ticker := time.NewTicker(5 * s.heartbeat())
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			doc, revision, err := s.readDocument(ctx)
			if err != nil {
				s.warn(notFollowed, err)
				continue
			}
			s.faults.End(notFollowed)
			if s.isOlder(doc, revision) {
				return s.adopt(ctx)
			}
			s.putInForce(doc, revision)
		case entry, ok := <-w.Updates():
			if !ok {
				return errors.New("the watch has ended")
			}
			if entry == nil { // that was all there is
				continue
			}
			doc := new(document)
			if err := parseDocument(entry.Value(), doc); err != nil {
				return err
			}
			if s.isOlder(doc, entry.Revision()) {
				return s.adopt(ctx)
			}
			s.putInForce(doc, entry.Revision())
		case <-s.reconnected:
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

// isOlder reports whether a document is older than the current one, or another one where
// that was: an older one that was changed since. A document that lacks a history is one, too:
// none is ever taken out, so the document was deleted.
func (s *Store) isOlder(doc *document, revision uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.doc == nil {
		return false
	}
	for name := range s.doc.Histories {
		if doc.Histories[name] == nil {
			return true
		}
	}
	return revision < s.revision || revision == s.revision && !doc.equals(s.doc)
}

// adopt takes what the leader has, if that stays older than what is in effect: the bucket was
// lost, or put back from an older copy. A leader that is new may just be late.
func (s *Store) adopt(ctx context.Context) error {
	var doc *document
	var revision uint64
	for range 4 {
		select {
		case <-time.After(250 * time.Millisecond):
		case <-ctx.Done():
			return nil
		}
		var err error
		if doc, revision, err = s.readDocument(ctx); err != nil || !s.isOlder(doc, revision) {
			return err
		}
	}
	s.redefine(doc, revision)
	return nil
}

// redefine takes a document in place of a newer one that is lost, and defines again what
// this process has.
func (s *Store) redefine(doc *document, revision uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.doc, s.revision = nil, 0
	for name, w := range s.wanted { // the follower is told when they are defined again
		w.done, w.made = false, false
		s.wanted[name] = w
	}
	signal(s.definesAgain)
	s.log.Warn("the definitions of histories in NATS are lost, or older than before; they are made again",
		zap.Uint64("revision", revision), zap.Int("histories", len(doc.Histories)))
}

// notifyLoop tells the follower what is in effect, whenever that or the follower changes, and the log
// where that is something else than this edge has configured.
func (s *Store) notifyLoop(ctx context.Context) {
	var told *document
	var toldTo history.Follower
	drifts := map[string]string{}
	for {
		s.mu.Lock()
		changed, doc, set, follower := s.changed, s.doc, s.set, s.follower
		pending := false // then what was told before, or is configured, stays in effect
		for _, w := range s.wanted {
			pending = pending || !w.done && !w.refused
		}
		s.mu.Unlock()
		if doc != nil && follower != nil && !pending {
			s.logDrift(drifts)
		}
		if doc != nil && follower != nil && !(pending && follower != toldTo) && (doc != told || follower != toldTo) {
			since := map[string]uint64{}
			for name, r := range doc.Histories {
				if !r.Retired {
					since[name] = r.Since
				}
			}
			follower.Defined(set, since)
			told, toldTo = doc, follower
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}
