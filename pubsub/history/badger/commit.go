package badger

import (
	"fmt"
	"time"

	"github.com/dgraph-io/badger/v4"
	"go.uber.org/zap"

	"github.com/millrace/millrace/internal/diskspace"
	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/history/internal/index"
	"github.com/millrace/millrace/pubsub/history/internal/indexed"
	"github.com/millrace/millrace/wire"
)

const (
	// maxBatch and maxBatchBytes bound one commit.
	maxBatch      = 4096
	maxBatchBytes = 1 << 20
	// maxRemoved is how many removals are collected while messages come without a pause.
	maxRemoved = 4096
	// fewRemoved is how many are written at a time: messages wait meanwhile, some milliseconds.
	fewRemoved = 512
)

// run commits what is queued, until Close.
func (s *Store) run() {
	defer close(s.ended)
	ticker := time.NewTicker(tickInterval)
	defer ticker.Stop()
	more := false // is to be removed
	for {
		batch, closed := s.queue.take()
		switch {
		case len(batch) > 0:
			s.commitBatch(batch)
			continue
		case closed:
			return
		case more:
			more = s.removeOld(fewRemoved)
			continue
		}
		select {
		case <-s.queue.filled:
		case <-ticker.C:
			more = s.removeOld(fewRemoved)
		}
	}
}

// pending is a message of a commit.
type pending struct {
	message *history.Message
	of      *kept
	hash    index.KeyHash
	at      wire.Position
	result  history.Result
	key     index.ReservedKey // until add
	store   bool              // it is in the transaction
	owns    bool              // and so is whose its tenant is
	repeats bool              // it repeats one that is
}

// commitBatch commits a batch, and tells what became of each message.
func (s *Store) commitBatch(batch []*history.Message) {
	now := time.Now()
	all := s.assign(batch, now)
	due, err := s.store(all, now)
	if err != nil {
		s.log.Warn("history store: a commit failed", zap.Error(err))
	}
	for i := range all {
		all[i].message.Stored(all[i].message, all[i].result)
	}
	if due && s.flushing.Load() == 0 { // else somebody does it already, in smaller parts
		s.removeOld(max(fewRemoved, 2*len(batch))) // more than the batch adds
	}
}

// store writes a batch and adds it to the indexes, and reports whether messages are to be removed. Nobody
// removes any in between: of a tenant that was forgotten and comes back, the records would go.
func (s *Store) store(all []pending, now time.Time) (due bool, err error) {
	err = s.checkRoom()
	s.commit.Lock()
	defer s.commit.Unlock()
	if err == nil {
		err = s.write(all)
	}
	if err != nil {
		for i := range all {
			if all[i].store || all[i].repeats {
				all[i].store, all[i].result = false, history.Result{Err: err}
			}
		}
	}
	for i := range all {
		p := &all[i]
		if p.store {
			due = p.of.add(p, s.config.Cache, now) >= maxRemoved || due
			p.result.Position = p.at
		} else if p.of != nil {
			p.of.release(p)
		}
	}
	return due, err
}

// tenantID names a tenant in a history.
type tenantID struct {
	of     *kept
	tenant string
}

// assigned is what a tenant is after the messages of a batch so far.
type assigned struct {
	head  wire.Position
	owner string
}

// assign gives the messages of a batch their positions, and finds out which are repeated.
func (s *Store) assign(batch []*history.Message, now time.Time) []pending {
	all := make([]pending, len(batch))
	tenants := map[tenantID]assigned{}
	keys := map[index.KeyHash]wire.Position{}
	for i, m := range batch {
		p := &all[i]
		p.message = m
		var ofAll index.KeyHash
		if m.Key != nil {
			p.hash = index.HashKey(m)
			if now.Before(s.keysOfAll) {
				ofAll = index.HashKeyOfAll(m)
			}
		}
		of, err := s.set.Lock(m.History)
		if err != nil {
			p.result.Err = err
			continue
		}
		p.of = of
		if m.Key != nil {
			at, known := of.Index.Repeated(m, p.hash, ofAll, now)
			if !known {
				at, known = keys[p.hash]
				p.repeats = known
			}
			if known {
				p.result = history.Result{Position: at, Repeated: true}
			} else if p.key, known = of.Index.ReserveKey(m.Tenant, m.Owner); !known {
				p.result.Err = history.ErrKeysFull
			}
		}
		if p.result.Err == nil && !p.result.Repeated {
			id := tenantID{of, m.Tenant}
			p.at = of.Index.Next(m.Tenant, now)
			in, ok := tenants[id]
			if ok {
				p.at.N, p.at.T = in.head.N+1, max(in.head.T, p.at.T)
				p.owns = m.Owner != "" && m.Owner != in.owner && index.TakesStored(m.Tenant, in.owner, m.Owner)
			} else {
				in.owner, p.owns = of.Index.Owner(m.Tenant), of.Index.Takes(m.Tenant, m.Owner)
			}
			if in.head = p.at; p.owns {
				in.owner = m.Owner
			}
			tenants[id], p.store = in, true
			if m.Key != nil {
				keys[p.hash] = p.at
			}
		}
		of.Unlock()
	}
	return all
}

// write writes a batch with one transaction. Its errors say whether it is certain that
// nothing was stored. The caller holds s.commit.
func (s *Store) write(all []pending) error {
	if err := s.writeChunks(all); err != nil {
		return err
	}
	txn := s.db.NewTransaction(true)
	defer txn.Discard()
	n := 0
	for i := range all {
		p := &all[i]
		if !p.store {
			continue
		}
		n++
		m := p.message
		err := txn.Set(messageKey(m.History, m.Tenant, p.at.N), encodeMessage(storedMessage{t: p.at.T, channel: m.Channel, sender: m.Sender, payload: m.Payload}))
		if err == nil && p.owns {
			err = txn.Set(key(kindOwner, m.History, m.Tenant), []byte(m.Owner))
		}
		if err == nil && m.Key != nil {
			err = txn.SetEntry(badger.NewEntry(hashedKey(m.History, m.Tenant, p.hash), appendPlace(nil, p.at)).WithTTL(history.KeyTime + time.Second))
		}
		if err != nil {
			return fmt.Errorf("%w: %w", history.ErrUnavailable, err)
		}
	}
	if n == 0 {
		return nil
	}
	err := txn.Commit()
	if err == nil && s.sync.Load() {
		err = s.db.Sync()
	}
	if err != nil {
		return fmt.Errorf("%w: %w", history.ErrUnconfirmed, err)
	}
	return nil
}

// Usable implements [history.HealthReporter].
func (s *Store) Usable() error { return s.checkRoom() }

func (s *Store) checkRoom() error {
	reserve := s.reserve.Load()
	if reserve == 0 {
		return nil
	}
	free, err := diskspace.Free(s.config.Dir)
	if err == nil && free < reserve {
		return fmt.Errorf("%w: the disk has %d bytes, less than the reserve", history.ErrUnavailable, free)
	}
	return nil // where it is not known, the disk is not looked at
}

// add adds a message that was committed, and returns how many are to be removed from the
// database.
func (k *kept) add(p *pending, cache int, now time.Time) (dead int) {
	k.Lock()
	defer k.Unlock()
	k.Index.Expire(now, indexed.ExpireEach)
	m, owner := p.message, p.message.Owner
	if is := k.Index.Owner(m.Tenant); is != "" && owner != "" && !p.owns {
		owner = is // also if it was emptied since: so it is stored
	}
	e := k.Index.Add(owner, m.Tenant, m.Channel, p.at, m.Sender, m.Payload, len(m.Payload))
	if m.Key != nil {
		k.Index.Remember(m.Tenant, p.hash, p.at, now)
		p.key.Release()
	}
	if e.Payload != nil { // it was not removed at once
		k.cached = append(k.cached, e)
		k.bytes += e.Size
		k.alive++
	}
	k.trim(cache)
	return len(k.dead)
}

// release gives back what a message has reserved that is not stored.
func (k *kept) release(p *pending) {
	k.Lock()
	defer k.Unlock()
	p.key.Release()
}

// trim drops the oldest payloads beyond the cache's size, and the entries that the index has
// removed: without that they would pile up, as they count no bytes any more.
func (k *kept) trim(cache int) {
	for len(k.cached) > 0 && (k.bytes > cache || k.cached[0].Payload == nil) {
		if old := k.cached[0]; old.Payload != nil {
			old.Payload = nil
			k.bytes -= old.Size
			k.alive--
		}
		k.cached[0] = nil
		k.cached = k.cached[1:]
	}
	if len(k.cached) > 2*k.alive+64 {
		kept := make([]*index.Entry, 0, k.alive+k.alive/4+16)
		for _, e := range k.cached {
			if e.Payload != nil {
				kept = append(kept, e)
			}
		}
		k.cached = kept
	}
}
