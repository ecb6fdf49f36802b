package nats

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub/history"
)

// defineTimeout is how long Define waits for NATS: less than other calls.
func (s *Store) defineTimeout() time.Duration { return s.patience * 4 / 5 }

// Define implements [history.Shared].
func (s *Store) Define(d history.Definition) error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return history.ErrClosed
	}
	before, again := s.wanted[d.Name]
	s.wanted[d.Name] = wantedDefinition{definition: d, replaces: again && !reflect.DeepEqual(before.definition, d) || before.replaces, since: time.Now()}
	s.stream(d.Name)
	s.mu.Unlock()
	ctx, done := context.WithTimeout(s.ctx, s.defineTimeout())
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
		s.warn(notDefined, err)
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
	since      time.Time
	why        error // it is not done
}

// refusedError is a definition that stays refused.
type refusedError struct{ error }

// define brings the definition of a history that this process wants into the document.
func (s *Store) define(ctx context.Context, name string) (err error) {
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if w, ok := s.wanted[name]; ok && err != nil {
			w.why = err
			s.wanted[name] = w
		}
	}()
	s.mu.Lock()
	w := s.wanted[name]
	s.mu.Unlock()
	if w.done && !w.replaces {
		return nil
	}
	d := w.definition
	differs := false
	err = s.changeDocument(ctx, func(doc *document) error {
		differs = false
		r := doc.Histories[name]
		switch {
		case r != nil && r.has(d):
			return errUnchanged
		case r == nil:
			r = &record{Epoch: newEpoch(), Count: s.find(name).epochs()}
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
	ctx, done := context.WithTimeout(s.ctx, s.defineTimeout())
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
				calling, done := context.WithTimeout(ctx, s.callTimeout)
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
					s.warn(notDefined, err)
				}
			}
			if !again {
				s.faults.End(notDefined)
			}
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
				return
			}
		}
	}
}
