package nats

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/zap"

	"github.com/millrace/millrace/internal/outage"
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
		if s.follower == nil { // the edge starts, and is of more use without this history than not at all
			s.noteFault(d.Name, err)
			return nil
		}
		if delete(s.wanted, d.Name); again {
			s.wanted[d.Name] = before
		}
		return err
	}
	if err != nil {
		signal(s.definesAgain)
		return nil
	}
	if d.Retired {
		return nil
	}
	return s.find(d.Name).awaitDefined(ctx)
}

// wantedDefinition is what Define was called with last.
type wantedDefinition struct {
	definition history.Definition
	replaces   bool      // this process has put it in the place of another one, and that may not have arrived
	done       bool      // the document has it, or keeps another one
	made       bool      // then the stream was there
	refused    bool      // what others have defined excludes it, until the document changes
	since      time.Time // that it is not done, or cannot be used; zero: neither
	why        error     // likewise
}

// supersedes reports whether the definition replaces that of a record.
func (w *wantedDefinition) supersedes(r *record) bool {
	if w.definition.Version != r.Version {
		return w.definition.Version > r.Version
	}
	return r.Retired || w.replaces
}

// isDue reports whether the document may have to take a definition. The caller holds s.mu.
func (s *Store) isDue(w *wantedDefinition) bool { return !w.done || w.replaces || s.isBehind(w) }

// isBehind reports whether the document has a lower version of a definition that it had, as a build that knows no
// versions drops them. The caller holds s.mu.
func (s *Store) isBehind(w *wantedDefinition) bool {
	if s.doc == nil || !w.done {
		return false
	}
	r := s.doc.Histories[w.definition.Name]
	return r != nil && r.Version < w.definition.Version
}

// look has defineLoop look at what the document that has come means for what this process wants. The caller holds s.mu.
func (s *Store) look() {
	for _, w := range s.wanted {
		if w.refused || s.isBehind(&w) {
			signal(s.definesAgain)
		}
	}
}

// refusedError is a definition that stays refused.
type refusedError struct{ error }

func (e *refusedError) Unwrap() error { return e.error }

// define brings the definition of a history that this process wants into the document, and makes its stream. Where
// both are done, it looks whether the history could be used, if nobody uses it here: then its session knows.
func (s *Store) define(ctx context.Context, name string) (err error) {
	s.mu.Lock()
	w, wanted := s.wanted[name]
	due, used := wanted && s.isDue(&w), s.stream(name).running
	s.mu.Unlock()
	if !wanted {
		return nil
	}
	defer func() { s.noteDefined(&w, err) }()
	if due {
		if err := s.changeDefinition(ctx, &w); err != nil {
			return err
		}
		w.done, w.replaces, w.made = true, false, false
	}
	switch {
	case w.definition.Retired || s.find(name).isRetired():
	case !w.made:
		if _, err := s.ensureStream(ctx, name); err != nil {
			return err
		}
		w.made = true
	case !used:
		return s.check(ctx, name)
	}
	return nil
}

// check looks whether a history that nobody uses here could be used.
func (s *Store) check(ctx context.Context, name string) error {
	if _, _, err := s.readDocument(ctx); err != nil {
		return err
	}
	_, err := s.streamInfo(ctx, s.names.stream(name))
	if err == nil || hasCode(err, jetstream.JSErrCodeStreamNotFound) { // who uses it makes it
		return nil
	}
	return fmt.Errorf("the stream of history %s: %w", name, err)
}

// changeDefinition brings a definition into the document, unless that has one which it does not supersede.
func (s *Store) changeDefinition(ctx context.Context, w *wantedDefinition) error {
	d := w.definition
	return s.changeDocument(ctx, func(doc *document) error {
		s.mu.Lock()
		now, wanted := s.wanted[d.Name]
		wanted = wanted && reflect.DeepEqual(now.definition, d) && s.isDue(&now)
		s.mu.Unlock()
		r := doc.Histories[d.Name]
		switch {
		case !wanted: // any more: it was defined meanwhile, and perhaps retired again
			return errUnchanged
		case r == nil && d.Retired || r != nil && (r.has(d) || !w.supersedes(r)):
			return errUnchanged
		case r == nil:
			r = &record{Epoch: newEpoch(), Count: s.find(d.Name).epochs()}
			doc.Histories[d.Name] = r
		}
		before := *r
		r.set(d)
		if before.Channels != nil && !d.Retired {
			if before.Retired || !before.keepsAs(r) {
				r.Since = uint64(time.Now().UnixMilli())
			}
			r.Changing = before.Changing || before.Messages != r.Messages
		}
		if _, err := history.NewSet(doc.definitions()); err != nil {
			return &refusedError{fmt.Errorf("%w (another edge may have defined one of them: `millrace pubsub history list`)", err)}
		}
		return nil
	})
}

// noteDefined notes what define has done, and logs why it could not.
func (s *Store) noteDefined(w *wantedDefinition, err error) {
	name := w.definition.Name
	var refused *refusedError
	w.refused = errors.As(err, &refused)
	s.mu.Lock()
	now, ok := s.wanted[name]
	if ok = ok && reflect.DeepEqual(now.definition, w.definition); ok {
		if w.why, w.since = err, now.since; err == nil {
			w.since = time.Time{}
		} else if w.since.IsZero() {
			w.since = time.Now()
		}
		s.wanted[name] = *w
		if w.done != now.done || w.refused != now.refused {
			s.wake()
		}
	}
	s.mu.Unlock()
	switch {
	case !ok || w.refused:
	case err != nil:
		s.noteFault(name, err)
	default:
		s.faults.End(notDefined + " " + name)
	}
}

// noteFault logs now and then that a history cannot be used, and why.
func (s *Store) noteFault(name string, err error) {
	s.faults.Note(notDefined+" "+name, err.Error(), outage.Line{
		Level: zap.WarnLevel, Message: notDefined, Over: "a history is defined in NATS, and can be used",
		Fields: []zap.Field{zap.String("history", name)}, Err: err,
	})
}

// Retire implements [history.Shared].
func (s *Store) Retire(name string) error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return history.ErrClosed
	}
	w := s.wanted[name]
	delete(s.wanted, name)
	s.wake()
	s.mu.Unlock()
	if w.definition.Retired {
		return nil
	}
	ctx, done := context.WithTimeout(s.ctx, s.defineTimeout())
	defer done()
	return s.changeDocument(ctx, func(doc *document) error {
		r := doc.Histories[name]
		if r == nil || r.Retired || r.Version > w.definition.Version {
			return errUnchanged
		}
		r.Retired = true
		return nil
	})
}

// checkEach is how often an edge looks whether it could use the histories that it does not use.
func (s *Store) checkEach() time.Duration { return 6 * s.patience }

// defineLoop defines what could not be while NATS was out of reach, what others have replaced by a lower version, and
// looks after histories that are not used.
func (s *Store) defineLoop(ctx context.Context) {
	refusals := map[string]string{} // that were logged
	for pause := s.checkEach(); ; {
		select {
		case <-s.definesAgain:
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
		s.mu.Lock()
		names := slices.Sorted(maps.Keys(s.wanted))
		s.mu.Unlock()
		pause = s.checkEach()
		for _, name := range names {
			calling, done := context.WithTimeout(ctx, s.callTimeout)
			err := s.define(calling, name)
			done()
			var refused *refusedError
			switch is := errors.As(err, &refused); {
			case is && refusals[name] != err.Error():
				refusals[name] = err.Error()
				s.log.Error("a history cannot be defined", zap.String("history", name), zap.Error(err))
			case !is && err != nil:
				pause = time.Second
			case err == nil:
				delete(refusals, name)
			}
		}
	}
}
