package tokenstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// A closingRecord says that tokens of a subject are being revoked. It exists as long as a
// revocation runs; [Service.Issue] reads it after it has stored a token (docs/decisions,
// 0026). All revocations of one subject share one record, so that a single read finds them.
type closingRecord struct {
	formatted
	Closings []closing `json:"closings"`
}

// A closing is one call that revokes the tokens of a subject.
type closing struct {
	Call   string `json:"call"`             // a random id
	Master string `json:"master,omitempty"` // id of the master token; empty: an operator, or an earlier version wrote it
	Prefix string `json:"prefix,omitempty"` // of the master token: it revokes what this manages
	Beat   uint64 `json:"beat"`             // grows while the call runs
}

const (
	// closingBeat is how often a call that revokes says that it still runs.
	closingBeat = time.Second
	// closingTimeout is how long a closing may stay without a beat until others end it,
	// since its edge may have died. They measure it with their own clocks.
	closingTimeout = 5 * time.Second
	// issueTimeout bounds how long Issue waits for the end of a revocation. It exceeds
	// closingTimeout, so that one call is enough to end one whose edge has died.
	issueTimeout = 8 * time.Second
	// keepClosing is how long a store keeps the record of calls whose edges have died, if
	// nobody issues a token for the subject.
	keepClosing = time.Hour
	// maxClosings bounds the revocations of one subject, by one master token with one prefix,
	// that run at the same time on all edges. So nobody takes another's place in the record.
	maxClosings = 16
)

// closingID is the id of the record of a subject, in which any character may be.
func closingID(subject string) string {
	sum := sha256.Sum256([]byte(subject))
	return hex.EncodeToString(sum[:])
}

// encode returns the record in the form that a Store keeps.
func (r *closingRecord) encode(id string, version uint64) (Record, error) {
	value, err := json.Marshal(r)
	if err != nil {
		return Record{}, fmt.Errorf("tokenstore: encode the revocations of a subject: %w", err)
	}
	if len(value) > MaxRecord { // hundreds of master tokens revoke one subject
		return Record{}, ErrSubjectClosing
	}
	return Record{Kind: KindClosing, ID: id, Value: value, Version: version, DeleteAfter: time.Now().Add(keepClosing)}, nil
}

// readClosing returns the record, which is empty if there is none, and its version, which
// is 0 then.
func readClosing(ctx context.Context, id string, get getter) (*closingRecord, uint64, error) {
	r := new(closingRecord)
	rec, err := get(ctx, KindClosing, id)
	if errors.Is(err, ErrNotFound) {
		return r, 0, nil
	} else if err != nil {
		return nil, 0, err
	}
	if err := decode(rec, r); err != nil {
		return nil, 0, err
	}
	return r, rec.Version, nil
}

// updateClosing changes the record by compare-and-swap, and deletes it when no closing is
// left. change may refuse with an error; errUnchanged ends the update without a write.
func (s *Service) updateClosing(ctx context.Context, id string, change func(*closingRecord) error) error {
	for {
		r, version, err := readClosing(ctx, id, s.latestGet())
		if err != nil {
			return err
		}
		if err := change(r); errors.Is(err, errUnchanged) {
			return nil
		} else if err != nil {
			return err
		}
		next, err := r.encode(id, version)
		switch {
		case err != nil:
			return err
		case version == 0:
			_, err = s.store.Create(ctx, next)
		case len(r.Closings) == 0:
			err = s.store.Delete(ctx, KindClosing, id, version)
		default:
			_, err = s.store.Update(ctx, next)
		}
		if !errors.Is(err, ErrConflict) && !errors.Is(err, ErrExists) && !errors.Is(err, ErrNotFound) {
			return err
		}
		if err := ctx.Err(); err != nil { // others change it all the time
			return err
		}
	}
}

// add adds the closing of a call, or returns [ErrTooManyRequests].
func (r *closingRecord) add(c closing) error {
	own := 0
	for _, other := range r.Closings {
		if other.Master == c.Master && other.Prefix == c.Prefix {
			own++
		}
	}
	if own >= maxClosings {
		return tooManyRevocations(maxClosings)
	}
	r.Closings = append(r.Closings, c)
	return nil
}

// remove removes the closing of a call, or returns errUnchanged if it is not there.
func (r *closingRecord) remove(call string) error {
	at := r.find(call)
	if at < 0 {
		return errUnchanged
	}
	r.Closings = slices.Delete(r.Closings, at, at+1)
	return nil
}

// find returns the index of the closing of a call, or -1.
func (r *closingRecord) find(call string) int {
	return slices.IndexFunc(r.Closings, func(c closing) bool { return c.Call == call })
}

// concerns reports whether a token with this right is being revoked.
func (r *closingRecord) concerns(right *Right) bool {
	return slices.ContainsFunc(r.Closings, func(c closing) bool { return manages(c.Prefix, right) })
}

// isClosing reports whether the tokens of the subject with this right are being revoked on
// any edge.
func (s *Service) isClosing(ctx context.Context, subject string, right *Right) (bool, error) {
	r, _, err := readClosing(ctx, closingID(subject), s.latestGet())
	if err != nil {
		return false, err
	}
	return r.concerns(right), nil
}

// awaitOpen waits until no token of the subject with this right is being revoked, as far
// as this edge knows. It returns [ErrSubjectClosing] if too many calls of m wait.
func (s *Service) awaitOpen(ctx context.Context, m *Master, subject string, right *Right) error {
	id := closingID(subject)
	r, _, err := readClosing(ctx, id, s.localGet())
	if err != nil || !r.concerns(right) {
		return err
	}
	leave, err := s.revocations.wait(m)
	if err != nil {
		return err
	}
	defer leave()
	return s.followClosing(ctx, id, func(r *closingRecord) (bool, error) { return !r.concerns(right), nil })
}

// followClosing calls done with the record, as far as this edge knows it, and again whenever
// it changes, until done reports true or fails. It ends closings whose edges have died,
// whoever's they are.
func (s *Service) followClosing(ctx context.Context, id string, done func(*closingRecord) (bool, error)) error {
	changed := make(chan struct{}, 1)
	defer s.store.Watch(func(c Change) {
		if c.Record.Kind == KindClosing && c.Record.ID == id {
			select {
			case changed <- struct{}{}:
			default:
			}
		}
	})()
	for seen := (beats{}); ; {
		r, _, err := readClosing(ctx, id, s.localGet())
		if err != nil {
			return err
		}
		if is, err := done(r); is || err != nil {
			return err
		}
		next := seen.update(r.Closings, time.Now())
		if dead := seen.dead(time.Now()); len(dead) > 0 {
			if err := s.endClosings(ctx, id, dead); err != nil {
				return err
			}
			continue
		}
		timer := time.NewTimer(time.Until(next))
		select {
		case <-changed:
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
		timer.Stop()
	}
}

// beats has the last beat of each call that revokes, and since when it has been the last.
type beats map[string]struct {
	beat  uint64
	since time.Time
}

// update notes the beats of a record, and returns when the first of its calls will be
// taken for dead.
func (b beats) update(closings []closing, now time.Time) (next time.Time) {
	for call := range b {
		if !slices.ContainsFunc(closings, func(c closing) bool { return c.Call == call }) {
			delete(b, call)
		}
	}
	for _, c := range closings {
		if last, known := b[c.Call]; !known || last.beat != c.Beat {
			last.beat, last.since = c.Beat, now
			b[c.Call] = last
		}
		if end := b[c.Call].since.Add(closingTimeout); next.IsZero() || end.Before(next) {
			next = end
		}
	}
	return next
}

// dead returns the last beats of the calls that gave none for too long.
func (b beats) dead(now time.Time) map[string]uint64 {
	dead := map[string]uint64{}
	for call, last := range b {
		if now.Sub(last.since) >= closingTimeout {
			dead[call] = last.beat
		}
	}
	return dead
}

// endClosings ends the closings of calls, each unless it has given another beat.
func (s *Service) endClosings(ctx context.Context, id string, dead map[string]uint64) error {
	return s.updateClosing(ctx, id, func(r *closingRecord) error {
		before := len(r.Closings)
		r.Closings = slices.DeleteFunc(r.Closings, func(c closing) bool {
			beat, is := dead[c.Call]
			return is && beat == c.Beat
		})
		if len(r.Closings) == before {
			return errUnchanged
		}
		return nil
	})
}
