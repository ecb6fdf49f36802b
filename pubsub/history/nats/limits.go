package nats

import (
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/millrace/millrace/pubsub/history"
)

// streamConfig is the configuration of a stream that NATS keeps to a definition.
func (s *Store) streamConfig(name string, r *record) jetstream.StreamConfig {
	c := jetstream.StreamConfig{
		Name: s.names.stream(name), Description: "messages of a history of Millrace edges",
		Subjects: []string{s.names.subjects(name) + ">"},
		Storage:  s.options().Storage, Replicas: s.options().Replicas,
		Discard: jetstream.DiscardOld, AllowDirect: true,
	}
	r.limit(&c)
	return c
}

// limit puts the limits of a history into the configuration of its stream, and reports
// whether they were others. The stream keeps some messages more of a channel than the
// history has: where an edge is slower than one channel, it still sees all of them.
func (r *record) limit(c *jetstream.StreamConfig) (changed bool) {
	before := *c
	age := time.Duration(r.AgeMS) * time.Millisecond
	c.MaxMsgsPerSubject, c.MaxAge, c.MaxBytes = int64(r.Messages+slack(r.Messages)), age, r.Size
	c.Duplicates = min(history.KeyTime, age)
	return c.MaxMsgsPerSubject != before.MaxMsgsPerSubject || c.MaxAge != before.MaxAge || c.MaxBytes != before.MaxBytes ||
		c.Duplicates != before.Duplicates
}

// slack is how many messages of a channel a stream keeps beyond those of its history.
func slack(messages int) int { return min(max(messages/2, 16), 128) }

// underWay is how many messages of a channel an edge has under way at most: much less than the
// stream keeps, as several edges may store, and others may be slower to receive.
func underWay(messages int) int { return max(4, (messages+slack(messages))/6) }
