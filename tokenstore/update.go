package tokenstore

import (
	"context"
	"errors"
)

// errUnchanged ends an update without a write and without an error.
var errUnchanged = errors.New("tokenstore: nothing to change")

// storable is a pointer to the stored form of a token, which is a T.
type storable[T any] interface {
	*T
	encode(id string, version uint64) (Record, error)
	checkFormat(Record) error
}

// update reads a record, lets change edit it, and writes it back by
// compare-and-swap. When another write came between, change judges the new state:
// so a refresh never overwrites a revocation. change may refuse with an error;
// errUnchanged ends the update without a write. It returns what it wrote with the
// new version, or notFound when there is no such record.
func update[T any, P storable[T]](
	ctx context.Context, store Store, kind Kind, id string, notFound error, change func(P) error,
) (P, uint64, error) {
	for {
		rec, err := store.Get(ctx, kind, id)
		if errors.Is(err, ErrNotFound) {
			return nil, 0, notFound
		} else if err != nil {
			return nil, 0, err
		}
		r := P(new(T))
		if err := decode(rec, r); err != nil {
			return nil, 0, err
		}
		if err := change(r); errors.Is(err, errUnchanged) {
			return r, rec.Version, nil
		} else if err != nil {
			return nil, 0, err
		}
		next, err := r.encode(id, rec.Version)
		if err != nil {
			return nil, 0, err
		}
		version, err := store.Update(ctx, next)
		switch {
		case errors.Is(err, ErrConflict):
			continue
		case errors.Is(err, ErrNotFound):
			return nil, 0, notFound
		case err != nil:
			return nil, 0, err
		}
		return r, version, nil
	}
}

// updateAccess is update for an access token.
func (s *Service) updateAccess(ctx context.Context, id string, change func(*accessRecord) error) error {
	_, _, err := update(ctx, s.store, KindAccess, id, ErrUnknownToken, change)
	return err
}

// updateMaster is update for a stored master token.
func (s *Service) updateMaster(ctx context.Context, id string, change func(*masterRecord) error) (*masterRecord, uint64, error) {
	if _, static := s.static[id]; static {
		return nil, 0, ErrStaticMaster
	}
	if !IsID(id) {
		return nil, 0, ErrUnknownMaster
	}
	return update(ctx, s.store, KindMaster, id, ErrUnknownMaster, change)
}
