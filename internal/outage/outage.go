// Package outage writes log lines about faults that last, such as a server that cannot be
// reached: one line when a fault begins, at most one a minute while it lasts, with how often
// it occurred, and one when it is over. So a fault is never silent, and never fills the log.
//
//	log := outage.New(logger, 0)
//	log.Note("connection", "refused", outage.Line{Message: "cannot connect", …}) // with each attempt
//	log.End("connection")                                                        // it is connected
package outage

import (
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

const (
	// Interval is the least time between two lines about one kind of a fault that lasts.
	Interval = time.Minute
	// maxBegins bounds, in an Interval, the lines about the begin of one fault that comes and goes.
	maxBegins = 3
	// maxKinds bounds the kinds of one fault that have lines of their own in an Interval.
	maxKinds = 8
	// maxFaults bounds the faults that are told apart. Further ones share lines.
	maxFaults = 200
	// others is the key of these.
	others = "\x00others"
)

// Line is what the log says about a fault.
type Line struct {
	Level   zapcore.Level
	Message string
	Over    string // the message when it is over; empty: Message, with the field over
	Fields  []zap.Field
	Why     []zap.Field // more of them, but not in the line that it is over
	Err     error       // likewise, as the field error; nil: none
}

// why returns the fields of a line about a fault that lasts.
func (l *Line) why(more ...zap.Field) []zap.Field {
	fields := slices.Concat(l.Fields, l.Why)
	if l.Err != nil {
		fields = append(fields, zap.Error(l.Err))
	}
	return append(fields, more...)
}

// Log writes about faults. It may be used concurrently. The zero Log is not usable.
type Log struct {
	log     *zap.Logger
	silence time.Duration

	mu     sync.Mutex // guards the rest
	closed bool
	faults map[string]*fault
}

// fault is one that lasts, or was over less than Interval ago.
type fault struct {
	lasting     bool
	since, last time.Time
	times       int // that it occurred since it began
	shown       int // lines about it since then
	line        Line
	minute      time.Time       // when the interval of what follows began
	begins      int             // lines about begins
	kinds       map[string]bool // that have a line
	silent      *time.Timer     // ends it; nil: only End does
}

// New returns a Log that writes to a logger. A fault is over when End says so, or, if silence
// is not zero, when it has not occurred for that long. The caller calls Close.
func New(log *zap.Logger, silence time.Duration) *Log {
	return &Log{log: log, silence: silence, faults: map[string]*fault{}}
}

// Note says that a fault has occurred, again if it lasts. key tells faults apart, and kind the
// reasons of one: a fault with a new reason has a line at once. Both must hold no secret and
// nothing that changes with each occurrence.
func (l *Log) Note(key, kind string, line Line) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	now := time.Now()
	f := l.find(key, now)
	if now.Sub(f.minute) >= Interval {
		f.minute, f.begins = now, 0
		clear(f.kinds)
	}
	begins := !f.lasting
	if begins {
		f.lasting, f.since, f.times, f.shown = true, now, 0, 0
	}
	f.times++
	f.last, f.line = now, line
	if l.silence > 0 {
		if f.silent == nil {
			f.silent = time.AfterFunc(l.silence, func() { l.endSilent(f) })
		} else {
			f.silent.Reset(l.silence)
		}
	}
	switch {
	case begins && f.begins < maxBegins:
		f.begins++
	case f.kinds[kind] || len(f.kinds) >= maxKinds:
		return
	}
	f.kinds[kind] = true
	f.shown++
	fields := line.why()
	if f.times > 1 {
		fields = line.why(zap.Int("times", f.times), zap.Duration("for", now.Sub(f.since)))
	}
	l.log.Log(line.Level, line.Message, fields...)
}

// find returns the fault with a key. The caller holds l.mu.
func (l *Log) find(key string, now time.Time) *fault {
	if f := l.faults[key]; f != nil {
		return f
	}
	if len(l.faults) >= maxFaults {
		for other, f := range l.faults {
			if !f.lasting && now.Sub(f.last) >= Interval {
				delete(l.faults, other)
			}
		}
	}
	if len(l.faults) >= maxFaults {
		if f := l.faults[others]; f != nil {
			return f
		}
		key = others
	}
	f := &fault{kinds: map[string]bool{}}
	l.faults[key] = f
	return f
}

// End says that a fault is over. It does nothing if the fault does not last.
func (l *Log) End(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f := l.faults[key]; f != nil {
		l.end(f, time.Now())
	}
}

// endSilent ends a fault that has not occurred for a while. Its timer calls it.
func (l *Log) endSilent(f *fault) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed && time.Since(f.last) >= l.silence {
		l.end(f, f.last)
	}
}

// end ends a fault, and says so if its begin was in the log. The caller holds l.mu.
func (l *Log) end(f *fault, at time.Time) {
	if !f.lasting {
		return
	}
	f.lasting = false
	if f.silent != nil {
		f.silent.Stop()
	}
	if f.shown == 0 || f.line.Over == "" && f.shown == f.times { // nothing was left out
		return
	}
	fields := slices.Concat(f.line.Fields, []zap.Field{zap.Int("times", f.times), zap.Duration("for", at.Sub(f.since))})
	if f.line.Over != "" {
		l.log.Info(f.line.Over, fields...)
		return
	}
	l.log.Info(f.line.Message, append(fields, zap.Bool("over", true))...)
}

// Latest returns the fault that occurred last among those that last, and since when it
// lasts; false: none does.
func (l *Log) Latest() (line Line, since time.Time, lasts bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var last time.Time
	for _, f := range l.faults {
		if f.lasting && f.last.After(last) {
			line, since, last, lasts = f.line, f.since, f.last, true
		}
	}
	return line, since, lasts
}

// Close ends the Log: it writes nothing more.
func (l *Log) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for _, f := range l.faults {
		if f.silent != nil {
			f.silent.Stop()
		}
	}
}
