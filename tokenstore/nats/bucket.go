package nats

import (
	"context"
	"errors"
	"fmt"
	"time"

	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// bucketPatience bounds the search for the bucket: servers that have no leader
// yet say nothing.
const bucketPatience = 2 * time.Second

// bucket opens the bucket, and makes it if it is to.
func (s *Store) bucket(ctx context.Context) (jetstream.KeyValue, error) {
	kv, err := s.js.KeyValue(ctx, s.config.Bucket)
	if s.config.Create && s.config.Role == Manager && errors.Is(err, jetstream.ErrBucketNotFound) {
		kv, err = s.js.CreateKeyValue(ctx, jetstream.KeyValueConfig{
			Bucket:      s.config.Bucket,
			Description: "tokens of Millrace edges",
			History:     1,
			Replicas:    s.config.Replicas,
			Storage:     s.config.Storage,
		})
	}
	switch {
	case errors.Is(err, client.ErrNoResponders):
		return nil, fmt.Errorf("JetStream is not enabled, or not ready: %w", err)
	case err != nil:
		return nil, fmt.Errorf("the bucket %q: %w", s.config.Bucket, err)
	}
	return kv, nil
}

// position is when the bucket was made, and its latest revision.
type position struct {
	created time.Time
	last    uint64
	memory  bool // what it has is gone with its servers, and the time is the same

	replicas, current int // servers that are to have the bucket, and that have all of it
}

// errNoLeader is returned where a replica would answer for itself.
var errNoLeader = errors.New("the bucket has no leader")

func (s *Store) position(ctx context.Context) (position, error) {
	ctx, done := context.WithTimeout(ctx, patience)
	defer done()
	stream, err := s.js.Stream(ctx, s.stream()) // asks for its state
	if err != nil {
		return position{}, err
	}
	info := stream.CachedInfo()
	if info.Cluster != nil && info.Cluster.Leader == "" {
		return position{}, errNoLeader
	}
	p := position{
		created: info.Created, last: info.State.LastSeq, memory: info.Config.Storage == jetstream.MemoryStorage,
		replicas: 1, current: 1, // who answers
	}
	if info.Cluster != nil {
		for _, r := range info.Cluster.Replicas {
			p.replicas++
			if r.Current && !r.Offline {
				p.current++
			}
		}
	}
	return p, nil
}

// newest returns the revision of the last message that the bucket has, 0 if it
// has none.
func (s *Store) newest(ctx context.Context) (revision uint64, err error) {
	m, err := s.lastLimited(ctx, s.subjects()+">")
	if err != nil || m == nil {
		return 0, err
	}
	return m.revision, nil
}

func (s *Store) lastLimited(ctx context.Context, subject string) (*latest, error) {
	ctx, done := context.WithTimeout(ctx, patience)
	defer done()
	return s.last(ctx, subject)
}
