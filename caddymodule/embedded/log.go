package embedded

import (
	"errors"
	"fmt"
	"net"
	"regexp"
	"strings"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/millrace/millrace/internal/outage"
)

// faultSilence is how long a fault of the server does not occur until it is over. The server
// dials a peer that is away every second or two.
const faultSilence = 10 * time.Second

// logger passes the server's log to Caddy's: of what repeats itself, a line when it begins,
// one a minute, and one when it is over. The server has to report each attempt to dial a peer:
// otherwise its silence would be taken for success.
type logger struct {
	debug   *zap.SugaredLogger
	faults  *outage.Log
	storage *storage // gets the errors, too
}

func newLogger(log *zap.Logger, storage *storage) logger {
	return logger{log.WithOptions(zap.AddCallerSkip(1)).Sugar(), outage.New(log, faultSilence), storage}
}

func (l logger) Noticef(format string, v ...any) { l.debug.Debugf(format, v...) }

// Warnf drops a warning of what is intended: an edge may be configured to accept large messages.
func (l logger) Warnf(format string, v ...any) {
	if !strings.HasPrefix(format, "Maximum payloads over") {
		l.note(zap.WarnLevel, format, v)
	}
}

func (l logger) Errorf(format string, v ...any) {
	l.note(zap.ErrorLevel, format, v)
	l.storage.noteError(format, v)
}
func (l logger) Debugf(format string, v ...any) { l.debug.Debugf(format, v...) }
func (l logger) Tracef(format string, v ...any) { l.debug.Debugf(format, v...) }

// Fatalf logs an error: the server must not end the process.
func (l logger) Fatalf(format string, v ...any) { l.note(zap.ErrorLevel, format, v) }

// changing is what differs in lines about one fault, such as counts and the ports that peers
// dial from. Addresses tell peers apart.
var changing = regexp.MustCompile(`(\d+\.\d+\.\d+\.\d+)|\d+(\.\d+)?`)

// routeError is the format of the error that a peer cannot be dialed, which has the number of
// the attempt and the error.
const routeError = "Error trying to connect to route"

func (l logger) note(level zapcore.Level, format string, v []any) {
	if peer, err := dialed(format, v); err != nil {
		l.faults.Note(routeError+peer, "", outage.Line{
			Level: level, Message: "cannot connect to the NATS server of another edge", Over: "connected to the NATS server of another edge again",
			Err: err, Fields: []zap.Field{zap.String("peer", peer)},
		})
		return
	}
	text := fmt.Sprintf(format, v...)
	l.faults.Note(changing.ReplaceAllString(text, "$1#"), "", outage.Line{Level: level, Message: text})
}

// dialed returns the peer that the server could not dial, and why; no error: it is another
// line.
func dialed(format string, v []any) (peer string, err error) {
	if !strings.HasPrefix(format, routeError) || len(v) == 0 {
		return "", nil
	}
	err, _ = v[len(v)-1].(error)
	var dial *net.OpError
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns):
		peer = dns.Name
	case errors.As(err, &dial) && dial.Addr != nil:
		peer = dial.Addr.String()
	default:
		return "", nil
	}
	return peer, err
}
