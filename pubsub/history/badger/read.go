package badger

import (
	"context"
	"errors"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/millrace/millrace/pubsub/history"
)

// Read implements [history.Store].
func (s *Store) Read(ctx context.Context, q history.Query) (history.Page, error) {
	work := time.Duration(0)
	for {
		page, missing, err := s.set.Page(ctx, &q)
		page.Work += work
		if err != nil {
			return page, err
		}
		if err := s.fetch(&q, page, missing); !errors.Is(err, badger.ErrKeyNotFound) {
			return page, err
		}
		// It was removed in between, and the next page says so.
		work = page.Work
		if err := ctx.Err(); err != nil {
			return history.Page{Work: work}, err
		}
	}
}

// fetch reads payloads from the database.
func (s *Store) fetch(q *history.Query, page history.Page, missing []int) error {
	if len(missing) == 0 {
		return nil
	}
	return s.set.WhileOpen(func() error {
		s.reading.RLock()
		defer s.reading.RUnlock()
		return s.db.View(func(txn *badger.Txn) error {
			for _, i := range missing {
				m := &page.Messages[i]
				item, err := txn.Get(messageKey(q.History, q.Tenant, m.Position.N))
				if err != nil {
					return err
				}
				value, err := item.ValueCopy(nil)
				if err != nil {
					return err
				}
				r, err := decodeMessage(value)
				if err == nil && chunks(r.size) > 0 {
					r.payload, err = readChunks(txn, q.History, q.Tenant, m.Position.N, r.size)
				}
				if err != nil {
					return err
				}
				m.Payload = r.payload
			}
			return nil
		})
	})
}
