package main

import (
	"fmt"
	"time"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/internal/clientdriver"
)

// read reads a subscription to its end.
func (c *driven) read(name string) {
	s, report := c.subs[name], c.messages(name)
	c.driver.work.Go(func() { // ends with the subscription, or the client, which run closes
		for m := range s.Messages() {
			report(m)
		}
		c.report(clientdriver.Report{Event: "subscriptionEnded", Sub: name, Error: plain(s.Err())})
	})
}

func (c *driven) messages(sub string) func(client.Message) {
	return func(m client.Message) {
		c.report(clientdriver.Report{
			Event: "message", Sub: sub, Tenant: m.Tenant, Channel: m.Channel, Payload: m.Payload,
			Pattern: m.Pattern, Patterns: m.Patterns, Late: m.Late, Position: m.Position, Sender: m.Sender,
		})
	}
}

func (c *driven) event(event client.Event) {
	var r clientdriver.Report
	switch e := event.(type) {
	case client.Connected:
		r.Event, r.Edge, r.Transport = "connected", e.Edge, string(e.Transport)
	case client.Disconnected:
		r.Event, r.Edge, r.Transport, r.Error = "disconnected", e.Edge, string(e.Transport), plain(e.Err)
	case client.Suspect:
		r.Event, r.Edge, r.Transport = "suspect", e.Edge, string(e.Transport)
	case client.Recovered:
		r.Event, r.Edge, r.Transport, r.Away = "recovered", e.Edge, string(e.Transport), inMS(e.Away)
	case client.Reconnecting:
		r.Event, r.Attempt, r.Delay = "reconnecting", e.Attempt, inMS(e.Delay)
	case client.Reconnected:
		r.Event, r.Edge, r.Transport, r.Away = "reconnected", e.Edge, string(e.Transport), inMS(e.Away)
		r.Complete = e.Complete
	case client.Gap:
		r.Event, r.Tenant, r.Pattern, r.Before = "gap", e.Tenant, e.Pattern, e.Before
	case client.Moving:
		r.Event, r.Edge, r.Transport, r.Reason = "moving", e.Edge, string(e.Transport), string(e.Reason)
	case client.Moved:
		r.Event, r.Edge, r.Transport, r.Reason = "moved", e.Edge, string(e.Transport), string(e.Reason)
	case client.PublishError:
		r.Event, r.Tenant, r.Channel, r.Code = "publishError", e.Tenant, e.Channel, string(e.Code)
	case client.SubscriptionError:
		r.Event, r.Tenant, r.Pattern, r.Channel, r.Code = "subscriptionError", e.Tenant, e.Pattern, e.Channel, string(e.Code)
	case client.SlowConsumer:
		r.Event, r.Dropped = "slowConsumer", e.Dropped
	case client.EgressLimited:
		r.Event, r.Delay = "egressLimited", inMS(e.Delay)
	case client.LinkDown:
		r.Event, r.Edge = "linkDown", e.Edge
	case client.LinkUp:
		r.Event, r.Edge = "linkUp", e.Edge
	case client.QueueFull:
		r.Event, r.Tenant, r.Pattern, r.Dropped = "queueFull", e.Tenant, e.Pattern, e.Dropped
	case client.EdgeError:
		r.Event, r.Code, r.Detail, r.Cause = "edgeError", string(e.Code), e.Detail, plain(e.Err)
	case client.RoundTrip:
		r.Event, r.RTT = "roundTrip", inMS(e.RTT)
	case client.Closed:
		r.Event, r.Error = "closed", plain(e.Err)
	default:
		r.Event = fmt.Sprintf("unknown event %T", event)
	}
	c.report(r)
}

func inMS(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
