// Workers is a pool of workers that take jobs from a producer: each job is
// published to one of them. Nothing assigns jobs, counts workers or knows where
// they run: on this edge or on another, in this process or elsewhere.
//
// A job that is published while no worker is subscribed is lost, and so is one
// whose worker dies: what must not be lost needs a queue that stores.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"sync"
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
	var pending sync.WaitGroup
	pending.Add(jobs)
	for n := range workers {
		c, err := connect(ctx, admin, client.Grant{Tenants: []string{tenant}, Subscribe: []string{"jobs.*"}})
		if err != nil {
			return err
		}
		defer c.Close()
		_, err = c.SubscribeFunc(ctx, tenant, "jobs.*", func(m client.Message) {
			fmt.Printf("worker %d does %s %s\n", n+1, m.Channel, m.Payload)
			pending.Done()
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
		payload := fmt.Appendf(nil, "%d.png", n+1)
		if err := producer.PublishTo(ctx, client.OneRandom, tenant, "jobs.resize", payload); err != nil {
			return err
		}
	}

	done := make(chan struct{})
	go func() { // ends with the last job, or with the process
		pending.Wait()
		close(done)
	}()
	select {
	case <-done:
		fmt.Printf("%d jobs done\n", jobs)
		return nil
	case <-ctx.Done():
		return ctx.Err()
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
			if err != nil {
				return client.AccessToken{}, err
			}
			return client.AccessToken{Token: issued.Token, ExpiresIn: issued.ExpiresIn}, nil
		},
	})
}
