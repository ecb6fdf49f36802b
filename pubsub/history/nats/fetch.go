package nats

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/history/internal/index"
	"github.com/millrace/millrace/pubsub/internal/natssubject"
)

// fetching is the payloads that one page gets from the stream. Others that need some of them
// wait for it.
type fetching struct {
	done     chan struct{} // closed when payloads is complete, as far as it will be
	payloads map[uint64][]byte
}

const (
	// maxFetches bounds the pages that an edge fetches payloads for at once.
	maxFetches = 32
	// extraFetched is how many messages more than those of a page are asked for at once:
	// the stream has some that the index does not have any more.
	extraFetched = 16
	// maxSparse is how many messages of the stream there may be for one of a page that is
	// asked for at once. A server looks through all of them, and faster finds each by its number.
	maxSparse = 8
	// maxSingles bounds the messages of a page that are asked for one by one, at once.
	maxSingles = 16
)

// fetch gets the payloads of a page that this edge does not have. Its error is errGone if one
// was removed.
func (st *stream) fetch(ctx context.Context, q *history.Query, page history.Page, entries []*index.Entry) error {
	own := &fetching{done: make(chan struct{}), payloads: map[uint64][]byte{}}
	var missing []int
	others := map[int]*fetching{}
	st.mu.Lock()
	for i := range page.Messages {
		m := &page.Messages[i]
		if m.Payload == nil && !entries[i].Removed() {
			m.Payload = entries[i].Payload // it came meanwhile
		}
		switch other := st.fetches[m.Position.N]; {
		case m.Payload != nil:
		case other != nil:
			others[i] = other
		default:
			st.fetches[m.Position.N] = own
			missing = append(missing, i)
		}
	}
	st.mu.Unlock()
	err := st.fetchOwn(ctx, q, own, page, missing)
	st.mu.Lock()
	for _, i := range missing {
		n := page.Messages[i].Position.N
		delete(st.fetches, n)
		payload, ok := own.payloads[n]
		if !ok {
			continue
		}
		page.Messages[i].Payload = payload
		if e := entries[i]; !e.Removed() && e.Payload == nil {
			st.cache.add(e, payload)
		}
	}
	st.mu.Unlock()
	close(own.done)
	if err != nil {
		return st.fetchFailed(ctx, err)
	}
	for i, other := range others {
		m := &page.Messages[i]
		select {
		case <-other.done:
		case <-ctx.Done():
			return history.ErrUnavailable
		}
		var ok bool
		if m.Payload, ok = other.payloads[m.Position.N]; ok {
			continue
		}
		if m.Payload, err = st.fetchOne(ctx, q.Tenant, m); err != nil { // the other one has failed
			return st.fetchFailed(ctx, err)
		}
	}
	return nil
}

func (st *stream) fetchFailed(ctx context.Context, err error) error {
	if errors.Is(err, errGone) && ctx.Err() == nil {
		return err
	}
	st.store.warn("the history "+st.name+" cannot be read", err)
	return history.ErrUnavailable
}

// fetchOwn gets the payloads of the missing messages of a page.
func (st *stream) fetchOwn(ctx context.Context, q *history.Query, own *fetching, page history.Page, missing []int) error {
	if len(missing) == 0 {
		return nil
	}
	select {
	case st.store.fetches <- struct{}{}:
		defer func() { <-st.store.fetches }()
	case <-ctx.Done():
		return ctx.Err()
	}
	first, last := page.Messages[missing[0]].Position.N, page.Messages[missing[len(missing)-1]].Position.N
	if last-first < maxSparse*uint64(len(missing)) {
		filter := st.store.names.subjects(st.name) + messageToken + natssubject.OfPattern(q.Tenant, q.Pattern.String())
		wanted := map[uint64]func(string, time.Time) bool{}
		for _, i := range missing {
			wanted[page.Messages[i].Position.N] = st.isMessage(q.Tenant, &page.Messages[i])
		}
		st.store.getRange(ctx, st.store.names.stream(st.name), filter, first, last, len(missing)+extraFetched, wanted, own.payloads)
	}
	var waiting sync.WaitGroup
	var mu sync.Mutex
	var failed error
	slots := make(chan struct{}, maxSingles)
	for _, i := range missing {
		m := &page.Messages[i]
		mu.Lock()
		_, ok := own.payloads[m.Position.N]
		stop := failed != nil
		mu.Unlock()
		if stop {
			break
		}
		if ok {
			continue
		}
		slots <- struct{}{}
		waiting.Go(func() {
			defer func() { <-slots }()
			payload, err := st.fetchOne(ctx, q.Tenant, m)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed = errors.Join(failed, err)
				return
			}
			own.payloads[m.Position.N] = payload
		})
	}
	waiting.Wait()
	return failed
}

// fetchOne gets one payload. What the stream does not have is taken from the index.
func (st *stream) fetchOne(ctx context.Context, tenant string, m *history.Kept) ([]byte, error) {
	payload, err := st.store.getPayload(ctx, st.store.names.stream(st.name), m.Position.N, st.isMessage(tenant, m))
	if errors.Is(err, errGone) {
		return nil, errors.Join(err, st.lost(ctx, tenant, m.Position))
	}
	if err == nil && payload == nil {
		payload = []byte{}
	}
	return payload, err
}

// isMessage tells a message from another one that has its number since the stream was lost,
// which this edge may not know yet: that is of another channel, perhaps of another tenant, or
// younger.
func (st *stream) isMessage(tenant string, m *history.Kept) func(subject string, at time.Time) bool {
	wanted, latest := st.store.names.message(st.name, tenant, []byte(m.Channel)), m.Position.T
	return func(subject string, at time.Time) bool { return subject == wanted && ms(at) <= latest }
}

// rangeTimeout is how long an answer with several messages may pause.
const rangeTimeout = 2 * time.Second

// getRange gets messages of a subject from a number on, up to another one, but not more than
// most, from any replica, and puts the payloads of those that are wanted into payloads. What it
// does not get, it leaves out: servers before 2.11 answer with one message.
func (s *Store) getRange(ctx context.Context, stream, filter string, first, last uint64, most int, wanted map[uint64]func(string, time.Time) bool, payloads map[uint64][]byte) {
	inbox := s.conn.NewInbox()
	sub, err := s.conn.SubscribeSync(inbox)
	if err != nil {
		return
	}
	defer func() { _ = sub.Unsubscribe() }()
	request := fmt.Appendf(nil, `{"seq":%d,"next_by_subj":%q,"batch":%d}`, first, filter, most)
	if err := s.conn.PublishRequest("$JS.API.DIRECT.GET."+stream, inbox, request); err != nil {
		return
	}
	for range most {
		waiting, done := context.WithTimeout(ctx, rangeTimeout)
		m, err := sub.NextMsgWithContext(waiting)
		done()
		if err != nil || status(m) != "" { // the end, or nothing
			return
		}
		n, subject, at := direct(m)
		if n == 0 || n > last {
			return
		}
		if is := wanted[n]; is != nil && is(subject, at) {
			payload := m.Data
			if payload == nil {
				payload = []byte{}
			}
			payloads[n] = payload
		}
		if m.Header.Get("Nats-Num-Pending") == "" || n == last {
			return
		}
	}
}
