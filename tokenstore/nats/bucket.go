package nats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// bucketTimeout bounds the search for the bucket: servers that have not elected a
// leader yet do not answer.
const bucketTimeout = 2 * time.Second

// bucket opens the bucket, and makes it if the configuration says so.
func (s *Store) bucket(ctx context.Context) (jetstream.KeyValue, error) {
	kv, err := s.js.KeyValue(ctx, s.config.Bucket)
	if s.config.Create && s.config.Role == Manager && errors.Is(err, jetstream.ErrBucketNotFound) {
		kv, err = s.js.CreateKeyValue(ctx, jetstream.KeyValueConfig{
			Bucket:      s.config.Bucket,
			Description: "tokens of Millrace edges",
			History:     1,
			Replicas:    s.config.Replicas,
			Storage:     s.config.Storage,
			MaxBytes:    s.config.MaxBytes,
		})
	}
	switch {
	case errors.Is(err, client.ErrNoResponders):
		return nil, fmt.Errorf("JetStream is not enabled, or not ready: %w", err)
	case hasCode(err, codeMaxBytesRequired):
		return nil, fmt.Errorf("%w: the bucket %q: its account takes no bucket without a size: set max_bytes of token_store nats: %w",
			errRefused, s.config.Bucket, err)
	case hasCode(err, codeMaxBytesTooLarge), hasCode(err, codeStorageExceeded), hasCode(err, codeMemoryExceeded):
		return nil, fmt.Errorf("%w: the bucket %q: max_bytes of token_store nats, %d bytes now and in each replica, is more than its account or servers have room for: %w",
			errRefused, s.config.Bucket, s.config.MaxBytes, err)
	case hasCode(err, codeAccountExceeded), hasCode(err, codeTooManyStreams), hasCode(err, jetstream.JSErrCodeJetStreamNotEnabledForAccount):
		return nil, fmt.Errorf("%w: the bucket %q: %w", errRefused, s.config.Bucket, err)
	case err != nil:
		return nil, fmt.Errorf("the bucket %q: %w", s.config.Bucket, err)
	}
	return kv, nil
}

// errRefused is in the error when the servers refuse the bucket for good: somebody has
// to change its configuration, or that of the account.
var errRefused = errors.New("the bucket cannot be made")

// bucketState is what the leader says about the bucket.
type bucketState struct {
	created      time.Time
	lastRevision uint64
	inMemory     bool // a restart of its servers empties it, and created stays the same

	replicas, current int // servers that should hold the bucket, and those that have all of it
}

// bucketState asks the leader of the bucket.
func (s *Store) bucketState(ctx context.Context) (b bucketState, err error) {
	ctx, done := context.WithTimeout(ctx, s.config.callTimeout)
	defer done()
	err = s.answers.call(ctx, s.apiSubject("STREAM.INFO."+s.streamName()), nil, func(answer []byte) error {
		b, err = parseState(answer, s.maxUnheard)
		return err
	})
	return b, err
}

const (
	// maxUnheard is for how long a leader may not have heard of a majority. The followers
	// answer it once a second at least, and elect another one after 4 s at the earliest.
	maxUnheard = 3 * time.Second
	// drainTime is how long a server may take for what came while it stood still.
	drainTime = 500 * time.Millisecond
)

// maxUnheard is the constant, but less for a server that has stood still together with this
// process: at first it takes for news what its followers sent before they elected another one.
func (s *Store) maxUnheard(leader string) time.Duration {
	if leader != s.conn.ConnectedServerName() {
		return maxUnheard
	}
	return min(maxUnheard, s.freshness.sinceResumed(time.Now())-drainTime)
}

// parseState reads the answer of STREAM.INFO. It returns an errNoLeader for that of a server
// that does not lead the bucket, or may no longer do so without knowing: as one that was
// frozen, or is cut off from the others.
func parseState(answer []byte, maxUnheard func(leader string) time.Duration) (bucketState, error) {
	var info struct {
		Error *jetstream.APIError `json:"error"`
		jetstream.StreamInfo
	}
	if err := json.Unmarshal(answer, &info); err != nil {
		return bucketState{}, fmt.Errorf("JetStream's answer: %w", err)
	}
	if info.Error != nil {
		return bucketState{}, asLeaderError(info.Error)
	}
	b := bucketState{
		created: info.Created, lastRevision: info.State.LastSeq, inMemory: info.Config.Storage == jetstream.MemoryStorage,
		replicas: 1, current: 1, // the server that answered
	}
	if info.Cluster == nil {
		return b, nil
	}
	heard, limit := 1, maxUnheard(info.Cluster.Leader)
	for _, r := range info.Cluster.Replicas {
		b.replicas++
		if r.Current && !r.Offline {
			b.current++
		}
		if r.Active < limit { // 0: it has just become the leader
			heard++
		}
	}
	switch {
	case info.Cluster.Leader == "":
		return bucketState{}, fmt.Errorf("%w: a replica knows of none", errNoLeader)
	case heard <= b.replicas/2:
		return bucketState{}, fmt.Errorf("%w: %s has heard of %d of %d servers in the last %v", errNoLeader, info.Cluster.Leader, heard, b.replicas, limit)
	}
	return b, nil
}

// asLeaderError is the error for an answer of JetStream that is one.
func asLeaderError(e *jetstream.APIError) error {
	switch e.ErrorCode {
	case codeNotAvailable, codeStreamOffline: // a server that has no leader says so
		return fmt.Errorf("%w: %w", errNoLeader, e)
	case jetstream.JSErrCodeStreamNotFound:
		return jetstream.ErrStreamNotFound
	}
	return e
}

// lastRevision returns the revision of the last message that the bucket has, 0 if it
// has none.
func (s *Store) lastRevision(ctx context.Context) (revision uint64, err error) {
	m, err := s.lastMessageWithTimeout(ctx, s.subjectPrefix()+">")
	if err != nil || m == nil {
		return 0, err
	}
	return m.revision, nil
}

// lastMessageWithTimeout is lastMessage, bounded by the timeout of calls.
func (s *Store) lastMessageWithTimeout(ctx context.Context, subject string) (*message, error) {
	ctx, done := context.WithTimeout(ctx, s.config.callTimeout)
	defer done()
	return s.lastMessage(ctx, subject)
}
