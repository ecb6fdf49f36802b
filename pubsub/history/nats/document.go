package nats

import (
	"bytes"
	"context"
	crand "crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub/history"
)

// document is what all edges agree on: one value of the bucket, so that a change of it, by
// compare-and-swap, can be checked against all histories at once.
type document struct {
	Format    int                `json:"format"` // 0: 1
	Histories map[string]*record `json:"histories"`
}

// record is the definition of a history, and where its stream stands.
type record struct {
	Epoch    string   `json:"epoch"`              // 16 hex digits
	Count    uint64   `json:"count,omitempty"`    // of its epochs: lower than one that was seen is an older copy
	Created  bool     `json:"created,omitempty"`  // the stream was made; if it is gone, the epoch ends
	Changing bool     `json:"changing,omitempty"` // Messages was changed, and the stream may not have it
	Retired  bool     `json:"retired,omitempty"`
	Version  int      `json:"version,omitempty"` // as history.Definition.Version
	Since    uint64   `json:"since,omitempty"`   // as history.Scope.Since
	Tenants  []string `json:"tenants,omitempty"`
	Channels []string `json:"channels"`
	Messages int      `json:"messages"`
	AgeMS    int64    `json:"age_ms"`
	Size     int64    `json:"size"`
	MaxLagMS int64    `json:"max_lag_ms,omitempty"`
}

func (r *record) epoch() uint64 {
	n, _ := strconv.ParseUint(r.Epoch, 16, 64)
	return n
}

func newEpoch() string {
	var random [8]byte
	_, _ = crand.Read(random[:]) // never fails
	return fmt.Sprintf("%016x", binary.BigEndian.Uint64(random[:]))
}

func (r *record) definition(name string) history.Definition {
	return history.Definition{
		Name: name, Version: r.Version, Retired: r.Retired, Tenants: r.Tenants, Channels: r.Channels, MaxLag: time.Duration(r.MaxLagMS) * time.Millisecond,
		Limits: history.Limits{Messages: r.Messages, Age: time.Duration(r.AgeMS) * time.Millisecond, Size: r.Size},
	}
}

// set puts a definition into a record. One that is retired keeps the rest.
func (r *record) set(d history.Definition) {
	if r.Version, r.Retired = d.Version, d.Retired; d.Retired {
		return
	}
	r.Tenants, r.Channels = d.Tenants, d.Channels
	r.Messages, r.AgeMS, r.Size = d.Limits.Messages, d.Limits.Age.Milliseconds(), d.Limits.Size
	r.MaxLagMS = d.MaxLag.Milliseconds()
}

// has reports whether a record has a definition already.
func (r *record) has(d history.Definition) bool {
	var other record
	other.set(d)
	if r.Version != d.Version || r.Retired != d.Retired || d.Retired {
		return r.Version == d.Version && r.Retired && d.Retired
	}
	return r.keepsAs(&other) && r.Messages == other.Messages && r.AgeMS == other.AgeMS &&
		r.Size == other.Size && r.MaxLagMS == other.MaxLagMS
}

// keepsAs reports whether two records keep the same channels.
func (r *record) keepsAs(o *record) bool {
	return slices.Equal(r.Tenants, o.Tenants) && slices.Equal(r.Channels, o.Channels)
}

// definitions returns the current definitions, ordered by name.
func (d *document) definitions() (list []history.Definition) {
	for _, name := range slices.Sorted(maps.Keys(d.Histories)) {
		if r := d.Histories[name]; !r.Retired {
			list = append(list, r.definition(name))
		}
	}
	return list
}

// equals reports whether two documents say the same.
func (d *document) equals(o *document) bool {
	a, err := json.Marshal(d)
	b, otherErr := json.Marshal(o)
	return err == nil && otherErr == nil && bytes.Equal(a, b)
}

// documentKey is the key of the document in the bucket.
const documentKey = "definitions"

// bucket opens the bucket, and makes it if it is missing.
func (s *Store) bucket(ctx context.Context) (jetstream.KeyValue, error) {
	ctx, done := context.WithTimeout(ctx, s.callTimeout)
	defer done()
	kv, err := s.js.KeyValue(ctx, s.names.bucket())
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		kv, err = s.js.CreateKeyValue(ctx, jetstream.KeyValueConfig{
			Bucket: s.names.bucket(), Description: "definitions of the histories of Millrace edges",
			History: 1, Replicas: s.options().Replicas, Storage: s.options().Storage, MaxBytes: bucketBytes,
		})
	}
	return kv, err
}

// bucketBytes bounds the bucket: some accounts take none without a bound.
const bucketBytes = 4 << 20

// readDocument reads the document from the leader; revision is 0 if there is none.
func (s *Store) readDocument(ctx context.Context) (doc *document, revision uint64, err error) {
	doc = &document{Histories: map[string]*record{}}
	bucket := s.names.bucket()
	m, err := s.get(ctx, "KV_"+bucket, map[string]any{"last_by_subj": "$KV." + bucket + "." + documentKey})
	switch {
	case errors.Is(err, errGone), hasCode(err, jetstream.JSErrCodeStreamNotFound):
		return doc, 0, nil
	case err != nil:
		return nil, 0, err
	}
	return doc, m.Sequence, parseDocument(m.Data, doc)
}

func parseDocument(data []byte, doc *document) error {
	if len(data) > 0 { // of a deleted one nothing is left
		err := json.Unmarshal(data, doc) // goes on behind a member of another type
		if err := doc.checkFormat(); err != nil {
			return err
		}
		if err != nil {
			return fmt.Errorf("the definitions in the bucket: %w", err)
		}
	}
	if doc.Histories == nil {
		doc.Histories = map[string]*record{}
	}
	maps.DeleteFunc(doc.Histories, func(_ string, r *record) bool { return r == nil })
	return nil
}

// errUnchanged is returned by a change that finds nothing to do.
var errUnchanged = errors.New("nothing to change")

// changeDocument changes the document, and puts it into effect on this edge. change is called
// again when another edge was faster.
func (s *Store) changeDocument(ctx context.Context, change func(doc *document) error) error {
	for {
		doc, revision, err := s.readDocument(ctx)
		if err != nil {
			return err
		}
		if err := change(doc); err != nil {
			if errors.Is(err, errUnchanged) {
				s.putInForce(doc, revision)
				return nil
			}
			return err
		}
		kv, err := s.bucket(ctx)
		if err != nil {
			return err
		}
		doc.Format = documentFormat
		data, err := json.Marshal(doc)
		if err != nil {
			return err
		}
		calling, done := context.WithTimeout(ctx, s.callTimeout)
		if revision == 0 {
			revision, err = kv.Create(calling, documentKey, data)
		} else {
			revision, err = kv.Update(calling, documentKey, data, revision)
		}
		done()
		if err == nil {
			s.putInForce(doc, revision)
			return nil
		}
		if !hasCode(err, jetstream.JSErrCodeStreamWrongLastSequence) && !hasCode(err, codeWrongLastConstant) && !errors.Is(err, jetstream.ErrKeyExists) {
			return err
		}
		select { // another one's change is under way
		case <-time.After(time.Duration(5+rand.IntN(20)) * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

const codeWrongLastConstant = jetstream.JSErrCodeStreamWrongLastSequenceConstant

// putInForce takes a document as the current one, if it is newer than that.
func (s *Store) putInForce(doc *document, revision uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.doc != nil && revision <= s.revision {
		return
	}
	set, err := history.NewSet(doc.definitions())
	if err != nil {
		if s.invalid == nil {
			s.log.Error("definitions of histories in NATS are not valid; keeping the previous ones", zap.Error(err))
		}
		s.invalid = err
		return
	}
	s.doc, s.revision, s.set, s.invalid = doc, revision, set, nil
	s.look()
	for name, r := range doc.Histories {
		s.stream(name).define(*r)
	}
	s.wake()
}

// wake wakes notifyLoop. The caller holds s.mu.
func (s *Store) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}
