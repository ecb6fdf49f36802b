package tokenstore

import (
	"context"
	"fmt"
)

// issuer counts the tokens of a master token that are in the store, or are being
// written.
type issuer struct {
	master string
	tokens int
	bytes  int64
}

// addUsage counts one more token for a master token. The caller holds x.mu.
func (x *Index) addUsage(master string, bytes int64) *issuer {
	i := x.issuers[master]
	if i == nil {
		i = &issuer{master: master}
		x.issuers[master] = i
	}
	i.tokens++
	i.bytes += bytes
	return i
}

// removeUsage undoes addUsage. Master tokens come and go for as long as the edge
// runs, so the last token of one removes its entry. The caller holds x.mu.
func (x *Index) removeUsage(i *issuer, bytes int64) {
	i.tokens--
	i.bytes -= bytes
	if i.tokens == 0 {
		delete(x.issuers, i.master)
	}
}

// reservation is a record that is being written, and counts already.
type reservation struct {
	issuer *issuer
	bytes  int64
}

// reserve admits the record of this id of a master token under its quota. The caller calls
// release when the record is written, or was refused.
func (x *Index) reserve(ctx context.Context, master string, q Quota, id string, bytes int64) (release func(), err error) {
	if err := x.await(ctx); err != nil {
		return nil, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.dropForgotten()
	var i issuer
	if known := x.issuers[master]; known != nil {
		i = *known
	}
	switch {
	case q.MaxTokens > 0 && i.tokens >= q.MaxTokens:
		return nil, fmt.Errorf("%w: at most %d tokens, with those that are kept for a day after they expire", ErrQuotaExceeded, q.MaxTokens)
	case q.MaxBytes > 0 && i.bytes+bytes > q.MaxBytes:
		return nil, fmt.Errorf("%w: at most %d bytes of tokens, with those that are kept for a day after they expire", ErrQuotaExceeded, q.MaxBytes)
	}
	x.reserved[id] = reservation{x.addUsage(master, bytes), bytes}
	return func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.endReservation(id)
	}, nil
}

// endReservation ends a reservation, unless it has ended. The caller holds x.mu.
func (x *Index) endReservation(id string) {
	if r, ok := x.reserved[id]; ok {
		delete(x.reserved, id)
		x.removeUsage(r.issuer, r.bytes)
	}
}
