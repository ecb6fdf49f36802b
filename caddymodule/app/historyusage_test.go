package app

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/history/memory"
)

// slowShared is a shared store that says what it keeps when it is allowed to, or is closed.
type slowShared struct {
	history.Shared
	may, closed chan struct{}
	asked       atomic.Int32
}

func (s *slowShared) Usage() ([]history.Usage, error) {
	s.asked.Add(1)
	select {
	case <-s.may:
		return []history.Usage{{History: "chat", Messages: 3}}, nil
	case <-s.closed:
		return nil, history.ErrClosed
	}
}

func (s *slowShared) Close() error {
	close(s.closed)
	return nil
}

// Who reads metrics waits for a second at most, whatever the store does, and all who do at
// the same time ask it once.
func TestUsageOfSharedStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &slowShared{may: make(chan struct{}), closed: make(chan struct{})}
		s := &sharedHistory{Store: store}
		began := time.Now()
		for range 3 {
			if _, ok := s.usage(); ok {
				t.Error("the store did not say what it keeps")
			}
		}
		if took := time.Since(began); took != 3*usageTimeout || store.asked.Load() != 1 {
			t.Errorf("it took %v, and the store was asked %d times", took, store.asked.Load())
		}
		close(store.may)
		synctest.Wait()
		if list, ok := s.usage(); !ok || len(list) != 1 || list[0].Messages != 3 || store.asked.Load() != 2 {
			t.Errorf("got %v, %v, asked %d times", list, ok, store.asked.Load())
		}
		store.may = make(chan struct{})
		if _, ok := s.usage(); ok {
			t.Error("the store did not say what it keeps")
		}
		if err := s.Destruct(); err != nil { // ends the call
			t.Error(err)
		}
		if _, ok := s.usage(); ok || store.asked.Load() != 3 {
			t.Errorf("a closed store was asked, %d times", store.asked.Load())
		}
	})
	own := &sharedHistory{Store: memory.New()}
	if _, ok := own.usage(); !ok {
		t.Error("a store in memory does not say what it keeps")
	}
	if err := own.Destruct(); err != nil {
		t.Error(err)
	}
	if _, ok := own.usage(); ok {
		t.Error("a store that is closed says what it keeps")
	}
}
