package nats

import (
	"context"
	"fmt"
	"sync"
	"time"

	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/zap"

	"github.com/millrace/millrace/internal/outage"
	"github.com/millrace/millrace/pubsub/history"
)

// Config is what a store needs. Edges with the same Prefix on the same NATS system share
// their histories.
type Config struct {
	Options
	// Connect opens a connection with these options added to its own. It returns one also
	// while no server can be reached.
	Connect func(...client.Option) (*client.Conn, error)
	// Prefix of the overlay, as of its broker: tokens joined by dots.
	Prefix string
	Log    *zap.Logger

	// Zero: defaultPatience and defaultCallTimeout; others in tests.
	patience, callTimeout time.Duration
}

// Options are what may change while a store is open.
type Options struct {
	// Replicas and Storage of the streams and the bucket that are made; what exists is not
	// changed in these. 0 replicas: 1.
	Replicas int
	Storage  jetstream.StorageType
	// CacheBytes bounds the payloads that an edge has in memory of each history; 0: 16 MiB.
	CacheBytes int64
}

func (o Options) withDefaults() Options {
	o.Replicas = max(o.Replicas, 1)
	if o.CacheBytes == 0 {
		o.CacheBytes = defaultCache
	}
	return o
}

// SetOptions changes the options.
func (s *Store) SetOptions(o Options) {
	o = o.withDefaults()
	s.mu.Lock()
	s.current = o
	s.mu.Unlock()
	for _, st := range s.list() {
		st.mu.Lock()
		st.cache.most = o.CacheBytes
		st.mu.Unlock()
	}
}

// options returns the current ones.
func (s *Store) options() Options {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current
}

const defaultCache = 16 << 20

// Store implements [history.Shared].
type Store struct {
	names  names
	log    *zap.Logger
	faults *outage.Log
	conn   *client.Conn
	js     jetstream.JetStream
	acks   *acks

	patience    time.Duration // how long calls wait for a history
	callTimeout time.Duration // how long one call of NATS takes at most

	ctx     context.Context // ends with the store
	stop    context.CancelFunc
	running sync.WaitGroup // all goroutines

	// Signals, with room for one each.
	reconnected  chan struct{} // to watchLoop
	definesAgain chan struct{} // to defineLoop

	fetches chan struct{} // has one element for each page whose payloads are fetched

	mu       sync.Mutex // guards the rest; no call of NATS or of the follower is made with it held
	closed   bool
	current  Options
	follower history.Follower
	wanted   map[string]wantedDefinition
	streams  map[string]*stream // those that are defined, or wanted
	doc      *document          // nil: not known yet
	revision uint64             // of doc
	invalid  error              // why a newer one is not taken; nil: there is none
	set      *history.Set       // of doc
	changed  chan struct{}      // closed when what is above changes
}

// Open opens a store. It does not wait for NATS.
func Open(c Config) (*Store, error) {
	if c.patience == 0 {
		c.patience = defaultPatience
	}
	if c.callTimeout == 0 {
		c.callTimeout = defaultCallTimeout
	}
	s := &Store{
		current: c.Options.withDefaults(), names: newNames(c.Prefix), patience: c.patience, callTimeout: c.callTimeout, log: c.Log, faults: outage.New(c.Log, faultSilence),
		reconnected: make(chan struct{}, 1), definesAgain: make(chan struct{}, 1), fetches: make(chan struct{}, maxFetches),
		wanted: map[string]wantedDefinition{}, streams: map[string]*stream{}, changed: make(chan struct{}),
	}
	restart := func() {
		for _, each := range s.list() {
			each.restart()
		}
	}
	connected := func(*client.Conn) {
		signal(s.reconnected)
		restart()
	}
	var err error
	s.conn, err = c.Connect(
		client.ReconnectBufSize(-1), // none: what is published without a connection fails at once
		client.FlusherTimeout(s.callTimeout),
		client.ConnectHandler(connected),
		client.ReconnectHandler(connected),
		client.DisconnectErrHandler(func(*client.Conn, error) { restart() }),
		client.ErrorHandler(func(_ *client.Conn, _ *client.Subscription, err error) { s.warn("NATS", err) }),
	)
	if err != nil {
		return nil, fmt.Errorf("connect to NATS: %w", err)
	}
	if s.js, err = jetstream.New(s.conn, jetstream.WithDefaultTimeout(c.callTimeout)); err == nil {
		s.acks, err = newAcks(s.conn, s.callTimeout)
	}
	if err != nil {
		s.conn.Close()
		s.faults.Close()
		return nil, fmt.Errorf("JetStream: %w", err)
	}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.running.Go(func() { s.watchLoop(s.ctx) })
	s.running.Go(func() { s.notifyLoop(s.ctx) })
	s.running.Go(func() { s.defineLoop(s.ctx) })
	return s, nil
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // one waits already
	}
}

// warn logs what keeps the store from NATS, but not each time.
func (s *Store) warn(what string, err error) {
	s.faults.Note(what, err.Error(), outage.Line{Level: zap.WarnLevel, Message: what, Err: err})
}

// Fault returns what keeps the store from NATS although it is connected, and since when; nil:
// nothing.
func (s *Store) Fault() (since time.Time, err error) {
	if line, since, lasts := s.faults.Latest(); lasts && s.conn.IsConnected() {
		return since, fmt.Errorf("%s: %w", line.Message, line.Err)
	}
	return time.Time{}, nil
}

// faultSilence is how long no fault occurs until it is over: longer than calls take that fail.
const faultSilence = 15 * time.Second

// Close implements [history.Store].
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.mu.Unlock()
	s.faults.Close()
	s.stop()
	s.running.Wait()
	for _, each := range s.list() {
		each.out.close()
		each.stored.close()
	}
	s.acks.close()
	for _, each := range s.list() {
		each.stored.close()
	}
	s.conn.Close()
	return nil
}

// Join implements [history.Shared].
func (s *Store) Join(f history.Follower) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.follower = f
	s.wake()
}

// joined returns who follows, or nil.
func (s *Store) joined() history.Follower {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.follower
}

// stream returns the stream of a history, which is made if there is none. The caller holds
// s.mu.
func (s *Store) stream(name string) *stream {
	st := s.streams[name]
	if st == nil {
		st = newStream(s, name)
		s.streams[name] = st
	}
	return st
}

// find returns the stream of a history, or nil.
func (s *Store) find(name string) *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.streams[name]
}

// use is find for a call that uses the history, which it then follows for a while.
func (s *Store) use(name string) (*stream, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, history.ErrClosed
	}
	st := s.streams[name]
	if st == nil {
		return nil, history.ErrUnknown
	}
	st.use()
	return st, nil
}

func (s *Store) list() (all []*stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, st := range s.streams {
		all = append(all, st)
	}
	return all
}

// Follow implements [history.Shared].
func (s *Store) Follow(name string, ready func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		go ready() // not here: it may call the store
		return
	}
	st := s.stream(name)
	st.users++
	st.use()
	s.running.Go(func() {
		ctx, done := context.WithTimeout(s.ctx, s.patience)
		defer done()
		_ = st.await(ctx)
		ready()
	})
}

// Unfollow implements [history.Shared].
func (s *Store) Unfollow(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if st := s.streams[name]; st != nil && st.users > 0 {
		st.users--
		st.lastUse = time.Now()
	}
}

var _ history.Shared = (*Store)(nil)
