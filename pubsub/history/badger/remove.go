package badger

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/dgraph-io/badger/v4"
	"go.uber.org/zap"
)

// removeOld removes from the database what the indexes have removed.
func (s *Store) removeOld() {
	for _, k := range s.set.List() {
		if err := s.flushRemovals(k); err != nil {
			s.log.Warn("history store: removing old messages", zap.Error(err))
		}
	}
}

// flushRemovals removes from the database what the index of a history has removed. The
// floors come first: after a crash in between, messages are there that are removed again.
func (s *Store) flushRemovals(k *kept) error {
	s.commit.Lock()
	defer s.commit.Unlock()
	k.Lock()
	k.Index.Expire(time.Now())
	dead, forgotten := k.dead, k.forgotten
	k.dead, k.forgotten = nil, nil
	floors := k.floors(dead)
	if len(forgotten) > 0 {
		floors = append(floors, k.baseRecord()) // before the records that it stands for are gone
	}
	var gone []string
	for _, tenant := range forgotten {
		if k.Index.Has(tenant) { // again
			floors = append(floors, k.tenantRecord(tenant))
		} else {
			gone = append(gone, tenant)
		}
	}
	k.Unlock()
	if len(dead)+len(forgotten) == 0 {
		return nil
	}
	batch := s.db.NewWriteBatch()
	defer batch.Cancel()
	for _, f := range floors {
		if err := f.write(batch); err != nil {
			return errors.Join(err, k.again(dead, forgotten))
		}
	}
	if err := batch.Flush(); err != nil {
		return errors.Join(err, k.again(dead, forgotten))
	}
	removals := s.db.NewWriteBatch()
	defer removals.Cancel()
	for _, d := range dead {
		if err := removals.Delete(messageKey(k.Name, d.tenant, d.n)); err != nil {
			return errors.Join(err, k.again(dead, forgotten))
		}
	}
	for _, tenant := range gone {
		if err := removals.Delete(key(kindTenant, k.Name, tenant)); err != nil {
			return errors.Join(err, k.again(dead, forgotten))
		}
	}
	if err := removals.Flush(); err != nil {
		return errors.Join(err, k.again(dead, forgotten))
	}
	return nil
}

// again has removals tried once more.
func (k *kept) again(dead []deadEntry, forgotten []string) error {
	k.Lock()
	defer k.Unlock()
	k.dead = append(dead, k.dead...)
	k.forgotten = append(forgotten, k.forgotten...)
	return nil
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
	k, err := s.set.Find(name)
	if err != nil {
		return 0, err
	}
	if removed, err = s.set.Purge(name, tenant, channel); err != nil {
		return removed, err
	}
	if err := s.flushRemovals(k); err != nil {
		return removed, unavailable(err)
	}
	return removed, unavailable(s.db.Sync())
}
