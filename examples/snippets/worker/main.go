// Worker does jobs.
package main

import (
	"context"
	"log"
	"os"

	"github.com/millrace/millrace/client"
)

func main() {
	ctx := context.Background()
	c, err := client.Connect(ctx, []string{"http://localhost:8080"}, client.Options{Token: os.Getenv("MILLRACE_TOKEN")})
	if err != nil {
		log.Fatal(err)
	}
	jobs, err := c.Subscribe(ctx, "demo.room", "jobs.*")
	if err != nil {
		log.Fatal(err)
	}
	log.Print("waiting for jobs")
	for job := range jobs.Messages() {
		log.Printf("%s %s", job.Channel, job.Payload)
	}
	log.Fatal(jobs.Err()) // as when the token has expired
}
