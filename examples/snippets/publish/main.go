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
	options := client.Options{Token: os.Getenv("MILLRACE_TOKEN"), OnEvent: func(e client.Event) {
		if refused, ok := e.(client.PublishError); ok {
			log.Fatal("refused: ", refused.Code)
		}
	}}
	c, err := client.Connect(ctx, []string{"http://localhost:8080"}, options)
	if err != nil {
		log.Fatal(err)
	}
	err = c.PublishTo(ctx, client.OneRandom, "demo.room", "jobs.resize", []byte("cat.png"))
	if err := errors.Join(err, c.Flush(ctx), c.Close()); err != nil {
		log.Fatal(err)
	}
}
