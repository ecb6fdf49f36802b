// Publish gives a job to one worker.
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
	_, err = c.PublishConfirmed(ctx, "demo.room", "jobs.resize", []byte("cat.png"), client.WithDelivery(client.OneRandom))
	if err != nil {
		log.Fatal(err) // as when no worker takes it
	}
	_ = c.Close() // always nil
}
