package nats

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub/history"
)

// A purge is done, though messages that it erases go by their age at the same time.
func TestPurgeWhileMessagesAge(t *testing.T) {
	t.Parallel()
	s := open(t, natstest.Connect(natstest.Server(t)))
	define(t, s, definition("h", func(d *history.Definition) { d.Limits.Messages, d.Limits.Age = 10_000, time.Second }))
	f := join(s)
	follow(t, s, "h")
	stop := make(chan struct{})
	var publisher sync.WaitGroup
	publisher.Go(func() {
		ticker := time.NewTicker(time.Millisecond)
		defer ticker.Stop()
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-ticker.C:
			}
			for range 4 {
				s.Append(&history.Message{History: "h", Tenant: "t", Channel: []byte("a"), Payload: fmt.Append(nil, i), Stored: func(*history.Message, history.Result) {}})
			}
		}
	})
	f.await(t, "messages that are about to go", func() bool { return len(f.received) > 3000 })
	if removed, err := s.Purge("h", "t", "a"); err != nil || removed == 0 {
		t.Errorf("%d removed, %v", removed, err)
	}
	close(stop)
	publisher.Wait()
}
