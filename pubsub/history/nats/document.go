package nats

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	crand "crypto/rand"

	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub/history"
)

// document is what all edges agree on: one value of the bucket, so that a change of it, by
// compare-and-swap, can be checked against all histories at once.
type document struct {
	Histories map[string]*record `json:"histories"`
}

// record is the definition of a history, and where its stream stands.
type record struct {
	Epoch    string   `json:"epoch"`              // 16 hex digits
	Created  bool     `json:"created,omitempty"`  // the stream was made; if it is gone, the epoch ends
	Changing bool     `json:"changing,omitempty"` // Messages was changed, and the stream may not have it
	Retired  bool     `json:"retired,omitempty"`
	Since    uint64   `json:"since,omitempty"` // as history.Scope.Since
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
		Name: name, Tenants: r.Tenants, Channels: r.Channels, MaxLag: time.Duration(r.MaxLagMS) * time.Millisecond,
		Limits: history.Limits{Messages: r.Messages, Age: time.Duration(r.AgeMS) * time.Millisecond, Size: r.Size},
	}
}

// set puts a definition into a record.
func (r *record) set(d history.Definition) {
	r.Tenants, r.Channels = d.Tenants, d.Channels
	r.Messages, r.AgeMS, r.Size = d.Limits.Messages, d.Limits.Age.Milliseconds(), d.Limits.Size
	r.MaxLagMS = d.MaxLag.Milliseconds()
}

// has reports whether a record has a definition already.
func (r *record) has(d history.Definition) bool {
	var other record
	other.set(d)
	return !r.Retired && r.keepsAs(&other) && r.Messages == other.Messages && r.AgeMS == other.AgeMS &&
		r.Size == other.Size && r.MaxLagMS == other.MaxLagMS
}

// keepsAs reports whether two records keep the same channels.
func (r *record) keepsAs(o *record) bool {
	return slices.Equal(r.Tenants, o.Tenants) && slices.Equal(r.Channels, o.Channels)
}

// definitions returns the definitions in force, ordered by name.
func (d *document) definitions() (list []history.Definition) {
	for _, name := range slices.Sorted(maps.Keys(d.Histories)) {
		if r := d.Histories[name]; !r.Retired {
			list = append(list, r.definition(name))
		}
	}
	return list
}

// documentKey is the key of the document in the bucket.
const documentKey = "definitions"

// bucket opens the bucket, and makes it if it is missing.
func (s *Store) bucket(ctx context.Context) (jetstream.KeyValue, error) {
	ctx, done := context.WithTimeout(ctx, callTimeout)
	defer done()
	kv, err := s.js.KeyValue(ctx, s.names.bucket())
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		kv, err = s.js.CreateKeyValue(ctx, jetstream.KeyValueConfig{
			Bucket: s.names.bucket(), Description: "definitions of the histories of Millrace edges",
			History: 1, Replicas: s.config.Replicas, Storage: s.config.Storage, MaxBytes: bucketBytes,
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
		if err := json.Unmarshal(data, doc); err != nil {
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

// changeDocument changes the document, and puts it in force on this edge. change is called
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
		data, err := json.Marshal(doc)
		if err != nil {
			return err
		}
		calling, done := context.WithTimeout(ctx, callTimeout)
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

// putInForce takes a document as the one in force, if it is newer than that.
func (s *Store) putInForce(doc *document, revision uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.doc != nil && revision <= s.revision {
		return
	}
	set, err := history.NewSet(doc.definitions())
	if err != nil {
		s.log.Error("the definitions of histories in NATS are not valid; those before stay in force", zap.Error(err))
		return
	}
	s.doc, s.revision, s.set = doc, revision, set
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

// watchLoop follows the document.
func (s *Store) watchLoop(ctx context.Context) {
	for ctx.Err() == nil {
		if err := s.watch(ctx); err != nil && ctx.Err() == nil {
			s.warn("the definitions of histories in NATS cannot be followed", err)
		}
		select {
		case <-time.After(time.Second):
		case <-s.reconnected:
		case <-ctx.Done():
		}
	}
}

// watch follows the document until the connection is back from a break, or cannot.
func (s *Store) watch(ctx context.Context) error {
	calling, done := context.WithTimeout(ctx, callTimeout)
	kv, err := s.js.KeyValue(calling, s.names.bucket())
	done()
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		if s.isOlder(0) {
			return s.adopt(ctx)
		}
		s.putInForce(&document{Histories: map[string]*record{}}, 0) // nobody has defined anything
		return nil
	}
	if err != nil {
		return err
	}
	w, err := kv.Watch(ctx, documentKey)
	if err != nil {
		return err
	}
	defer func() { _ = w.Stop() }()
	doc, revision, err := s.readDocument(ctx) // what the watch begins with may be old
	if err != nil {
		return err
	}
	if s.isOlder(revision) {
		return s.adopt(ctx)
	}
	s.putInForce(doc, revision)
	for {
		select {
		case entry, ok := <-w.Updates():
			if !ok {
				return errors.New("the watch has ended")
			}
			if entry == nil { // that was all there is
				continue
			}
			doc := new(document)
			if err := parseDocument(entry.Value(), doc); err != nil {
				return err
			}
			s.putInForce(doc, entry.Revision())
		case <-s.reconnected:
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

// isOlder reports whether a revision is older than what is in force.
func (s *Store) isOlder(revision uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.doc != nil && revision < s.revision
}

// adopt takes what the leader has, if that stays older than what is in force: the bucket was
// lost, or put back from an older copy. A leader that is new may just be late.
func (s *Store) adopt(ctx context.Context) error {
	var doc *document
	var revision uint64
	for range 4 {
		select {
		case <-time.After(250 * time.Millisecond):
		case <-ctx.Done():
			return nil
		}
		var err error
		if doc, revision, err = s.readDocument(ctx); err != nil || !s.isOlder(revision) {
			return err
		}
	}
	s.redefine(doc, revision)
	return nil
}

// redefine takes a document in place of a newer one that is lost, and defines again what
// this process has.
func (s *Store) redefine(doc *document, revision uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.doc, s.revision = nil, 0
	for name, w := range s.wanted { // the follower is told when they are defined again
		w.done = false
		s.wanted[name] = w
	}
	signal(s.definesAgain)
	s.log.Warn("the definitions of histories in NATS are lost, or older than before; they are made again",
		zap.Uint64("revision", revision), zap.Int("histories", len(doc.Histories)))
}

// notifyLoop tells the follower what is in force, whenever that or the follower changes.
func (s *Store) notifyLoop(ctx context.Context) {
	var told uint64
	var toldTo history.Follower
	for {
		s.mu.Lock()
		changed, doc, set, follower := s.changed, s.doc, s.set, s.follower
		count := s.revision + 1
		pending := false // then what was told before, or is configured, stays in force
		for _, w := range s.wanted {
			pending = pending || !w.done
		}
		s.mu.Unlock()
		if doc != nil && follower != nil && !(pending && follower != toldTo) && (count != told || follower != toldTo) {
			since := map[string]uint64{}
			for name, r := range doc.Histories {
				if !r.Retired {
					since[name] = r.Since
				}
			}
			follower.Defined(set, since)
			told, toldTo = count, follower
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}
