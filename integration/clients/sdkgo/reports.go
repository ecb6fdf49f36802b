package main

import (
	"reflect"
	"strings"
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
			Pattern: m.Pattern, Patterns: m.Patterns, Late: m.Late, Position: m.Position, Sender: m.Sender, Own: m.Own, Key: m.Key,
		})
	}
}

// event reports an event by the name of its type and its fields, which reports have by the same
// names; errors as error, or of an event that is one as cause.
func (c *driven) event(event client.Event) {
	value := reflect.ValueOf(event)
	name := value.Type().Name()
	r := clientdriver.Report{Event: strings.ToLower(name[:1]) + name[1:]}
	report := reflect.ValueOf(&r).Elem()
	for i := range value.NumField() {
		field := value.Type().Field(i).Name
		switch v := value.Field(i).Interface().(type) {
		case error:
			if r.Error = plain(v); name == "EdgeError" {
				r.Error, r.Cause = nil, r.Error
			}
		case time.Duration:
			report.FieldByName(field).SetFloat(inMS(v))
		case nil: // no error
		default:
			if to := report.FieldByName(field); to.IsValid() {
				to.Set(value.Field(i).Convert(to.Type()))
			}
		}
	}
	c.report(r)
}

func inMS(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
