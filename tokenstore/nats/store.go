package nats

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/zap"

	"github.com/millrace/millrace/tokenstore"
)

// Config is what a store needs. Edges with the same bucket on the same NATS
// system share their tokens.
type Config struct {
	// Connect opens a connection with these options added to its own. It returns
	// one also while no server can be reached.
	Connect func(...client.Option) (*client.Conn, error)
	// Domain of JetStream that has the bucket; empty: that of the server.
	Domain string
	// Bucket is the name of the key-value bucket.
	Bucket string
	// Create makes the bucket if it is missing, with these Replicas and Storage.
	Create   bool
	Replicas int
	Storage  jetstream.StorageType
	// Role is which records this store changes. Only a Manager makes a bucket.
	Role Role
	// MaxStale is how long records may be used after they were last known to be
	// what the bucket has.
	MaxStale time.Duration
	Log      *zap.Logger
}

const (
	// patience bounds a call to the bucket, and the wait for the first copy.
	patience = 5 * time.Second
	// maxCalls bounds the calls to the bucket that are under way. The question that
	// keeps the copy fresh is none of them: it waits for nobody.
	maxCalls = 64
)

// Store implements [tokenstore.Store] and [tokenstore.Replica].
type Store struct {
	config   Config
	log      *zap.Logger
	conn     *client.Conn
	js       jetstream.JetStream
	mirror   *mirror
	state    state
	replicas replicas

	lookups *lookups
	slots   chan struct{} // holds one for each call that is under way

	calls   sync.RWMutex // held for reading by each call, for writing by Close
	closed  bool
	stop    context.CancelFunc
	running sync.WaitGroup
	again   chan struct{} // the connection is back
	lagged  chan struct{} // the watch does not keep up
	gone    chan error    // what is in the copy is not in the bucket
}

// Open starts to follow a bucket; it need not be reachable yet.
func Open(c Config) (*Store, error) {
	s := &Store{
		config: c, log: c.Log, mirror: newMirror(), again: make(chan struct{}, 1),
		lagged: make(chan struct{}, 1), gone: make(chan error, 1),
		lookups: newLookups(), slots: make(chan struct{}, maxCalls),
	}
	s.state.start(c.MaxStale)
	s.mirror.watchers.Add(s.lookups.arrived)
	back := func(*client.Conn) {
		kick(s.again)
		kick(s.lookups.asked) // what came meanwhile
	}
	var err error
	s.conn, err = c.Connect(
		client.ReconnectBufSize(-1), // a write that fails says so
		client.FlusherTimeout(patience),
		client.ConnectHandler(back),
		client.ReconnectHandler(back),
		client.DisconnectErrHandler(func(_ *client.Conn, err error) {
			if err != nil {
				s.log.Warn("disconnected from NATS: tokens are checked against what is known",
					zap.Error(err), zap.Duration("for_at_most", c.MaxStale))
			}
		}),
		client.ErrorHandler(func(_ *client.Conn, _ *client.Subscription, err error) { s.log.Error("NATS", zap.Error(err)) }),
	)
	if err != nil {
		return nil, fmt.Errorf("connect to NATS: %w", err)
	}
	if c.Domain == "" {
		s.js, err = jetstream.New(s.conn)
	} else {
		s.js, err = jetstream.NewWithDomain(s.conn, c.Domain)
	}
	if err != nil {
		s.conn.Close()
		return nil, fmt.Errorf("JetStream: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	r := new(reading)
	s.running.Go(func() { s.follow(ctx, r) })
	s.running.Go(func() { s.prove(ctx, r) })
	s.running.Go(func() { s.sweep(ctx) })
	return s, nil
}

// enter begins a call.
func (s *Store) enter(ctx context.Context) (leave func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.calls.RLock()
	if s.closed {
		s.calls.RUnlock()
		return nil, tokenstore.ErrClosed
	}
	return s.calls.RUnlock, nil
}

// Create implements [tokenstore.Store].
func (s *Store) Create(ctx context.Context, rec tokenstore.Record) (version uint64, err error) {
	err = s.change(ctx, rec.Kind, func(ctx context.Context) error {
		version, err = s.write(ctx, rec, 0)
		if !refused(err) {
			return err
		}
		before, err := s.newer(ctx, s.subject(rec.Kind, rec.ID), 0)
		switch {
		case err != nil:
			return err
		case before == nil || !before.deleted:
			return tokenstore.ErrExists
		}
		if version, err = s.write(ctx, rec, before.revision); refused(err) {
			err = tokenstore.ErrExists // somebody was faster
		}
		return err
	})
	return version, err
}

// Update implements [tokenstore.Store].
func (s *Store) Update(ctx context.Context, rec tokenstore.Record) (version uint64, err error) {
	err = s.change(ctx, rec.Kind, func(ctx context.Context) error {
		over, err := s.check(ctx, rec.Kind, rec.ID, rec.Version)
		if err != nil {
			return err
		}
		version, err = s.write(ctx, rec, over)
		return s.lost(ctx, rec.Kind, rec.ID, over, err)
	})
	return version, err
}

// write writes a record over a revision, 0: none, and brings it into the copy.
func (s *Store) write(ctx context.Context, rec tokenstore.Record, over uint64) (uint64, error) {
	value := encode(rec)
	revision, err := s.publish(ctx, &client.Msg{Subject: s.subject(rec.Kind, rec.ID), Data: value}, over)
	if err != nil {
		return 0, err
	}
	stored, err := decode(rec.Kind, rec.ID, value, revision)
	if err != nil {
		return 0, err
	}
	return s.mirror.put(stored, 0), nil
}

// Delete implements [tokenstore.Store].
func (s *Store) Delete(ctx context.Context, kind tokenstore.Kind, id string, version uint64) error {
	return s.change(ctx, kind, func(ctx context.Context) error {
		over, err := s.check(ctx, kind, id, version)
		if err != nil {
			return err
		}
		marker := client.NewMsg(s.subject(kind, id))
		marker.Header.Set(operation, "DEL")
		revision, err := s.publish(ctx, marker, over)
		if err != nil {
			return s.lost(ctx, kind, id, over, err)
		}
		s.mirror.remove(kind, id, revision)
		return nil
	})
}

// check finds out early what the bucket does not tell apart, and returns the
// revision of a version.
func (s *Store) check(ctx context.Context, kind tokenstore.Kind, id string, version uint64) (revision uint64, err error) {
	rec, ok := s.mirror.get(kind, id)
	if !ok {
		m, err := s.last(ctx, s.subject(kind, id))
		if err == nil {
			err = s.learn(kind, id, m)
		}
		if err != nil {
			return 0, err
		}
		if rec, ok = s.mirror.get(kind, id); !ok {
			return 0, tokenstore.ErrNotFound
		}
	}
	if _, ok = s.mirror.revision(rec.Version); !ok { // of a bucket that was replaced
		m, err := s.lastLimited(ctx, s.subject(kind, id))
		switch {
		case err != nil:
			return 0, err
		case m == nil || m.deleted:
			return 0, tokenstore.ErrNotFound
		}
		if err := s.learn(kind, id, m); err != nil {
			return 0, err
		}
		return 0, tokenstore.ErrConflict
	}
	if version < rec.Version {
		return 0, tokenstore.ErrConflict
	}
	revision, _ = s.mirror.revision(version)
	return revision, nil
}

// lost explains a write over a revision that was refused. The copy then has the
// one that it lost against.
func (s *Store) lost(ctx context.Context, kind tokenstore.Kind, id string, revision uint64, err error) error {
	if !refused(err) {
		return err
	}
	m, err := s.newer(ctx, s.subject(kind, id), revision)
	if err == nil {
		err = s.learn(kind, id, m)
	}
	switch {
	case err != nil:
		return err
	case m == nil || m.deleted:
		return tokenstore.ErrNotFound
	}
	return tokenstore.ErrConflict
}

// learn brings the last message of a record into the copy; nil: there is none.
func (s *Store) learn(kind tokenstore.Kind, id string, m *latest) error {
	if m == nil {
		return nil
	}
	if m.deleted {
		s.mirror.remove(kind, id, m.revision)
		return nil
	}
	rec, err := decode(kind, id, m.value, m.revision)
	if err == nil {
		s.mirror.put(rec, 0)
	}
	return err
}

// change is ask for a method of the Store that changes a record of a kind.
func (s *Store) change(ctx context.Context, kind tokenstore.Kind, do func(context.Context) error) error {
	leave, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if err := s.config.Role.permit(kind); err != nil {
		return err
	}
	if err := s.usable(ctx); err != nil {
		return err
	}
	return s.ask(ctx, do)
}

var (
	errNotConnected = fmt.Errorf("%w: not connected to NATS", tokenstore.ErrUnavailable)
	errNoSlot       = errors.New("too many calls to the bucket are under way")
)

// ask calls the bucket, for at most patience, waiting for a slot included.
func (s *Store) ask(ctx context.Context, do func(context.Context) error) error {
	if !s.conn.IsConnected() {
		return errNotConnected
	}
	limited, done := context.WithTimeout(ctx, patience)
	defer done()
	var err error
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
		if err = ctx.Err(); err == nil { // select may prefer the slot
			err = do(limited)
		}
	case <-limited.Done():
		err = errNoSlot
	}
	switch {
	case err == nil, errors.Is(err, tokenstore.ErrNotFound), errors.Is(err, tokenstore.ErrExists),
		errors.Is(err, tokenstore.ErrConflict), errors.Is(err, tokenstore.ErrUnavailable):
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return fmt.Errorf("%w: %w", tokenstore.ErrUnavailable, err)
}

// Watch implements [tokenstore.Store].
func (s *Store) Watch(fn func(tokenstore.Change)) (stop func()) { return s.mirror.watchers.Add(fn) }

// WatchStale implements [tokenstore.Replica].
func (s *Store) WatchStale(fn func()) (stop func()) { return s.state.watch(fn) }

// Close implements [tokenstore.Store].
func (s *Store) Close() error {
	s.calls.Lock()
	if s.closed {
		s.calls.Unlock()
		return nil
	}
	s.closed = true
	s.calls.Unlock()
	s.stop()
	s.running.Wait()
	s.state.end()
	s.conn.Close()
	return nil
}

func drain[T any](c chan T) {
	select {
	case <-c:
	default:
	}
}

func kick(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

var (
	_ tokenstore.Store           = (*Store)(nil)
	_ tokenstore.Replica         = (*Store)(nil)
	_ tokenstore.HealthReporter  = (*Store)(nil)
	_ tokenstore.ReplicaReporter = (*Store)(nil)
)
