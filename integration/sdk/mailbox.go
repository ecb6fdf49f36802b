package sdk

import (
	"slices"
	"sync"
	"time"
)

// Mailbox keeps reports until somebody takes them.
type Mailbox struct {
	mu   sync.Mutex
	list []Report
	more chan struct{} // closed at the next change
	end  error         // why nothing more comes; nil: it may
}

func NewMailbox() *Mailbox { return &Mailbox{more: make(chan struct{})} }

func (m *Mailbox) change(change func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change()
	close(m.more)
	m.more = make(chan struct{})
}

func (m *Mailbox) Put(r Report) { m.change(func() { m.list = append(m.list, r) }) }

// Fail says why nothing more comes.
func (m *Mailbox) Fail(err error) { m.change(func() { m.end = err }) }

// Why is for messages that say that Take found nothing.
func (m *Mailbox) Why() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.end != nil {
		return "(" + m.end.Error() + ")"
	}
	return "in " + Limit.String()
}

// Take removes the first report that matches, and waits for it.
func (m *Mailbox) Take(matches func(Report) bool) (r Report, found bool) {
	timeout := time.NewTimer(Limit)
	defer timeout.Stop()
	for seen := 0; ; {
		m.mu.Lock()
		if i := slices.IndexFunc(m.list[seen:], matches); i >= 0 {
			r = m.list[seen+i]
			m.list = slices.Delete(m.list, seen+i, seen+i+1)
			m.mu.Unlock()
			return r, true
		}
		seen = len(m.list)
		more, end := m.more, m.end
		m.mu.Unlock()
		if end != nil {
			return r, false
		}
		select {
		case <-more:
		case <-timeout.C:
			return r, false
		}
	}
}

// Next removes the first report, and waits for it.
func (m *Mailbox) Next() (Report, bool) { return m.Take(func(Report) bool { return true }) }

// Rest is what nobody has taken.
func (m *Mailbox) Rest() []Report {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.list)
}
