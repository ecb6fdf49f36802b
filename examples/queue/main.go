// Queue is a work queue in which no job is lost (docs/how-to/work-queues.md): jobs and what was done are kept in a history, and
// what was not done in time is given out again.
//
//	queue add 100        adds 100 jobs
//	queue dispatch 30s   gives jobs to workers, and again those that are not done after 30 s
//	queue work           does jobs, until SIGTERM
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/millrace/millrace/client"
)

const (
	edge = "http://localhost:8080" // of make dev
	all  = 100_000                 // as many messages as a history gives of one channel
)

// A job is the payload of jobs.todo and of work.<kind>.
type job struct {
	ID   string `json:"id"`
	Kind string `json:"kind"`
	Data string `json:"data"`

	given time.Time // when a worker last got it
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	c, err := client.Connect(ctx, []string{edge}, client.Options{Token: os.Getenv("MILLRACE_TOKEN")})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	q := c.Tenant("demo.room")
	switch args := append(os.Args[1:], "", ""); args[0] {
	case "add":
		err = add(ctx, q, args[1])
	case "dispatch":
		err = dispatch(ctx, q, args[1])
	case "work":
		err = work(ctx, q)
	default:
		err = errors.New("usage: queue add <jobs> | dispatch <retry after> | work")
	}
	if err != nil && ctx.Err() == nil {
		log.Fatal(err)
	}
}

func add(ctx context.Context, q *client.Tenant, count string) error {
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	for i := range n {
		j := job{ID: fmt.Sprintf("%d-%d", os.Getpid(), i+1), Kind: "resize", Data: "cat.png"}
		payload, err := json.Marshal(j)
		if err != nil {
			return err
		}
		if _, err := q.PublishConfirmed(ctx, "jobs.todo", payload, client.WithKey(j.ID)); err != nil {
			return err
		}
	}
	return nil
}

// dispatch keeps nothing: when it starts again, it reads again what is to do and what is done.
func dispatch(ctx context.Context, q *client.Tenant, after string) error {
	retryAfter, err := time.ParseDuration(after)
	if err != nil {
		return err
	}
	todo, err := q.Subscribe(ctx, "jobs.todo", client.WithHistory(client.LastN(all)))
	if err != nil {
		return err
	}
	done, err := q.Subscribe(ctx, "jobs.done", client.WithHistory(client.LastN(all)))
	if err != nil {
		return err
	}
	open, finished := map[string]*job{}, map[string]bool{} // finished: before the job itself was read
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case m, ok := <-todo.Messages():
			var j job
			if !ok {
				return todo.Err()
			} else if json.Unmarshal(m.Payload, &j) != nil {
				log.Printf("not a job: %s", m.Payload)
			} else if !finished[j.ID] {
				open[j.ID] = &j
			}
			delete(finished, j.ID)
		case m, ok := <-done.Messages():
			if !ok {
				return done.Err()
			}
			id := string(m.Payload)
			if open[id] == nil {
				finished[id] = true
			}
			delete(open, id)
		case <-tick.C:
			for _, j := range open {
				if time.Since(j.given) < retryAfter {
					continue
				}
				if err := give(ctx, q, j); errors.Is(err, client.ErrNoSubscriber) || errors.Is(err, client.ErrSubscribersBusy) {
					break // wait for workers
				} else if err != nil {
					log.Print(err) // as when the connection is lost: it is given out again
				}
			}
		case <-ctx.Done():
			return nil
		}
	}
}

func give(ctx context.Context, q *client.Tenant, j *job) error {
	payload, err := json.Marshal(j)
	if err != nil {
		return err
	}
	_, err = q.PublishConfirmed(ctx, "work."+j.Kind, payload, client.WithDelivery(client.OneRandom))
	if err == nil {
		j.given = time.Now()
	}
	return err
}

// work does one job after the other. A job may come twice: what it does must do no harm then.
func work(ctx context.Context, q *client.Tenant) error {
	jobs, err := q.Subscribe(ctx, "work.*", client.WithQueue(1, client.DropOldest))
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { _ = jobs.Drain(context.Background()) }) // SIGTERM: finish what has come
	for m := range jobs.Messages() {
		var j job
		if err := json.Unmarshal(m.Payload, &j); err != nil {
			return err
		}
		fmt.Printf("done %s\n", j.ID)
		if _, err := q.PublishConfirmed(context.Background(), "jobs.done", []byte(j.ID), client.WithKey(j.ID)); err != nil {
			return err
		}
	}
	return jobs.Err()
}
