package badger

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/dgraph-io/badger/v4"
	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub/history/internal/index"
	"github.com/millrace/millrace/pubsub/history/internal/indexed"
	"github.com/millrace/millrace/wire"
)

// skip is how far numbers go ahead after messages may have been lost that clients have
// seen: further than an edge stores before they are on disk.
const skip = 1 << 20

// load reads what there is.
func (s *Store) load() error {
	if err := s.loadFormat(); err != nil {
		return err
	}
	if err := s.loadEpoch(); err != nil {
		return err
	}
	lost, err := s.takeOver()
	if err != nil {
		return err
	}
	now := time.Now()
	for _, load := range []struct {
		kind byte
		one  func(k, v []byte) error
	}{
		{kindHistory, s.loadHistory},
		{kindBase, s.loadBase},
		{kindTenant, s.loadTenant},
		{kindMessage, s.loadMessage},
		{kindOwner, s.loadOwner},
		{kindChannelFloor, s.loadChannelFloor},
	} {
		if err := s.each(load.kind, load.one); err != nil {
			return err
		}
	}
	if err := s.loadKeys(); err != nil {
		return err
	}
	if err := s.removeOrphans(); err != nil {
		return err
	}
	for _, k := range s.set.List() {
		if lost {
			for _, tenant := range k.Index.Tenants() {
				at := k.Index.Head(tenant)
				at.N, at.T = at.N+skip, max(at.T, uint64(now.UnixMilli()))
				k.Index.Skip(tenant, at, wire.GapLost)
			}
		}
		for shrinking := k.Index.AfterRestore(); !shrinking.Step(k.Index, now); {
		}
		k.Index.Opened(time.Now())
	}
	if lost {
		s.log.Warn("history store: unclean shutdown and reboot: messages may be missing, and clients are told so", zap.String("path", s.config.Dir))
	}
	return s.saveTenants()
}

func (s *Store) loadEpoch() error {
	return s.db.Update(func(txn *badger.Txn) error {
		item, err := txn.Get([]byte{kindEpoch})
		if errors.Is(err, badger.ErrKeyNotFound) {
			var random [8]byte
			_, _ = rand.Read(random[:]) // never fails
			s.begin(binary.BigEndian.Uint64(random[:]))
			return txn.Set([]byte{kindEpoch}, random[:])
		}
		if err != nil {
			return err
		}
		return item.Value(func(v []byte) error {
			if len(v) != 8 {
				return errLayout
			}
			s.begin(binary.BigEndian.Uint64(v))
			return nil
		})
	})
}

// begin makes the histories of a store with this epoch.
func (s *Store) begin(epoch uint64) {
	s.set = indexed.NewSet[*kept](epoch)
	s.answers = s.set.Answers()
}

// takeOver notes that this process has the store open. It reports whether messages may
// have been lost: the process before did not close it, did not sync, and the machine does
// not run since then. What a process has written survives its own end.
func (s *Store) takeOver() (lost bool, err error) {
	boot := bootID()
	err = s.db.Update(func(txn *badger.Txn) error {
		item, err := txn.Get([]byte{kindOpen})
		switch {
		case errors.Is(err, badger.ErrKeyNotFound):
		case err != nil:
			return err
		default:
			v, err := item.ValueCopy(nil)
			if err != nil {
				return err
			}
			if len(v) < 2 {
				return errLayout
			}
			lost = v[0] == 0 && v[1] == 0 && (boot == "" || string(v[2:]) != boot)
		}
		return txn.Set([]byte{kindOpen}, s.openRecord(false))
	})
	return lost, err
}

func (s *Store) openRecord(closed bool) []byte {
	v := []byte{0, 0}
	if closed {
		v[0] = 1
	}
	if s.sync.Load() {
		v[1] = 1
	}
	return append(v, bootID()...)
}

// bootID is another one after each start of the machine; empty: not known. Tests change it.
var bootID = func() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}

// each goes through the records of a kind. What one gets is valid during the call.
func (s *Store) each(kind byte, one func(k, v []byte) error) error {
	return s.db.View(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte{kind}, PrefetchValues: true, PrefetchSize: 1000})
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			item := it.Item()
			if err := item.Value(func(v []byte) error { return one(item.Key(), v) }); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *Store) loadHistory(k, v []byte) error {
	name, _, err := cutName(k[1:])
	if err != nil {
		return err
	}
	l, err := decodeLimits(v)
	if err == nil {
		s.set.Add(newKept(name, s.set.Epoch(), l))
	}
	return err
}

func (s *Store) loadBase(k, v []byte) error {
	name, _, err := cutName(k[1:])
	if err != nil {
		return err
	}
	of, err := s.set.Find(name)
	if err != nil {
		return errors.Join(err, errLayout)
	}
	base, rest, err := cutPlace(v, s.set.Epoch())
	if err != nil || len(rest) < 8 {
		return errors.Join(err, errLayout)
	}
	of.Index.SetBase(base, binary.BigEndian.Uint64(rest))
	return nil
}

// of returns the history and the tenant of a record.
func (s *Store) of(k []byte) (of *kept, tenant string, rest []byte, err error) {
	name, tenant, rest, err := cutNames(k)
	if err != nil {
		return nil, "", nil, err
	}
	if of, err = s.set.Find(name); err != nil {
		return nil, "", nil, errors.Join(err, errLayout)
	}
	return of, tenant, rest, nil
}

func (s *Store) loadTenant(k, v []byte) error {
	of, tenant, _, err := s.of(k)
	if err != nil {
		return err
	}
	head, rest, err := cutPlace(v, s.set.Epoch())
	if err != nil {
		return err
	}
	floor, rest, err := cutPlace(rest, s.set.Epoch())
	if err != nil {
		return err
	}
	var marks []wire.Position
	for len(rest) > 0 {
		var mark wire.Position
		if mark, rest, err = cutPlace(rest, s.set.Epoch()); err != nil {
			return err
		}
		marks = append(marks, mark)
	}
	of.Index.SetFloors(tenant, head, floor, marks)
	return nil
}

// loadOwner reads whose a tenant is; see removeOrphans.
func (s *Store) loadOwner(k, v []byte) error {
	of, tenant, _, err := s.of(k)
	if err == nil && of.Index.Has(tenant) {
		of.Index.SetOwner(tenant, string(v))
	}
	return err
}

func (s *Store) loadMessage(k, v []byte) error {
	of, tenant, rest, err := s.of(k)
	if err != nil || len(rest) != 8 {
		return errors.Join(err, errLayout)
	}
	r, err := decodeMessage(v)
	if err == nil {
		at := wire.Position{Epoch: s.set.Epoch(), N: binary.BigEndian.Uint64(rest), T: r.t}
		of.Index.Restore(tenant, r.channel, at, r.sender, r.size)
	}
	return err
}

func (s *Store) loadChannelFloor(k, v []byte) error {
	of, tenant, rest, err := s.of(k)
	if err != nil {
		return err
	}
	floor, _, err := cutPlace(v, s.set.Epoch())
	if err == nil {
		of.Index.SetChannelFloor(tenant, string(rest), floor)
	}
	return err
}

// loadKeys reads the keys, in the order in which they are forgotten.
func (s *Store) loadKeys() error {
	type loaded struct {
		of     *kept
		tenant string
		hash   index.KeyHash
		at     wire.Position
	}
	var all []loaded
	err := s.each(kindKey, func(k, v []byte) error {
		of, tenant, rest, err := s.of(k)
		if err != nil {
			return err
		}
		one := loaded{of: of, tenant: tenant}
		if copy(one.hash[:], rest) != len(one.hash) {
			return errLayout
		}
		one.at, _, err = cutPlace(v, s.set.Epoch())
		all = append(all, one)
		return err
	})
	slices.SortFunc(all, func(a, b loaded) int { return int(int64(a.at.T) - int64(b.at.T)) })
	for _, l := range all {
		l.of.Index.Remember(l.tenant, l.hash, l.at, time.UnixMilli(int64(l.at.T)))
	}
	return err
}
