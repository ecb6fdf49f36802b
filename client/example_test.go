package client_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/millrace/millrace/client"
)

func Example() {
	ctx := context.Background()
	c, err := client.Connect(ctx, []string{"https://edge.example.com"}, client.Options{Token: os.Getenv("MILLRACE_TOKEN")})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	sub, err := c.Subscribe(ctx, "paint.room", "news.#")
	if err != nil {
		log.Fatal(err)
	}
	if err := c.Publish(ctx, "paint.room", "news.sport", []byte("1:0")); err != nil {
		log.Fatal(err)
	}
	for m := range sub.Messages() {
		fmt.Printf("%s: %s\n", m.Channel, m.Payload)
	}
	log.Print(c.Err())
}

func ExampleConnect() {
	_, err := client.Connect(context.Background(), []string{"http://edge.example.com"}, client.Options{Token: "AT_token"})
	fmt.Println(errors.Is(err, client.ErrBadOption))
	_, err = client.Connect(context.Background(), []string{"http://edge.example.com"}, client.Options{})
	fmt.Println(err)
	// Output:
	// true
	// millrace: bad_option: neither Token nor TokenProvider is given: a Token is an access token (AT_…) as TokenAdmin.Issue or `millrace pubsub token issue` gives it; is its environment variable set?
}

// Who is present in the rooms, and what changes.
func ExampleClient_Presence() {
	ctx := context.Background()
	c, err := client.Connect(ctx, []string{"https://edge.example.com"}, client.Options{Token: os.Getenv("MILLRACE_TOKEN")})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Join(ctx, "paint.room", "room.1"); err != nil { // until Close
		log.Fatal(err)
	}
	p, err := c.Presence(ctx, "paint.room", "room.*")
	if err != nil {
		log.Fatal(err)
	}
	for _, member := range p.Members() {
		fmt.Println(member.Subject, "is in", member.Channel)
	}
	for {
		change, err := p.Next(ctx)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(change.Member.Subject, "has", change.Type, change.Channel)
	}
}

// A token provider asks the application's backend, which issues tokens with a
// TokenAdmin.
func ExampleOptions_tokenProvider() {
	options := client.Options{
		TokenProvider: func(ctx context.Context) (client.AccessToken, error) {
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://app.example.com/token", nil)
			if err != nil {
				return client.AccessToken{}, err
			}
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				return client.AccessToken{}, err
			}
			defer res.Body.Close()
			var token string
			_, err = fmt.Fscan(res.Body, &token)
			return client.AccessToken{Token: token, ExpiresAt: time.Now().Add(15 * time.Minute)}, err
		},
		OnEvent: func(e client.Event) {
			switch e := e.(type) {
			case client.Disconnected:
				log.Printf("lost %s: %v", e.Edge, e.Err)
			case client.Reconnected:
				log.Printf("back on %s after %v", e.Edge, e.Away)
			case client.PublishError:
				log.Printf("%s: %s", e.Channel, e.Code)
			}
		},
	}
	c, err := client.Connect(context.Background(), []string{"https://edge.example.com/edges"}, options)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
}

func ExampleClient_SubscribeFunc() {
	var c *client.Client // see Connect
	_, err := c.SubscribeFunc(context.Background(), "paint.room", "orders.*", func(m client.Message) {
		log.Printf("%s: %s", m.Channel, m.Payload)
	}, client.WithQueue(10_000, client.EndOnFull))
	if errors.Is(err, client.ErrPermissionDenied) {
		log.Print("the token does not allow this")
	}
}

// A publish to one of several workers.
func ExampleClient_PublishTo() {
	var c *client.Client // see Connect
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := c.PublishTo(ctx, client.OneNearest, "paint.room", "jobs.render", []byte("scene 7")); err != nil {
		log.Print(err)
	}
	if err := c.Flush(ctx); err != nil { // the edge has it
		log.Print(err)
	}
}

func ExampleTokenAdmin() {
	admin, err := client.NewTokenAdmin("https://edge.example.com", os.Getenv("MILLRACE_MASTER_TOKEN"),
		client.WithTLS(&tls.Config{MinVersion: tls.VersionTLS13}))
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	issued, err := admin.Issue(ctx, client.IssueRequest{
		CreatedBy: "backend",
		ExpiresIn: 15 * time.Minute,
		Grants:    []client.Grant{{Tenants: []string{"room"}, Publish: []string{"chat.*"}, Subscribe: []string{"chat.*"}}},
	})
	if err != nil {
		log.Fatal(err)
	}
	log.Print(issued.TokenID, issued.ExpiresAt)
	for token, err := range admin.List(ctx, client.ListOptions{Tenant: "paint.room"}) {
		if err != nil {
			log.Fatal(err)
		}
		log.Print(token.TokenID, token.Status)
	}
}
