package sdk

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// Mailbox keeps reports until somebody takes them, one goroutine alone.
type Mailbox struct {
	changed *sync.Cond // its lock is for all that follows
	list    []Report
	counts  map[string]int // of all that ever came, by event
	end     error          // why nothing more comes; nil: it may
}

func NewMailbox() *Mailbox {
	return &Mailbox{changed: sync.NewCond(new(sync.Mutex)), counts: map[string]int{}}
}

func (m *Mailbox) Put(r Report) {
	m.changed.L.Lock()
	defer m.changed.L.Unlock()
	m.list = append(m.list, r)
	m.counts[r.Event]++
	m.changed.Broadcast()
}

// Fail says why nothing more comes.
func (m *Mailbox) Fail(err error) {
	m.changed.L.Lock()
	defer m.changed.L.Unlock()
	m.end = err
	m.changed.Broadcast()
}

// Why is for messages that say that Take found nothing.
func (m *Mailbox) Why() string {
	m.changed.L.Lock()
	defer m.changed.L.Unlock()
	return fmt.Sprintf("(%v)", m.end)
}

// Take removes the first report that matches, and waits for it.
func (m *Mailbox) Take(matches func(Report) bool) (r Report, found bool) {
	timeout := time.AfterFunc(Limit, func() { m.Fail(fmt.Errorf("waited %v", Limit)) })
	defer timeout.Stop()
	m.changed.L.Lock()
	defer m.changed.L.Unlock()
	for seen := 0; ; m.changed.Wait() {
		if i := slices.IndexFunc(m.list[seen:], matches); i >= 0 {
			r = m.list[seen+i]
			m.list = slices.Delete(m.list, seen+i, seen+i+1)
			return r, true
		}
		if seen = len(m.list); m.end != nil {
			return r, false
		}
	}
}

// Next removes the first report, and waits for it.
func (m *Mailbox) Next() (Report, bool) { return m.Take(func(Report) bool { return true }) }

// Rest is what nobody has taken.
func (m *Mailbox) Rest() []Report {
	m.changed.L.Lock()
	defer m.changed.L.Unlock()
	return slices.Clone(m.list)
}

func (m *Mailbox) count(events []string) (n int) {
	m.changed.L.Lock()
	defer m.changed.L.Unlock()
	for _, event := range events {
		n += m.counts[event]
	}
	return n
}
