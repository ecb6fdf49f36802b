package nats

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"time"
)

// A server that was just elected may say for a moment that the bucket has less than was
// acknowledged: it has not applied all that it has. So may one that is no longer the leader
// and has not heard of that. But a bucket that was put back from an older copy has less, too,
// and gives the revisions that it lacks again. So the copy is not confirmed from then on,
// until the leader has as much as the copy, and is found to have the same.

// noneTries is how often such a server is asked, in a second, until it is true that there is no message.
const noneTries = 6

// nextUpTo returns the first message from a revision on, of a bucket whose leader says that it
// goes up to another revision; nil: what was there has been purged.
func (s *Store) nextUpTo(ctx context.Context, from, upTo uint64) (*message, error) {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for range noneTries {
		m, err := s.nextMessage(ctx, from)
		if err != nil || m != nil {
			return m, err
		}
		switch b, err := s.bucketState(ctx); {
		case err != nil:
			return nil, err
		case b.lastRevision < upTo:
			return nil, errBehind
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return nil, nil
}

// maxCompared is how many revisions are compared at most; a bucket that lacked more is read
// as a whole.
const maxCompared = 256

var errBehind = errors.New("the bucket has less than before")

// doubt notes that a server said that the bucket ends at a revision.
func (p *progress) doubt(end uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.doubted || end < p.doubtedAfter {
		p.doubted, p.doubtedAfter = true, end
	}
}

// settle takes the doubt back, unless more is doubted meanwhile.
func (p *progress) settle(end uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.doubtedAfter == end {
		p.doubted = false
	}
}

// recognize returns the state of the bucket, and whether it is another one than that of
// the copy, or has lost something. It waits for a leader that is behind, for half the
// timeout of a call.
func (s *Store) recognize(ctx context.Context, p *progress) (b bucketState, replaced bool, err error) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(s.config.callTimeout / 2); ; {
		if b, err = s.bucketState(ctx); err != nil {
			return b, false, err
		}
		known := p.snapshot()
		switch {
		case !b.created.Equal(known.created), b.inMemory:
			return b, true, nil
		case b.lastRevision < known.applied:
			p.doubt(b.lastRevision)
		case known.doubted:
			same, err := s.hasSame(ctx, known.doubtedAfter, known.applied)
			if same {
				p.settle(known.doubtedAfter)
			}
			return b, !same, err
		default:
			return b, false, nil
		}
		if time.Now().After(end) {
			return b, true, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return b, false, ctx.Err()
		}
	}
}

// hasSame reports whether the leader has what the copy has of the revisions after one, up to
// another one, or what replaced that later.
func (s *Store) hasSame(ctx context.Context, after, upTo uint64) (bool, error) {
	if upTo-after > maxCompared {
		return false, nil
	}
	ours := s.mirror.since(after)
	for next := after + 1; next <= upTo; {
		m, err := s.nextMessage(ctx, next)
		if err != nil {
			return false, err
		}
		if m == nil || m.revision > upTo {
			break
		}
		next = m.revision + 1
		kind, id, ok := splitKey(strings.TrimPrefix(m.subject, s.subjectPrefix()))
		if !ok {
			continue
		}
		key := entryKey{kind, id}
		e, known := ours[key]
		revision, _ := s.mirror.revision(e.record.Version)
		switch { // the copy may have a later state: what this edge has written
		case !known, revision < m.revision,
			revision == m.revision && e.err == nil && (e.deletedAt.IsZero() == m.deleted || !m.deleted && !bytes.Equal(encode(e.record), m.value)):
			return false, nil
		}
		delete(ours, key)
	}
	for key, e := range ours {
		if revision, _ := s.mirror.revision(e.record.Version); revision > upTo {
			continue
		}
		m, err := s.lastMessageWithTimeout(ctx, s.subject(key.kind, key.id))
		if err != nil {
			return false, err
		}
		if m == nil || m.revision <= upTo {
			return false, nil
		}
	}
	return true, nil
}

// since returns what the copy has of the revisions after one.
func (m *mirror) since(revision uint64) map[entryKey]entry {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := map[entryKey]entry{}
	for key, e := range m.entries {
		if e.record.Version > m.versionOffset+revision {
			list[key] = e
		}
	}
	return list
}
