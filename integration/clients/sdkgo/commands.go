package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/internal/clientdriver"
)

func (c *driven) carryOut(command clientdriver.Command, answer *clientdriver.Report) error {
	ctx, cancel := context.WithTimeout(c.driver.ctx, commandTimeout)
	defer cancel()
	if command.Master != "" {
		return c.administer(ctx, command, answer)
	}
	if c.client == nil && command.Cmd != "connect" {
		return errors.New("not connected")
	}
	switch command.Cmd {
	case "connect":
		return c.connect(ctx, command)
	case "subscribe":
		return c.subscribe(ctx, command)
	case "position":
		answer.Position = c.subs[command.Sub].Position()
		return nil
	case "read":
		if command.Watch != "" {
			c.readPresence(command.Watch)
		} else {
			c.read(command.Sub)
		}
		return nil
	case "unsubscribe":
		return c.subs[command.Sub].Unsubscribe(ctx)
	case "publish":
		return c.publish(ctx, command, answer)
	case "join":
		return c.join(ctx, command)
	case "leave":
		return c.members[command.Member].Leave(ctx)
	case "presence":
		return c.presence(ctx, command, answer)
	case "members":
		describe(c.watches[command.Watch], answer)
		return nil
	case "closePresence":
		return c.watches[command.Watch].Close(ctx)
	case "flush":
		return c.client.Flush(ctx)
	case "online":
		return nil // it looks at the machine's addresses by itself
	case "renewToken":
		return c.client.RenewToken(ctx)
	case "retry":
		c.client.Retry()
		return nil
	case "close":
		return c.client.Close()
	}
	return fmt.Errorf("unknown command %s", command.Cmd)
}

var deliveries = map[string]client.Delivery{
	"broadcast": client.Broadcast, "one-nearest": client.OneNearest, "one-random": client.OneRandom,
}

func (c *driven) publish(ctx context.Context, command clientdriver.Command, answer *clientdriver.Report) error {
	if command.Confirm {
		opts := []client.PublishOption{client.WithDelivery(deliveries[command.Delivery])}
		if command.Key != "" {
			opts = append(opts, client.WithKey(command.Key))
		}
		var err error
		answer.Position, err = c.client.PublishConfirmed(ctx, command.Tenant, command.Channel, command.Payload, opts...)
		return err
	}
	if command.Delivery == "" {
		return c.client.Publish(ctx, command.Tenant, command.Channel, command.Payload)
	}
	return c.client.PublishTo(ctx, deliveries[command.Delivery], command.Tenant, command.Channel, command.Payload)
}

func (c *driven) connect(ctx context.Context, command clientdriver.Command) error {
	o := command.Options
	options := client.Options{
		Token: o.Token, FallbackAfter: ms(o.FallbackAfter), ConnectTimeout: ms(o.ConnectTimeout), KeepAlive: ms(o.KeepAlive),
		PongTimeout: ms(o.PongTimeout), MinBackOff: ms(o.MinBackOff), MaxBackOff: ms(o.MaxBackOff),
		Queue: o.Queue, QueuePolicy: client.QueuePolicy(o.QueuePolicy), TLS: c.driver.tls, OnEvent: c.event,
		Sender: o.Sender,
	}
	for _, t := range o.Transports {
		options.Transports = append(options.Transports, client.Transport(t))
	}
	if o.Provider {
		options.TokenProvider = c.token
	}
	connected, err := client.Connect(ctx, command.Addresses, options)
	if err != nil {
		return err
	}
	c.client = connected
	c.driver.work.Go(func() { // ends with the client, which run closes
		<-connected.Done()
		c.report(clientdriver.Report{Event: "ended", Error: plain(connected.Err())})
	})
	return nil
}

// administer calls a TokenAdmin.
func (c *driven) administer(ctx context.Context, command clientdriver.Command, answer *clientdriver.Report) error {
	c.driver.administered.Store(true)
	admin, err := client.NewTokenAdmin(command.Addresses[0], command.Master, client.WithTLS(c.driver.tls))
	if err != nil {
		return err
	}
	life := time.Duration(command.Seconds) * time.Second
	switch command.Cmd {
	case "issue":
		issued, err := admin.Issue(ctx, client.IssueRequest{
			CreatedBy: "integration", ExpiresIn: life, Subject: command.Subject,
			Grants: []client.Grant{{
				Tenants: []string{command.Tenant}, Publish: command.Rules, Subscribe: command.Rules, Presence: command.Presence,
			}},
		})
		answer.Token, answer.TokenID, answer.ExpiresAt = issued.Token, issued.TokenID, issued.ExpiresAt.Format(time.RFC3339Nano)
		return err
	case "refresh":
		expires, err := admin.Refresh(ctx, command.TokenID, client.Expiry{At: time.Now().Add(life)})
		answer.ExpiresAt = expires.Format(time.RFC3339Nano)
		return err
	case "revoke":
		return admin.Revoke(ctx, command.Token)
	case "list":
		for info, err := range admin.List(ctx, client.ListOptions{Tenant: command.Tenant, PageSize: 2}) {
			if err != nil {
				return err
			}
			answer.Tokens = append(answer.Tokens, clientdriver.Token{TokenID: info.TokenID, Status: info.Status})
		}
		return nil
	}
	return fmt.Errorf("unknown command %s", command.Cmd)
}

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }

// token is a token provider that asks the test.
func (c *driven) token(ctx context.Context) (client.AccessToken, error) {
	c.report(clientdriver.Report{Event: "tokenWanted"})
	select {
	case given := <-c.tokens:
		switch {
		case given.LoggedOut:
			return client.AccessToken{}, fmt.Errorf("%s: %w", given.Text, client.ErrLoggedOut)
		case given.Text != "":
			return client.AccessToken{}, errors.New(given.Text)
		}
		token := client.AccessToken{Token: given.Token, ExpiresIn: ms(given.ExpiresIn)}
		if given.ExpiresAt != "" {
			var err error
			if token.ExpiresAt, err = time.Parse(time.RFC3339, given.ExpiresAt); err != nil {
				return token, err
			}
		}
		return token, nil
	case <-ctx.Done():
		return client.AccessToken{}, ctx.Err()
	}
}

func (c *driven) subscribe(ctx context.Context, command clientdriver.Command) error {
	var options []client.SubscribeOption
	if o := command.Options; o != nil && o.Queue != 0 {
		options = append(options, client.WithQueue(o.Queue, client.QueuePolicy(o.QueuePolicy)))
	}
	if o := command.Options; o != nil && o.History != nil {
		from, err := from(o.History)
		if err != nil {
			return err
		}
		options = append(options, client.WithHistory(from))
	}
	if command.Mode == "callback" {
		s, err := c.client.SubscribeFunc(ctx, command.Tenant, command.Pattern, c.messages(command.Sub), options...)
		if err == nil {
			c.subs[command.Sub] = s
		}
		return err
	}
	s, err := c.client.Subscribe(ctx, command.Tenant, command.Pattern, options...)
	if err != nil {
		return err
	}
	c.subs[command.Sub] = s
	if command.Mode == "iterate" {
		c.read(command.Sub)
	}
	return nil
}

// from is the option history.
func from(history any) (client.From, error) {
	switch history := history.(type) {
	case string:
		switch history {
		case "last":
			return client.Last, nil
		case "now":
			return client.Now, nil
		}
	case map[string]any:
		if n, ok := history["last"].(float64); ok {
			return client.LastN(int(n)), nil
		}
		if position, ok := history["after"].(string); ok {
			return client.After(position), nil
		}
	}
	return client.From{}, fmt.Errorf("unknown history %v", history)
}
