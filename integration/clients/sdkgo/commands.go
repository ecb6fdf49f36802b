package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/internal/clientdriver"
)

func (c *driven) carryOut(command clientdriver.Command, answer *clientdriver.Report) (err error) {
	ctx, cancel := context.WithTimeout(c.driver.ctx, 30*time.Second)
	defer cancel()
	if command.Master != "" {
		return c.administer(ctx, command, answer)
	}
	if c.client == nil && command.Cmd != "connect" {
		return errors.New("not connected")
	}
	switch command.Cmd {
	case "connect":
		err = c.connect(ctx, command)
	case "subscribe":
		err = c.subscribe(ctx, command)
	case "position":
		answer.Position = c.subs[command.Sub].Position()
	case "read":
		c.read(command.Sub)
	case "unsubscribe":
		err = c.subs[command.Sub].Unsubscribe(ctx)
	case "publish":
		err = c.publish(ctx, command, answer)
	case "join":
		err = c.join(ctx, command)
	case "leave":
		err = c.members[command.Member].Leave(ctx)
	case "presence":
		err = c.presence(ctx, command, answer)
	case "members":
		describe(c.watches[command.Watch], answer)
	case "closePresence":
		err = c.watches[command.Watch].Close(ctx)
	case "flush":
		err = c.client.Flush(ctx)
	case "online": // it looks at the machine's addresses by itself
	case "renewToken":
		err = c.client.RenewToken(ctx)
	case "retry":
		c.client.Retry()
	case "close":
		err = c.client.Close()
	default:
		err = fmt.Errorf("unknown command %s", command.Cmd)
	}
	return err
}

func (c *driven) publish(ctx context.Context, command clientdriver.Command, answer *clientdriver.Report) (err error) {
	deliveries := map[string]client.Delivery{"one-nearest": client.OneNearest, "one-random": client.OneRandom}
	delivery := deliveries[command.Delivery] // a broadcast, if it says nothing
	if !command.Confirm {
		return c.client.PublishTo(ctx, delivery, command.Tenant, command.Channel, command.Payload)
	}
	opts := []client.PublishOption{client.WithDelivery(delivery)}
	if command.Key != "" {
		opts = append(opts, client.WithKey(command.Key))
	}
	answer.Position, err = c.client.PublishConfirmed(ctx, command.Tenant, command.Channel, command.Payload, opts...)
	return err
}

func (c *driven) connect(ctx context.Context, command clientdriver.Command) error {
	o := command.Options
	options := client.Options{
		Token: o.Token, FallbackAfter: ms(o.FallbackAfter), ConnectTimeout: ms(o.ConnectTimeout), KeepAlive: ms(o.KeepAlive),
		PongTimeout: ms(o.PongTimeout), MinBackOff: ms(o.MinBackOff), MaxBackOff: ms(o.MaxBackOff),
		Queue: o.Queue, QueuePolicy: client.QueuePolicy(o.QueuePolicy), TLS: c.driver.tls, OnEvent: c.event,
		Sender: o.Sender, FailFast: true,
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
	admin, err := client.NewTokenAdmin(command.Addresses[0], command.Master, client.WithHTTPClient(c.driver.http))
	if err != nil {
		return err
	}
	life := time.Duration(command.Seconds) * time.Second
	expires := time.Time{}
	switch command.Cmd {
	case "issue":
		grant := client.Grant{Tenants: []string{command.Tenant}, Publish: command.Rules, Subscribe: command.Rules, Presence: command.Presence}
		var issued client.IssuedToken
		issued, err = admin.Issue(ctx, client.IssueRequest{
			CreatedBy: "integration", ExpiresIn: life, Subject: command.Subject, Grants: []client.Grant{grant},
		})
		answer.Token, answer.TokenID, expires = issued.Token, issued.TokenID, issued.ExpiresAt
	case "refresh":
		expires, err = admin.Refresh(ctx, command.TokenID, client.Expiry{In: life})
	case "revoke":
		err = admin.Revoke(ctx, command.Token)
	case "list":
		for info, failed := range admin.List(ctx, client.ListOptions{Tenant: command.Tenant, PageSize: 2}) {
			err = failed
			answer.Tokens = append(answer.Tokens, clientdriver.Token{TokenID: info.TokenID, Status: info.Status})
		}
	}
	answer.ExpiresAt = expires.Format(time.RFC3339Nano)
	return err
}

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }

// token is a token provider that asks the test.
func (c *driven) token(ctx context.Context) (token client.AccessToken, err error) {
	c.report(clientdriver.Report{Event: "tokenWanted"})
	select {
	case given := <-c.tokens:
		switch {
		case given.LoggedOut:
			return token, fmt.Errorf("%s: %w", given.Text, client.ErrLoggedOut)
		case given.Text != "":
			return token, errors.New(given.Text)
		}
		token.Token, token.ExpiresIn = given.Token, ms(given.ExpiresIn)
		if given.ExpiresAt != "" {
			token.ExpiresAt, err = time.Parse(time.RFC3339, given.ExpiresAt)
		}
		return token, err
	case <-ctx.Done():
		return token, ctx.Err()
	}
}

func (c *driven) subscribe(ctx context.Context, command clientdriver.Command) (err error) {
	o := cmp.Or(command.Options, &clientdriver.Options{})
	options := []client.SubscribeOption{client.WithQueue(o.Queue, client.QueuePolicy(o.QueuePolicy))}
	if o.History != nil {
		options = append(options, client.WithHistory(from(o.History)))
	}
	if o.WithoutEcho {
		options = append(options, client.WithoutEcho())
	}
	var s *client.Subscription
	if command.Mode == "callback" {
		s, err = c.client.SubscribeFunc(ctx, command.Tenant, command.Pattern, c.messages(command.Sub), options...)
	} else {
		s, err = c.client.Subscribe(ctx, command.Tenant, command.Pattern, options...)
	}
	if err != nil {
		return err
	}
	if c.subs[command.Sub] = s; command.Mode == "iterate" {
		c.read(command.Sub)
	}
	return nil
}

// from is the option history.
func from(history any) client.From {
	fields, _ := history.(map[string]any)
	last, isLast := fields["last"].(float64)
	position, isAfter := fields["after"].(string)
	switch {
	case isLast:
		return client.LastN(int(last))
	case isAfter:
		return client.After(position)
	case history == "now":
		return client.Now
	}
	return client.Last
}
