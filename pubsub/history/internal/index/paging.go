package index

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/millrace/millrace/internal/turns"
	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/wire"
)

// maxSteps is how many steps one page takes at most. Where many messages are searched for few, a page
// may end without any, so that its tenant can pay before the next one.
const maxSteps = 32

// Paging reads a page in steps, each of which looks at maxScan messages at most. Between them others
// have the lock.
type Paging struct {
	Page    history.Page
	Entries []*Entry // of the messages of the page

	query  history.Query // of the next step
	count  *Count        // that comes first; nil: it is done
	bytes  int           // that the page may still have
	steps  int
	raises uint64 // of the tenant, at the last step
}

// NewPaging begins to read a page for a query.
func NewPaging(q *history.Query) *Paging {
	return &Paging{query: *q, count: NewCount(q), bytes: q.MaxBytes}
}

// Step does one step on a locked history. up: the history's head as a whole, if that is more
// than its tenants do. done: it was the last. Page.Work also holds after an error, which is
// [history.ErrTooManyChannels].
func (g *Paging) Step(h *History, up wire.Position) (done bool, err error) {
	began := time.Now()
	defer func() { g.Page.Work += max(time.Since(began), 1) }() // with a coarse clock, too
	if g.count != nil {
		if done, err = g.count.Step(h); done {
			g.count = nil
		}
		return err != nil, err
	}
	return g.read(h, up), nil
}

// read reads the next part of the page. done: it was the last.
func (g *Paging) read(h *History, up wire.Position) (done bool) {
	whole := h.Head(g.query.Tenant)
	since := &g.raises
	if g.steps == 0 {
		since = nil
	}
	p := h.read(&g.query, since)
	size := 0
	for _, e := range p.Entries {
		size += e.pageBytes()
	}
	if g.bytes -= size; g.bytes < 0 && len(g.Entries) > 0 && len(p.Entries) > 0 {
		return true // they have no room beside the messages of earlier steps
	}
	if p.Through == whole && up.N > whole.N {
		p.Through = up
	}
	g.Page.Through, g.raises = p.Through, p.raises
	// What was removed since, of what the page has, is not missing.
	if g.steps == 0 || p.Removed.N > max(g.query.After, g.Page.Removed.N) {
		g.Page.Removed, g.Page.Why = p.Removed, p.Why
	}
	g.Entries = append(g.Entries, p.Entries...)
	for _, e := range p.Entries {
		g.Page.Messages = append(g.Page.Messages, history.Kept{
			Position: wire.Position{Epoch: h.epoch, N: e.N, T: e.T}, Channel: e.Channel(), Payload: e.Payload, Sender: []byte(e.Sender()),
		})
	}
	g.query.After = p.Through.N
	g.query.MaxMessages -= len(p.Entries)
	g.query.MaxBytes = g.bytes
	g.steps++
	return !p.Long || g.query.MaxMessages <= 0 || g.bytes <= 0 || g.steps == maxSteps
}

// Turns let those who search a history take turns before they ask for its lock: whoever stores a
// message meets one of them there, and not all. Tenants take turns, however many pages each has read.
// The zero value is ready for use.
type Turns struct {
	tenants turns.Turns
	step    sync.Mutex // held during a step
}

// Do calls step until it is done or fails, when it is this tenant's turn, or returns the error of ctx.
// step takes the history's lock.
func (t *Turns) Do(ctx context.Context, tenant string, step func() (done bool, err error)) error {
	leave, err := t.tenants.Take(ctx, tenant, 1)
	if err != nil {
		return err
	}
	defer leave()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		t.step.Lock()
		done, err := step()
		t.step.Unlock()
		if done || err != nil {
			return err
		}
		runtime.Gosched() // who waits for the history's lock may have it now
	}
}
