// Worker does jobs. When it is told to stop, it takes no new ones, and finishes those that it has.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/millrace/millrace/client"
)

func main() {
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	c, err := client.Connect(ctx, []string{"http://localhost:8080"}, client.Options{Token: os.Getenv("MILLRACE_TOKEN")})
	if err != nil {
		log.Fatal(err)
	}
	jobs, err := c.Subscribe(ctx, "demo.room", "jobs.*")
	if err != nil {
		log.Fatal(err)
	}
	context.AfterFunc(ctx, func() { _ = jobs.Drain(context.Background()) }) // ends the loop, after the last job
	log.Print("waiting for jobs")
	for job := range jobs.Messages() {
		fmt.Printf("%s %s\n", job.Channel, job.Payload)
	}
	if jobs.Err() != nil {
		log.Fatal(jobs.Err()) // as when the token has expired
	}
}
