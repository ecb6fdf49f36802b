// Workers is a pool of workers that take jobs from a producer: each job is
// published to one of them. Nothing assigns jobs, counts workers or knows where
// they run: on this edge or on another, in this process or elsewhere.
//
// A job that no worker takes is refused: the producer tries again. One whose
// worker dies is lost: what must not be lost needs a history (docs/how-to/work-queues.md).
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"sync/atomic"
	"time"

	"github.com/millrace/millrace/client"
)

const (
	edge    = "http://localhost:8080" // of make dev
	tenant  = "demo.room"
	workers = 4
	jobs    = 100
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	admin, err := client.NewTokenAdmin(edge, os.Getenv("MILLRACE_MASTER_TOKEN"))
	if err != nil {
		log.Fatal(err)
	}
	if err := run(ctx, admin); err != nil {
		log.Fatal(err)
	}
}

// run starts the workers, gives them the jobs, and returns when all are done.
func run(ctx context.Context, admin *client.TokenAdmin) error {
	var done atomic.Int64
	var pool []*client.Client
	for n := range workers {
		c, err := connect(ctx, admin, client.Grant{Tenants: []string{tenant}, Subscribe: []string{"jobs.*"}})
		if err != nil {
			return err
		}
		defer c.Close()
		pool = append(pool, c)
		_, err = c.SubscribeFunc(ctx, tenant, "jobs.*", func(m client.Message) {
			fmt.Printf("worker %d does %s %s\n", n+1, m.Channel, m.Payload)
			done.Add(1)
		})
		if err != nil {
			return err
		}
	}

	producer, err := connect(ctx, admin, client.Grant{Tenants: []string{tenant}, Publish: []string{"jobs.*"}})
	if err != nil {
		return err
	}
	defer producer.Close()
	for n := range jobs {
		if err := give(ctx, producer, fmt.Appendf(nil, "%d.png", n+1)); err != nil {
			return err
		}
	}
	for _, c := range pool {
		if err := c.Drain(ctx); err != nil { // it finishes what it has
			return err
		}
	}
	fmt.Printf("%d jobs done\n", done.Load())
	return nil
}

// give publishes a job until a worker takes it.
func give(ctx context.Context, producer *client.Client, job []byte) error {
	for {
		_, err := producer.PublishConfirmed(ctx, tenant, "jobs.resize", job, client.WithDelivery(client.OneRandom))
		if !errors.Is(err, client.ErrNoSubscriber) && !errors.Is(err, client.ErrSubscribersBusy) {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// connect gives each its own connection, as if it were its own process, and
// tokens as long as it lives.
func connect(ctx context.Context, admin *client.TokenAdmin, grant client.Grant) (*client.Client, error) {
	return client.Connect(ctx, []string{edge}, client.Options{
		TokenProvider: func(ctx context.Context) (client.AccessToken, error) {
			issued, err := admin.Issue(ctx, client.IssueRequest{
				CreatedBy: "workers", ExpiresIn: 15 * time.Minute, Grants: []client.Grant{grant},
			})
			return issued.AccessToken(), err
		},
	})
}
