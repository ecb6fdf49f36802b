package edgetest_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/edgetest"
)

// Every job of a queue has a fate that somebody knows: it is done, or its worker was killed with it, or has thrown it
// away and was told how many, or its publisher was told that nobody takes it.
func TestWorkers(t *testing.T) {
	const jobs, queue = 300, 16
	synctest.Test(t, func(t *testing.T) {
		edge := edgetest.New(t)
		token := edge.Token(edgetest.Publish("jobs.*"), edgetest.Subscribe("jobs.*"))
		publisher := edge.Client(token)
		var mu sync.Mutex
		done := map[string]int{}
		worker := func(takes time.Duration, listen func(client.Event)) (*client.Client, *client.Subscription) {
			c := edge.Client(token, func(o *client.Options) { o.OnEvent = listen })
			s, err := c.SubscribeFunc(t.Context(), edgetest.Tenant, "jobs.*", func(m client.Message) {
				time.Sleep(takes)
				mu.Lock()
				defer mu.Unlock()
				done[string(m.Payload)]++
			}, client.WithQueue(queue, client.DropOldest))
			if err != nil {
				t.Fatal(err)
			}
			return c, s
		}
		thrown := 0
		worker(10*time.Minute, nil) // takes what its queue has room for
		leaves, leaving := worker(101*time.Millisecond, func(e client.Event) {
			if e, ok := e.(client.Discarded); ok {
				thrown += e.Count
			}
		})
		drains, draining := worker(103*time.Millisecond, nil)
		worker(11*time.Millisecond, nil)

		busy := 0
		for i := range jobs {
			switch i {
			case jobs / 3:
				if err := leaving.Unsubscribe(t.Context()); err != nil {
					t.Error(err)
				}
			case jobs / 2:
				if err := draining.Drain(t.Context()); err != nil {
					t.Error(err)
				}
			}
			for {
				_, err := publisher.PublishConfirmed(t.Context(), edgetest.Tenant, "jobs.a", fmt.Append(nil, i), client.WithDelivery(client.OneRandom))
				if err == nil {
					break
				}
				if !errors.Is(err, client.ErrSubscribersBusy) {
					t.Fatal(err)
				}
				busy++
				time.Sleep(7 * time.Millisecond)
			}
		}
		time.Sleep(11 * time.Minute) // the slow one has done one job
		leaves.Close()
		drains.Close()
		synctest.Wait()
		held := queue - 1 // of the slow one
		mu.Lock()
		defer mu.Unlock()
		if got := len(done) + thrown + held; got != jobs || busy == 0 || thrown == 0 || thrown > queue {
			t.Errorf("%d jobs are done, %d thrown away, %d wait for the slow one: %d of %d; busy %d times", len(done), thrown, held, got, jobs, busy)
		}
		for job, times := range done {
			if times != 1 {
				t.Errorf("job %s was done %d times", job, times)
			}
		}
	})
}
