package main

import (
	"context"
	"time"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/internal/clientdriver"
)

func (c *driven) join(ctx context.Context, command clientdriver.Command) error {
	m, err := c.client.Join(ctx, command.Tenant, command.Channel)
	if err != nil {
		return err
	}
	c.members[command.Member] = m
	c.driver.work.Go(func() { // ends with the membership, or the client, which run closes
		<-m.Done()
		c.report(clientdriver.Report{Event: "membershipEnded", Member: command.Member, Error: plain(m.Err())})
	})
	return nil
}

func (c *driven) presence(ctx context.Context, command clientdriver.Command, answer *clientdriver.Report) error {
	var options []client.PresenceOption
	if command.Count {
		options = append(options, client.WithCounts())
	}
	p, err := c.client.Presence(ctx, command.Tenant, command.Pattern, options...)
	if err != nil {
		return err
	}
	describe(p, answer)
	c.watches[command.Watch] = p
	c.driver.work.Go(func() { c.readPresence(p, command.Watch) }) // ends with the presence, or the client, which run closes
	return nil
}

// describe puts what a presence shows into an answer.
func describe(p *client.Presence, answer *clientdriver.Report) {
	for _, m := range p.Members() {
		answer.Members = append(answer.Members, *member(m))
	}
	answer.Counts, answer.Synced = p.Counts(), p.Synced()
}

func member(m client.Member) *clientdriver.Member {
	return &clientdriver.Member{Channel: m.Channel, Subject: m.Subject, Info: m.Info, Since: m.Since.Format(time.RFC3339Nano)}
}

// readPresence reads a presence to its end.
func (c *driven) readPresence(p *client.Presence, name string) {
	for {
		change, err := p.Next(context.Background())
		if err != nil {
			ended := clientdriver.Report{Event: "presenceEnded", Watch: name, Error: plain(err)}
			if ended.Error.Code == string(client.CodeClosed) {
				ended.Error = nil
			}
			c.report(ended)
			return
		}
		r := clientdriver.Report{Event: "presenceChange", Watch: name, Type: string(change.Type)}
		if change.Type == client.CountChanged {
			r.Channel, r.Count = change.Channel, change.Count
		} else {
			r.MemberInfo = member(change.Member)
		}
		c.report(r)
	}
}
