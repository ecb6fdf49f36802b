package nats

import (
	"context"
	"errors"
	"fmt"
	"time"

	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub/history"
)

// ensureStream makes the stream of a history, or changes it to what is defined. It returns
// the record that holds. Where the stream is lost, the history starts over, with another
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
				return r, ErrNoLeader
			}
			if err := s.beginAnew(ctx, name, r.Epoch, false); err != nil {
				return r, err
			}
			continue
		case hasCode(err, jetstream.JSErrCodeStreamNotFound):
			calling, done := context.WithTimeout(ctx, s.callTimeout)
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
				calling, done := context.WithTimeout(ctx, s.callTimeout)
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

// beginAnew gives a history another epoch, if it still has this one. Its count is above all
// that this edge has seen.
func (s *Store) beginAnew(ctx context.Context, name, epoch string, created bool) error {
	return s.changeDocument(ctx, func(doc *document) error {
		r := doc.Histories[name]
		if r == nil || r.Epoch != epoch {
			return errUnchanged
		}
		r.Epoch, r.Created, r.Count = newEpoch(), created, max(r.Count, s.find(name).epochs())+1
		s.log.Warn("history lost data in NATS; starting a new epoch, and clients are told so", zap.String("history", name))
		return nil
	})
}

// explain adds to an error of NATS what an operator can do about it.
func (s *Store) explain(name string, r *record, err error) error {
	switch {
	case errors.Is(err, client.ErrNoResponders):
		return fmt.Errorf("JetStream is not enabled, or not ready: %w", err)
	case hasCode(err, codeMaxBytesRequired), hasCode(err, codeMaxBytesTooLarge), hasCode(err, codeStorageExceeded):
		return fmt.Errorf("the size of history %s, %d bytes now and in each replica, is more than its account or servers have room for: %w: %w", name, r.Size, ErrStream, err)
	}
	if hasCode(err, codeNoLeader) {
		return fmt.Errorf("the stream of history %s: %w: %w", name, ErrNoLeader, err)
	}
	var refused *jetstream.APIError
	if errors.As(err, &refused) {
		return fmt.Errorf("the stream of history %s, with %d replicas: %w: %w", name, s.options().Replicas, ErrStream, err)
	}
	return fmt.Errorf("the stream of history %s: %w", name, err)
}

// ErrStream is in the error about a stream that NATS does not make, or not change.
var ErrStream = errors.New("NATS does not make it")
