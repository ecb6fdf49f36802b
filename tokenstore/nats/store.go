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

	"github.com/millrace/millrace/internal/outage"
	"github.com/millrace/millrace/internal/turns"
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
	// Create makes the bucket if it is missing, with these Replicas and Storage, and with
	// room for MaxBytes bytes, 0: no limit. An existing bucket is not changed.
	Create   bool
	Replicas int
	Storage  jetstream.StorageType
	MaxBytes int64
	// Role says which records this store changes. Only a Manager makes a bucket.
	Role Role
	// MaxStale is how long the copy may be used after it was last confirmed to be what
	// the bucket has.
	MaxStale time.Duration
	Log      *zap.Logger

	callTimeout time.Duration // zero: defaultCallTimeout; shorter in tests
}

const (
	// defaultCallTimeout bounds a call to the bucket, and the wait for the first copy.
	defaultCallTimeout = 5 * time.Second
	// maxCalls bounds the calls to the bucket that are under way, and maxCallsOfOne those for one
	// issuer of tokens, see [tokenstore.WithPayer]; more wait in a line of their own. The
	// probes that keep the copy fresh do not count: they wait for no other call.
	maxCalls      = 128
	maxCallsOfOne = maxCalls / 2
)

// faultSilence is how long no fault occurs until it is over.
const faultSilence = 10 * time.Second

// Store implements [tokenstore.Store] and [tokenstore.Replica].
type Store struct {
	config    Config
	log       *zap.Logger
	conn      *client.Conn
	js        jetstream.JetStream
	answers   answers
	mirror    *mirror
	freshness freshness
	replicas  replicas
	faults    *outage.Log // of NATS, other than that it cannot be reached: who connects knows that
	room      room
	progress  *progress
	notices   notices

	lookups *lookups
	slots   chan struct{} // has one element for each call to the bucket that is under way
	turns   turns.Turns   // of issuers at these

	calls  sync.RWMutex // held for reading by each call, for writing by Close
	closed bool

	stop    context.CancelFunc // ends the goroutines of running
	running sync.WaitGroup

	// Signals to the follower, with room for one each.
	connected    chan struct{} // the connection is there, for the first time
	reconnected  chan struct{} // the connection is back
	watchLagging chan struct{} // the watch does not keep up
	resync       chan error    // the bucket is not the one in the copy, and why
}

// Open starts to follow a bucket; it need not be reachable yet.
func Open(c Config) (*Store, error) {
	if c.callTimeout == 0 {
		c.callTimeout = defaultCallTimeout
	}
	s := &Store{
		config: c, log: c.Log, mirror: newMirror(), connected: make(chan struct{}, 1),
		reconnected: make(chan struct{}, 1), watchLagging: make(chan struct{}, 1), resync: make(chan error, 1),
		lookups: newLookups(), slots: make(chan struct{}, maxCalls), progress: new(progress), faults: outage.New(c.Log, faultSilence),
	}
	s.freshness.start(c.MaxStale, c.callTimeout)
	s.mirror.watchers.Add(s.lookups.resolveArrived)
	// The client calls these handlers late: the bucket may be read already when that of
	// the first connection runs. That reading has missed nothing.
	handler := func(c chan struct{}) client.ConnHandler {
		return func(*client.Conn) {
			signal(c)
			signal(s.lookups.confirmWanted) // for those that began to wait meanwhile
		}
	}
	var err error
	s.conn, err = c.Connect(
		client.ReconnectBufSize(-1), // none: a write without a connection fails at once
		client.FlusherTimeout(c.callTimeout),
		client.ConnectHandler(handler(s.connected)),
		client.ReconnectHandler(handler(s.reconnected)),
		client.ErrorHandler(func(_ *client.Conn, _ *client.Subscription, err error) {
			s.faults.Note("NATS", err.Error(), outage.Line{Level: zap.ErrorLevel, Message: "NATS", Err: err})
		}),
	)
	if err != nil {
		return nil, fmt.Errorf("connect to NATS: %w", err)
	}
	if c.Domain == "" {
		s.js, err = jetstream.New(s.conn, jetstream.WithDefaultTimeout(c.callTimeout))
	} else {
		s.js, err = jetstream.NewWithDomain(s.conn, c.Domain, jetstream.WithDefaultTimeout(c.callTimeout))
	}
	if err != nil {
		s.conn.Close()
		s.faults.Close()
		return nil, fmt.Errorf("JetStream: %w", err)
	}
	if err := s.answers.listen(s.conn); err != nil {
		s.conn.Close()
		s.faults.Close()
		return nil, fmt.Errorf("subscribe to answers: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.running.Go(func() { s.follow(ctx, s.progress) })
	s.running.Go(func() { s.probeLoop(ctx, s.progress) })
	s.running.Go(func() { s.sweepLoop(ctx) })
	return s, nil
}

// enter admits a call unless the store is closed. Close waits for leave.
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

// withAccess is withTimeout for a method of the Store that changes a record of a kind:
// it checks that the store is open, that its role allows the change, and that the copy
// is usable.
func (s *Store) withAccess(ctx context.Context, kind tokenstore.Kind, do func(context.Context) error) error {
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
	return s.withTimeout(ctx, do)
}

var (
	errNotConnected = fmt.Errorf("%w: not connected to NATS", tokenstore.ErrUnavailable)
	errNoSlot       = errors.New("too many calls to the bucket are under way")
)

// withTimeout makes a call to the bucket. It takes the timeout of calls at most, including the
// wait for a slot.
func (s *Store) withTimeout(ctx context.Context, do func(context.Context) error) error {
	if !s.conn.IsConnected() {
		return errNotConnected
	}
	limited, done := context.WithTimeout(ctx, s.config.callTimeout)
	defer done()
	err := s.withSlot(ctx, limited, do)
	switch {
	case err == nil, errors.Is(err, tokenstore.ErrNotFound), errors.Is(err, tokenstore.ErrExists),
		errors.Is(err, tokenstore.ErrConflict), errors.Is(err, tokenstore.ErrUnavailable),
		errors.Is(err, tokenstore.ErrInsufficientStorage):
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return fmt.Errorf("%w: %w", tokenstore.ErrUnavailable, err)
}

// withSlot makes a call with limited, which is ctx with an end, when it has its turn.
func (s *Store) withSlot(ctx, limited context.Context, do func(context.Context) error) error {
	leave, err := s.turns.Take(limited, tokenstore.PayerOf(ctx), maxCallsOfOne)
	if err != nil {
		return errNoSlot
	}
	defer leave()
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-limited.Done():
		return errNoSlot
	}
	if err := ctx.Err(); err != nil { // select may prefer the slot
		return err
	}
	return do(limited)
}

// Watch implements [tokenstore.Store].
func (s *Store) Watch(fn func(tokenstore.Change)) (stop func()) { return s.mirror.watchers.Add(fn) }

// WatchStale implements [tokenstore.Replica].
func (s *Store) WatchStale(fn func()) (stop func()) { return s.freshness.watch(fn) }

// Fault returns why the tokens are not read from NATS although it is connected, and since
// when; nil: they are.
func (s *Store) Fault() (since time.Time, err error) {
	if !s.conn.IsConnected() {
		return time.Time{}, nil
	}
	return s.freshness.fault()
}

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
	s.freshness.stop()
	s.conn.Close()
	s.faults.Close()
	return nil
}

// clearSignal takes back a signal that nobody has received.
func clearSignal[T any](c chan T) {
	select {
	case <-c:
	default:
	}
}

// signal sends without blocking: one signal that waits is as good as many.
func signal(c chan struct{}) {
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
