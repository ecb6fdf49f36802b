package guest

import (
	"slices"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// LiveLog is a logger for what outlives a configuration: hub, store and open
// sessions. It writes to the default logger of the current configuration, where
// a configuration's own logger would go on writing to outputs that a reload has
// closed.
func LiveLog(name string) *zap.Logger { return zap.New(liveCore{}).Named(name) }

type liveCore struct{ fields []zapcore.Field }

func (liveCore) Enabled(l zapcore.Level) bool { return caddy.Log().Core().Enabled(l) }

func (c liveCore) With(fields []zapcore.Field) zapcore.Core {
	return liveCore{slices.Concat(c.fields, fields)}
}

func (c liveCore) Check(e zapcore.Entry, ce *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if !c.Enabled(e.Level) {
		return ce
	}
	return ce.AddCore(e, c)
}

// Write asks the current core again: it filters by the logger's name.
func (c liveCore) Write(e zapcore.Entry, fields []zapcore.Field) error {
	if ce := caddy.Log().Core().Check(e, nil); ce != nil {
		ce.Write(slices.Concat(c.fields, fields)...)
	}
	return nil
}

func (liveCore) Sync() error { return caddy.Log().Core().Sync() }

// OncePerSecond returns a logger that drops what it has logged in this second,
// whatever its fields: a fault of the token store would else be a line for each
// request.
func OncePerSecond(log *zap.Logger) *zap.Logger {
	return log.WithOptions(zap.WrapCore(func(core zapcore.Core) zapcore.Core {
		return onceCore{core, &lately{logged: map[message]time.Time{}}}
	}))
}

// onceCore does what the sampler of zap does, which takes 448 KiB for its counters: each
// configuration has several of these.
type onceCore struct {
	zapcore.Core
	lately *lately
}

func (c onceCore) With(fields []zapcore.Field) zapcore.Core {
	return onceCore{c.Core.With(fields), c.lately}
}

func (c onceCore) Check(e zapcore.Entry, ce *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if !c.Enabled(e.Level) || !c.lately.begin(message{e.Level, e.Message}, e.Time) {
		return ce
	}
	return c.Core.Check(e, ce)
}

type message struct {
	level zapcore.Level
	text  string
}

// lately are the messages that were logged in the last second. They are constants of the
// program, as a rule, so that there are few.
type lately struct {
	mu     sync.Mutex
	logged map[message]time.Time
}

const maxLately = 64

// begin reports whether a message is to be logged now.
func (l *lately) begin(m message, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if last, ok := l.logged[m]; ok && now.Sub(last) < time.Second {
		return false
	}
	if len(l.logged) >= maxLately {
		clear(l.logged)
	}
	l.logged[m] = now
	return true
}
