package embedded

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"go.uber.org/zap"

	"github.com/millrace/millrace/internal/diskspace"
)

const (
	// checkInterval is how often the state of JetStream is checked.
	checkInterval = time.Second
	// restartFree is how many bytes of the disk must be free before JetStream restarts,
	// so that it does not stop again with the next few tokens.
	restartFree = 64 << 20
	// maxRestartWait is the longest time between two restarts that fail.
	maxRestartWait = time.Minute
)

// storage watches the JetStream of a server. When the disk is full, JetStream stops for
// good: in a cluster it turns itself off; on a single server its streams keep the error
// and accept no more writes. storage restarts it once there is room. A nil storage
// belongs to a server without JetStream.
type storage struct {
	server  *server.Server
	options func() (*server.Options, error)
	log     *zap.Logger
	dir     string      // of JetStream, once it has started
	failed  atomic.Bool // a write to the disk has failed since JetStream started
	removed atomic.Bool // the server was removed from its cluster while it ran: only a restart lets it join again
	on      atomic.Bool
	cancel  context.CancelFunc
	running sync.WaitGroup
}

func newStorage(srv *server.Server, options func() (*server.Options, error), log *zap.Logger) *storage {
	s := &storage{server: srv, options: options, log: log, cancel: func() {}}
	s.on.Store(true)
	return s
}

// start starts a goroutine that watches the storage until stop.
func (s *storage) start() {
	if s == nil {
		return
	}
	if c := s.server.JetStreamConfig(); c != nil {
		s.dir = c.StoreDir
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.running.Go(func() { s.watch(ctx) })
}

// stop returns when the goroutine of start has ended.
func (s *storage) stop() {
	if s != nil {
		s.cancel()
		s.running.Wait()
	}
}

// noteError receives the errors that the server logs. On a single server, this log is the
// only sign that a stream accepts no more writes (setWriteErr in filestore.go), and on any
// that its cluster has removed it (processRemovePeer in jetstream_cluster.go).
func (s *storage) noteError(format string, values []any) {
	if s == nil {
		return
	}
	switch text := fmt.Sprintf(format, values...); {
	case strings.Contains(text, "Critical write error"):
		s.failed.Store(true)
	case strings.Contains(text, "our server was removed from the cluster"):
		s.removed.Store(true)
	}
}

func (s *storage) watch(ctx context.Context) {
	tick := time.NewTicker(checkInterval)
	defer tick.Stop()
	wait, nextRestart := checkInterval, time.Now() // wait is from the next restart to the one after it
	lastFailure := time.Now()                      // when a check last failed
	ticksOff := 0                                  // checks in a row without JetStream
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if s.check() {
			ticksOff = 0
			if time.Since(lastFailure) > maxRestartWait { // else the last restart most likely failed
				wait = checkInterval
			}
			continue
		}
		lastFailure = time.Now()
		if s.removed.Load() {
			continue
		}
		if s.server.JetStreamConfig() != nil {
			ticksOff = 0
		} else {
			ticksOff++
		}
		if !s.server.JetStreamEnabled() && ticksOff < 2 {
			continue // see restart; the last step of the shutdown cannot be seen, and gets one tick
		}
		if free, err := s.free(); time.Now().Before(nextRestart) || err == nil && free < restartFree {
			continue
		}
		s.restart()
		nextRestart = time.Now().Add(wait)
		wait = min(2*wait, maxRestartWait)
	}
}

// check reports whether the server stores, and logs a change.
func (s *storage) check() (on bool) {
	reason := s.failure()
	on = reason == ""
	if s.on.Swap(on) == on {
		return on
	}
	if on {
		s.log.Info("the embedded NATS server stores tokens again")
		return on
	}
	if s.removed.Load() {
		s.log.Error("the embedded NATS server was removed from its cluster, and stores nothing: stop this edge. A restart lets it join again")
		return on
	}
	fields := []zap.Field{zap.String("reason", reason)}
	if free, err := s.free(); err == nil {
		fields = append(fields, zap.Int64("free_bytes", free), zap.Int64("again_at_bytes", restartFree))
	}
	s.log.Error("the embedded NATS server has stopped storing tokens: other servers that have them go on, "+
		"and this one begins again when its disk has room", fields...)
	return on
}

// failure returns why the server does not store; empty: it does.
func (s *storage) failure() string {
	switch {
	case !s.server.JetStreamEnabled():
		return "JetStream is off"
	case s.failed.Load():
		return "its disk has failed to take a write"
	}
	for _, e := range s.server.Healthz(&server.HealthzOptions{Details: true}).Errors {
		if strings.Contains(e.Error, "write error") { // others pass by themselves
			return e.Error
		}
	}
	return ""
}

// restart restarts JetStream, by a reload with the same options. Streams that are only
// in memory would be lost, so a server with such streams waits for its operator.
func (s *storage) restart() {
	if s.server.JetStreamEnabled() && s.inMemory() {
		return
	}
	options, err := s.options()
	if err == nil {
		s.failed.Store(false)
		err = s.server.ShutdownJetStream() // which clears write errors, and does nothing if it is off
	}
	if err == nil && s.server.JetStreamConfig() != nil {
		// It is turning itself off, which takes seconds if it leads the cluster's. If it were
		// restarted before that is over, it would stay without its streams, for good.
		return
	}
	if err == nil {
		err = s.server.ReloadOptions(options)
	}
	if err != nil {
		s.log.Error("cannot restart JetStream of the embedded NATS server", zap.Error(err))
	}
}

// inMemory reports whether a stream is in memory, or may be: it is also true if that is not
// known.
func (s *storage) inMemory() bool {
	info, err := s.server.Jsz(&server.JSzOptions{Accounts: true, Streams: true, Config: true, Limit: 1 << 20})
	if err != nil {
		return true
	}
	for _, account := range info.AccountDetails {
		for _, stream := range account.Streams {
			if stream.Config != nil && stream.Config.Storage == server.MemoryStorage {
				return true
			}
		}
	}
	return false
}

// free returns how many bytes of the disk are free, or an error if that is not known.
func (s *storage) free() (int64, error) {
	if s.dir == "" {
		return 0, errors.New("JetStream has no folder")
	}
	return diskspace.Free(s.dir)
}

// storing reports whether the server takes part in storing tokens; known is false if it
// has no such part.
func (s *storage) storing() (storing, known bool) {
	if s == nil {
		return false, false
	}
	return s.on.Load(), true
}
