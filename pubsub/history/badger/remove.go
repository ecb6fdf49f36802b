package badger

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/dgraph-io/badger/v4"
	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub/history/internal/index"
)

// removeOld removes from the database what the indexes have removed, up to a number of messages
// of each history. more: there is more.
func (s *Store) removeOld(upTo int) (more bool) {
	for _, k := range s.set.List() {
		left, err := s.flushRemovals(k, upTo)
		if err != nil {
			s.log.Warn("history store: removing old messages", zap.Error(err))
			continue
		}
		more = more || left
	}
	return more
}

// flushAll removes from the database what the index of a history has removed, a few messages
// at a time.
func (s *Store) flushAll(k *kept) error {
	s.flushing.Add(1)
	defer s.flushing.Add(-1)
	for {
		if more, err := s.flushRemovals(k, fewRemoved); !more || err != nil {
			return err
		}
	}
}

// flushRemovals removes up to a number of messages. The floors come first: after a crash in between, messages
// are there that are removed again.
func (s *Store) flushRemovals(k *kept, upTo int) (more bool, err error) {
	s.commit.Lock()
	defer s.commit.Unlock()
	part, more := k.takeRemovals(upTo)
	if len(part.dead)+len(part.forgotten) == 0 {
		return more, nil
	}
	if err := s.writeRemovals(k, part); err != nil {
		k.again(part)
		return false, err
	}
	return more, nil
}

// removals are what one flush removes from the database.
type removals struct {
	dead      []deadEntry
	forgotten []string
	floors    []record // to be written before
	gone      []string // tenants whose records go
}

// takeRemovals takes a part of what is to be removed; tenants come last.
func (k *kept) takeRemovals(upTo int) (part removals, more bool) {
	k.Lock()
	defer k.Unlock()
	more = !k.Index.Expire(time.Now(), index.MaxStep)
	if upTo < len(k.dead) {
		part.dead, k.dead, more = k.dead[:upTo:upTo], k.dead[upTo:], true
	} else {
		part.dead, k.dead = k.dead, nil
		part.forgotten, k.forgotten = k.forgotten, nil
	}
	part.floors = k.floors(part.dead)
	if len(part.forgotten) > 0 {
		part.floors = append(part.floors, k.baseRecord()) // before the records that it stands for are gone
	}
	for _, tenant := range part.forgotten {
		if k.Index.Has(tenant) { // again
			part.floors = append(part.floors, k.tenantRecord(tenant), k.ownerRecord(tenant))
		} else {
			part.gone = append(part.gone, tenant)
		}
	}
	return part, more
}

func (s *Store) writeRemovals(k *kept, part removals) error {
	batch := s.db.NewWriteBatch()
	defer batch.Cancel()
	for _, f := range part.floors {
		if err := f.write(batch); err != nil {
			return err
		}
	}
	if err := batch.Flush(); err != nil {
		return err
	}
	batch = s.db.NewWriteBatch()
	defer batch.Cancel()
	for _, d := range part.dead {
		if err := batch.Delete(messageKey(k.Name, d.tenant, d.n)); err != nil {
			return err
		}
		for chunk := range d.chunks {
			if err := batch.Delete(chunkKey(k.Name, d.tenant, d.n, chunk)); err != nil {
				return err
			}
		}
	}
	for _, tenant := range part.gone {
		for _, kind := range []byte{kindTenant, kindOwner} {
			if err := batch.Delete(key(kind, k.Name, tenant)); err != nil {
				return err
			}
		}
	}
	return batch.Flush()
}

// again has removals tried once more.
func (k *kept) again(part removals) {
	k.Lock()
	defer k.Unlock()
	k.dead = append(part.dead, k.dead...)
	k.forgotten = append(part.forgotten, k.forgotten...)
}

// record is one that is to be written, or removed if it has no value.
type record struct{ key, value []byte }

func (r record) write(batch *badger.WriteBatch) error {
	if r.value == nil {
		return batch.Delete(r.key)
	}
	return batch.Set(r.key, r.value)
}

// floors are the records that say what the removal of messages means for readers. The
// caller holds k.mu.
func (k *kept) floors(dead []deadEntry) (records []record) {
	type channelID struct{ tenant, channel string }
	tenants, channels := map[string]bool{}, map[channelID]bool{}
	for _, d := range dead {
		tenants[d.tenant], channels[channelID{d.tenant, d.channel}] = true, true
	}
	for tenant := range tenants {
		records = append(records, k.tenantRecord(tenant))
	}
	for c := range channels {
		r := record{key: channelFloorKey(k.Name, c.tenant, c.channel)}
		if floor := k.Index.ChannelFloor(c.tenant, c.channel); floor.N > 0 { // else the tenant's is above it
			r.value = appendPlace(nil, floor)
		}
		records = append(records, r)
	}
	return records
}

// tenantRecord is the record of a tenant. The caller holds k.mu.
func (k *kept) tenantRecord(tenant string) record {
	v := appendPlace(appendPlace(nil, k.Index.Head(tenant)), k.Index.Floor(tenant))
	for _, mark := range k.Index.Marks(tenant) {
		v = appendPlace(v, mark)
	}
	return record{key(kindTenant, k.Name, tenant), v}
}

// ownerRecord is the record of a tenant's owner. The caller holds k.mu.
func (k *kept) ownerRecord(tenant string) record {
	r := record{key: key(kindOwner, k.Name, tenant)}
	if owner := k.Index.Owner(tenant); owner != "" {
		r.value = []byte(owner)
	}
	return r
}

// baseRecord is the record of what the tenants without one have. The caller holds k.mu.
func (k *kept) baseRecord() record {
	base, opened := k.Index.Base()
	return record{key(kindBase, k.Name), binary.BigEndian.AppendUint64(appendPlace(nil, base), opened)}
}

// saveTenants writes the records of all tenants. Each open does so, before there are
// messages: see index.History.Opened.
func (s *Store) saveTenants() error {
	batch := s.db.NewWriteBatch()
	defer batch.Cancel()
	for _, k := range s.set.List() {
		if err := k.baseRecord().write(batch); err != nil {
			return err
		}
		for _, tenant := range k.Index.Tenants() {
			if err := k.tenantRecord(tenant).write(batch); err != nil {
				return err
			}
		}
	}
	return batch.Flush()
}

// Purge implements [history.Store].
func (s *Store) Purge(name, tenant, channel string) (removed int, err error) {
	s.purging.Lock()
	defer s.purging.Unlock()
	k, err := s.set.Find(name)
	if err != nil {
		return 0, err
	}
	removed, err = s.set.Purge(name, tenant, channel, func() error { return unavailable(s.flushAll(k)) })
	if err != nil {
		return removed, err
	}
	return removed, s.set.WhileOpen(func() error {
		return unavailable(errors.Join(s.erase(name, tenant), s.db.Sync()))
	})
}
