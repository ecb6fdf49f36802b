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
	// storageEvery is how often the server is asked for its JetStream.
	storageEvery = time.Second
	// resumeRoom is how many bytes of its disk must be free until JetStream begins
	// again, so that it does not end with the next few tokens.
	resumeRoom = 64 << 20
	// maxStorageWait is the longest time between two attempts that fail.
	maxStorageWait = time.Minute
)

// storage looks after the JetStream of a server, of which some or all ends, and for
// good, when its disk is full: in a cluster JetStream turns itself off, alone its
// streams keep the error and take nothing any more. Then it is begun again once there
// is room. A nil storage is one of a server without JetStream.
type storage struct {
	server  *server.Server
	options func() (*server.Options, error)
	log     *zap.Logger
	dir     string      // of JetStream, once it has begun
	broken  atomic.Bool // a stream has met an error of the disk, since JetStream began
	on      atomic.Bool
	stop    context.CancelFunc
	running sync.WaitGroup
}

func newStorage(s *server.Server, options func() (*server.Options, error), log *zap.Logger) *storage {
	k := &storage{server: s, options: options, log: log, stop: func() {}}
	k.on.Store(true)
	return k
}

// begin looks after the storage until end.
func (k *storage) begin() {
	if k == nil {
		return
	}
	if c := k.server.JetStreamConfig(); c != nil {
		k.dir = c.StoreDir
	}
	ctx, stop := context.WithCancel(context.Background())
	k.stop = stop
	k.running.Go(func() { k.keep(ctx) })
}

// end returns when nobody looks after it any more.
func (k *storage) end() {
	if k != nil {
		k.stop()
		k.running.Wait()
	}
}

// hear takes what the server logs as an error. It is the only place where a server
// alone says that a stream will take nothing any more (setWriteErr in filestore.go).
func (k *storage) hear(format string, values []any) {
	if k != nil && strings.Contains(fmt.Sprintf(format, values...), "Critical write error") {
		k.broken.Store(true)
	}
}

func (k *storage) keep(ctx context.Context) {
	tick := time.NewTicker(storageEvery)
	defer tick.Stop()
	wait, next := storageEvery, time.Now() // until the next attempt, and when that may be
	bad := time.Now()                      // when it last did not store
	ticks := 0                             // for which JetStream has been gone
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if k.look() {
			ticks = 0
			if time.Since(bad) > maxStorageWait { // else the last attempt was in vain, most likely
				wait = storageEvery
			}
			continue
		}
		bad = time.Now()
		if k.server.JetStreamConfig() != nil {
			ticks = 0
		} else {
			ticks++
		}
		if !k.server.JetStreamEnabled() && ticks < 2 {
			continue // see resume; what comes last in its end cannot be seen, and has a tick for that
		}
		if free, err := k.free(); time.Now().Before(next) || err == nil && free < resumeRoom {
			continue
		}
		k.resume()
		next = time.Now().Add(wait)
		wait = min(2*wait, maxStorageWait)
	}
}

// look finds out whether the server stores, and logs a change.
func (k *storage) look() (on bool) {
	trouble := k.trouble()
	on = trouble == ""
	if k.on.Swap(on) == on {
		return on
	}
	if on {
		k.log.Info("the embedded NATS server stores tokens again")
		return on
	}
	fields := []zap.Field{zap.String("reason", trouble)}
	if free, err := k.free(); err == nil {
		fields = append(fields, zap.Int64("free_bytes", free), zap.Int64("again_at_bytes", resumeRoom))
	}
	k.log.Error("the embedded NATS server has stopped storing tokens: other servers that have them go on, "+
		"and this one begins again when its disk has room", fields...)
	return on
}

// trouble is why the server does not store; empty: it does.
func (k *storage) trouble() string {
	switch {
	case !k.server.JetStreamEnabled():
		return "JetStream is off"
	case k.broken.Load():
		return "its disk has failed to take a write"
	}
	for _, e := range k.server.Healthz(&server.HealthzOptions{Details: true}).Errors {
		if strings.Contains(e.Error, "write error") { // others pass by themselves
			return e.Error
		}
	}
	return ""
}

// resume lets JetStream begin again, which a reload with the same options does. What
// streams have in memory alone would be gone with that, so such a server waits for its
// operator.
func (k *storage) resume() {
	if k.server.JetStreamEnabled() && k.inMemory() {
		return
	}
	again, err := k.options()
	if err == nil {
		k.broken.Store(false)
		err = k.server.ShutdownJetStream() // which forgets write errors, and is nothing where it is off
	}
	if err == nil && k.server.JetStreamConfig() != nil {
		// It turned itself off meanwhile, which takes seconds where it leads the cluster's.
		// Begun again before that is over it would go on without its streams, for good.
		return
	}
	if err == nil {
		err = k.server.ReloadOptions(again)
	}
	if err != nil {
		k.log.Error("JetStream of the embedded NATS server does not begin again", zap.Error(err))
	}
}

// inMemory reports whether a stream is in memory; also where that cannot be said.
func (k *storage) inMemory() bool {
	info, err := k.server.Jsz(&server.JSzOptions{Accounts: true, Streams: true, Config: true, Limit: 1 << 20})
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

// free returns how much of the disk is free, or an error where nobody knows.
func (k *storage) free() (int64, error) {
	if k.dir == "" {
		return 0, errors.New("JetStream has no folder")
	}
	return diskspace.Free(k.dir)
}

// state reports whether the server has its part in storing tokens, if it is to.
func (k *storage) state() (storing, known bool) {
	if k == nil {
		return false, false
	}
	return k.on.Load(), true
}
