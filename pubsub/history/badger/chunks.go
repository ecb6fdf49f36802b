package badger

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"

	"github.com/millrace/millrace/pubsub/history"
)

// chunkBytes is the most that one record has of a payload. Larger payloads are in chunks:
// Badger would keep them in its value log, from which nothing can be erased when it has to be.
const chunkBytes = 512 << 10

// chunks returns how many chunks a payload has; 0: it is in the record of its message.
func chunks(size int) int {
	if size <= chunkBytes {
		return 0
	}
	return (size + chunkBytes - 1) / chunkBytes
}

func chunkKey(name, tenant string, n uint64, chunk int) []byte {
	k := binary.BigEndian.AppendUint64(key(kindChunk, name, tenant), n)
	return binary.BigEndian.AppendUint16(k, uint16(chunk))
}

// writeChunks writes the chunks of a batch, before its messages. The caller holds s.commit.
func (s *Store) writeChunks(all []pending) error {
	batch := s.db.NewWriteBatch()
	defer batch.Cancel()
	written := false
	for i := range all {
		p := &all[i]
		if !p.store {
			continue
		}
		m := p.message
		for chunk := range chunks(len(m.Payload)) {
			part := m.Payload[chunk*chunkBytes : min((chunk+1)*chunkBytes, len(m.Payload))]
			if err := batch.Set(chunkKey(m.History, m.Tenant, p.at.N, chunk), part); err != nil {
				return fmt.Errorf("%w: %w", history.ErrUnavailable, err)
			}
			written = true
		}
	}
	if !written {
		return nil
	}
	if err := batch.Flush(); err != nil {
		return fmt.Errorf("%w: %w", history.ErrUnavailable, err)
	}
	return nil
}

// readChunks reads a payload that is in chunks.
func readChunks(txn *badger.Txn, name, tenant string, n uint64, size int) ([]byte, error) {
	payload := make([]byte, 0, size)
	for chunk := range chunks(size) {
		item, err := txn.Get(chunkKey(name, tenant, n, chunk))
		if err != nil {
			return nil, err
		}
		if err := item.Value(func(v []byte) error { payload = append(payload, v...); return nil }); err != nil {
			return nil, err
		}
	}
	if len(payload) != size {
		return nil, errLayout
	}
	return payload, nil
}

// removeOrphans removes chunks without a message: of a process that ended between the two. And whose a
// tenant is that is not known any more: an earlier version has forgotten it.
func (s *Store) removeOrphans() error {
	batch := s.db.NewWriteBatch()
	defer batch.Cancel()
	err := s.keys(kindChunk, func(k []byte) error {
		of, tenant, rest, err := s.of(k)
		if err != nil || len(rest) != 10 {
			return errors.Join(err, errLayout)
		}
		n, chunk := binary.BigEndian.Uint64(rest), int(binary.BigEndian.Uint16(rest[8:]))
		if chunk < chunks(of.Index.Size(tenant, n)) {
			return nil
		}
		return batch.Delete(append([]byte(nil), k...))
	})
	err = errors.Join(err, s.keys(kindOwner, func(k []byte) error {
		of, tenant, _, err := s.of(k)
		if err != nil || of.Index.Has(tenant) {
			return err
		}
		return batch.Delete(append([]byte(nil), k...))
	}))
	return errors.Join(err, batch.Flush())
}

// keys goes through the keys of a kind. What one gets is valid during the call.
func (s *Store) keys(kind byte, one func(k []byte) error) error {
	return s.db.View(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte{kind}})
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			if err := one(it.Item().Key()); err != nil {
				return err
			}
		}
		return nil
	})
}
