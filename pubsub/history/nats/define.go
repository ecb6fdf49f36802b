package nats

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub/history"
)

// defineTimeout is how long Define waits for NATS.
const defineTimeout = 4 * time.Second

// Define implements [history.Shared].
func (s *Store) Define(d history.Definition) error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return history.ErrClosed
	}
	before, again := s.wanted[d.Name]
	s.wanted[d.Name] = wantedDefinition{definition: d, replaces: again && !reflect.DeepEqual(before.definition, d) || before.replaces}
	s.stream(d.Name)
	s.mu.Unlock()
	ctx, done := context.WithTimeout(s.ctx, defineTimeout)
	defer done()
	err := s.define(ctx, d.Name)
	var refused *refusedError
	if errors.As(err, &refused) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if delete(s.wanted, d.Name); again {
			s.wanted[d.Name] = before
		}
		return err
	}
	if err != nil {
		s.warn("a history is not defined in NATS yet", err)
		signal(s.definesAgain)
		return nil
	}
	return s.find(d.Name).awaitDefined(ctx)
}

// wantedDefinition is what Define was called with last.
type wantedDefinition struct {
	definition history.Definition
	replaces   bool // this process has put it in the place of another one, and that may not have arrived
	done       bool
}

// refusedError is a definition that stays refused.
type refusedError struct{ error }

// define brings the definition of a history that this process wants into the document.
func (s *Store) define(ctx context.Context, name string) error {
	s.mu.Lock()
	w := s.wanted[name]
	s.mu.Unlock()
	if w.done && !w.replaces {
		return nil
	}
	d := w.definition
	differs := false
	err := s.changeDocument(ctx, func(doc *document) error {
		differs = false
		r := doc.Histories[name]
		switch {
		case r != nil && r.has(d):
			return errUnchanged
		case r == nil:
			r = &record{Epoch: newEpoch()}
			doc.Histories[name] = r
		case !r.Retired && !w.replaces:
			differs = true
			return errUnchanged
		}
		before := *r
		r.set(d)
		if before.Channels != nil {
			if before.Retired || !before.keepsAs(r) {
				r.Since = uint64(time.Now().UnixMilli())
			}
			r.Changing = before.Changing || before.Messages != r.Messages
		}
		r.Retired = false
		if _, err := history.NewSet(doc.definitions()); err != nil {
			return &refusedError{err}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if differs {
		s.logDifference(name, d)
	}
	s.mu.Lock()
	if now := s.wanted[name]; reflect.DeepEqual(now.definition, d) {
		s.wanted[name] = wantedDefinition{definition: d, done: true}
		s.wake()
	}
	s.mu.Unlock()
	_, err = s.ensureStream(ctx, name)
	return err
}

// logDifference says that another definition is in force than this edge's configuration has.
func (s *Store) logDifference(name string, d history.Definition) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.doc == nil { // this edge takes none of it: that was logged
		return
	}
	r := s.doc.Histories[name]
	if r == nil {
		return
	}
	s.log.Warn("a history is defined otherwise than in this edge's configuration; what is defined stays in force: change it by a reload, on any edge",
		zap.String("history", name), zap.String("configured", describe(d)), zap.String("defined", describe(r.definition(name))))
}

func describe(d history.Definition) string {
	return fmt.Sprintf("tenants %q, channels %q, messages %d, age %v, size %d, max_lag %v",
		d.Tenants, d.Channels, d.Limits.Messages, d.Limits.Age, d.Limits.Size, d.MaxLag)
}

// Retire implements [history.Shared].
func (s *Store) Retire(name string) error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return history.ErrClosed
	}
	delete(s.wanted, name)
	s.mu.Unlock()
	ctx, done := context.WithTimeout(s.ctx, defineTimeout)
	defer done()
	return s.changeDocument(ctx, func(doc *document) error {
		r := doc.Histories[name]
		if r == nil || r.Retired {
			return errUnchanged
		}
		r.Retired = true
		return nil
	})
}

// defineLoop defines what could not be while NATS was out of reach.
func (s *Store) defineLoop(ctx context.Context) {
	for {
		select {
		case <-s.definesAgain:
		case <-ctx.Done():
			return
		}
		for again := true; again; {
			again = false
			s.mu.Lock()
			var list []string
			for name, w := range s.wanted {
				if !w.done || w.replaces {
					list = append(list, name)
				}
			}
			s.mu.Unlock()
			for _, name := range list {
				calling, done := context.WithTimeout(ctx, callTimeout)
				err := s.define(calling, name)
				done()
				var refused *refusedError
				switch {
				case errors.As(err, &refused):
					s.log.Error("a history cannot be defined", zap.Error(err))
					s.mu.Lock()
					delete(s.wanted, name)
					s.mu.Unlock()
				case err != nil:
					again = true
				}
			}
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
				return
			}
		}
	}
}

// ensureStream makes the stream of a history, or changes it to what is defined. It returns
// the record that holds. Where the stream is lost, the history begins anew, with another
// epoch.
func (s *Store) ensureStream(ctx context.Context, name string) (r record, err error) {
	for {
		doc, revision, err := s.readDocument(ctx)
		if err != nil {
			return r, err
		}
		s.putInForce(doc, revision)
		known := doc.Histories[name]
		if known == nil {
			return r, history.ErrUnknown
		}
		if r = *known; r.Messages < 1 || r.AgeMS < 1 || r.Size < 1 {
			return r, fmt.Errorf("history %s is defined without limits", name)
		}
		// The document was read before: if it says that there is a stream, there was one then.
		info, err := s.streamInfo(ctx, s.names.stream(name))
		switch {
		case hasCode(err, jetstream.JSErrCodeStreamNotFound) && r.Created:
			if !s.isMissing(ctx, name) {
				return r, errNoLeader
			}
			if err := s.beginAnew(ctx, name, r.Epoch, false); err != nil {
				return r, err
			}
			continue
		case hasCode(err, jetstream.JSErrCodeStreamNotFound):
			calling, done := context.WithTimeout(ctx, callTimeout)
			_, err = s.js.CreateStream(calling, s.streamConfig(name, &r))
			done()
			if err != nil {
				return r, s.explain(name, &r, err)
			}
		case err != nil:
			return r, err
		default:
			if c := info.Config; r.limit(&c) {
				// One that comes late with what was defined before may have cut the channels.
				if info.Config.MaxMsgsPerSubject < c.MaxMsgsPerSubject {
					if _, err := s.publish(ctx, s.names.subjects(name)+rotated(floorToken), nil); err != nil {
						return r, err
					}
				}
				calling, done := context.WithTimeout(ctx, callTimeout)
				_, err = s.js.UpdateStream(calling, c)
				done()
				if err != nil {
					return r, s.explain(name, &r, err)
				}
			}
			if r.Changing {
				if _, err := s.publish(ctx, s.names.subjects(name)+rotated(floorToken), nil); err != nil {
					return r, err
				}
			}
		}
		if r.Created && !r.Changing {
			return r, nil
		}
		err = s.changeDocument(ctx, func(doc *document) error {
			now := doc.Histories[name]
			if now == nil || now.Epoch != r.Epoch || now.Messages != r.Messages {
				return errUnchanged // and look again
			}
			now.Created, now.Changing = true, false
			return nil
		})
		if err != nil {
			return r, err
		}
	}
}

// isMissing reports whether a stream is not found for a while: servers that start may not
// know it yet.
func (s *Store) isMissing(ctx context.Context, name string) bool {
	for range 4 {
		select {
		case <-time.After(250 * time.Millisecond):
		case <-ctx.Done():
			return false
		}
		if _, err := s.streamInfo(ctx, s.names.stream(name)); !hasCode(err, jetstream.JSErrCodeStreamNotFound) {
			return false
		}
	}
	return true
}

// beginAnew gives a history another epoch, if it still has this one.
func (s *Store) beginAnew(ctx context.Context, name, epoch string, created bool) error {
	return s.changeDocument(ctx, func(doc *document) error {
		r := doc.Histories[name]
		if r == nil || r.Epoch != epoch {
			return errUnchanged
		}
		r.Epoch, r.Created = newEpoch(), created
		s.log.Warn("what a history had in NATS is lost, at least in part; it begins anew, and clients are told of a gap", zap.String("history", name))
		return nil
	})
}

// explain adds to an error of NATS what an operator can do about it.
func (s *Store) explain(name string, r *record, err error) error {
	switch {
	case errors.Is(err, client.ErrNoResponders):
		return fmt.Errorf("JetStream is not enabled, or not ready: %w", err)
	case hasCode(err, codeMaxBytesRequired), hasCode(err, codeMaxBytesTooLarge):
		return fmt.Errorf("the size of history %s, %d bytes now and in each replica, is more than its account or servers have room for: %w", name, r.Size, err)
	}
	return fmt.Errorf("the stream of history %s: %w", name, err)
}
