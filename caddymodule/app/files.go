package app

import (
	"math"

	"go.uber.org/zap"

	"github.com/millrace/millrace/pubsub"
)

const (
	maxFiles = 1 << 30 // more is no limit

	// What is kept of the files: for stores, links, logs and operators; and for connections
	// without a session, which are requests, handshakes, and who says nothing.
	maxReservedFiles = 1024
	maxRequestFiles  = 16384
	minRequestFiles  = 16
)

// fileShares says what the files are for that the process may open. All are 0 where it may
// open any number.
type fileShares struct {
	limit    int
	reserved int // for everything but connections
	sessions int // connections over WebSocket
	requests int // other connections over TCP
}

// shareFiles divides so many files among all who need some. Sessions need maxConnections at most; 0: any number.
func shareFiles(limit, maxConnections int) fileShares {
	if limit == 0 {
		return fileShares{requests: math.MaxInt32}
	}
	s := fileShares{limit: limit, reserved: min(max(limit/4, 64), maxReservedFiles)}
	rest := max(limit-s.reserved, 2*minRequestFiles)
	s.sessions = rest - max(min(rest/4, maxRequestFiles), minRequestFiles)
	if maxConnections > 0 {
		s.sessions = min(s.sessions, maxConnections)
	}
	s.requests = rest - s.sessions
	return s
}

// needed is how many files it takes for so many sessions.
func neededFiles(sessions int) int {
	requests := max(min((sessions+2)/3, maxRequestFiles), minRequestFiles)
	for files := sessions + requests; ; files++ {
		if shareFiles(files, 0).sessions >= sessions {
			return files
		}
	}
}

// warnOfFiles says when the process may open too few files for max_connections.
func warnOfFiles(log *zap.Logger, s fileShares, l *pubsub.Limits) {
	if s.limit == 0 || l.MaxConnections > 0 && s.sessions >= l.MaxConnections {
		return
	}
	fields := []zap.Field{
		zap.Int("open_files", s.limit), zap.Int("websocket_connections", s.sessions), zap.Int("max_connections", l.MaxConnections),
		zap.Int("reserved_files", s.reserved), zap.Int("other_connections", s.requests),
	}
	if l.MaxConnections == 0 {
		if s.limit >= 1<<20 { // as much as systems allow without a setting of their own
			return
		}
		log.Warn("the limit of open files bounds the WebSocket connections: raise LimitNOFILE of the unit, or ulimit -n, for more", fields...)
		return
	}
	log.Warn("the limit of open files allows fewer WebSocket connections than max_connections: "+
		"set LimitNOFILE of the unit, or ulimit -n, to needed_files, or max_connections to websocket_connections",
		append(fields, zap.Int("needed_files", neededFiles(l.MaxConnections)))...)
}
