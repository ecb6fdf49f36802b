// Publish gives a job to one worker.
package main

import (
	"context"
	"errors"
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
	err = c.PublishTo(ctx, client.OneRandom, "demo.room", "jobs.resize", []byte("cat.png"))
	if err := errors.Join(err, c.Flush(ctx), c.Close()); err != nil {
		log.Fatal(err)
	}
}
