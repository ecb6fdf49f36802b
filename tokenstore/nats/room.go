package nats

import (
	"errors"
	"strings"
	"sync"

	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/zap"
)

// room is whether the bucket had room for the last change. All methods may be called
// concurrently.
type room struct {
	mu   sync.Mutex // guards the rest
	full bool       // what was logged last
}

// noteFull logs that a change was refused for lack of room, once until noteWritten.
func (r *room) noteFull(log *zap.Logger, err error) {
	if r.set(true) {
		log.Error("the bucket or its account has no room for changes of tokens: raise max_bytes of its stream, or the limits of the account", zap.Error(err))
	}
}

// noteWritten logs that there is room again.
func (r *room) noteWritten(log *zap.Logger) {
	if r.set(false) {
		log.Info("the bucket has taken a change of tokens again")
	}
}

// set reports whether full has changed.
func (r *room) set(full bool) (changed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	changed, r.full = r.full != full, full
	return changed
}

// isFull reports whether a message was refused because the bucket has its max_bytes, or
// its account what it may have.
func isFull(err error) bool {
	var e *jetstream.APIError
	if !errors.As(err, &e) {
		return false
	}
	switch e.ErrorCode {
	case codeAccountExceeded, codeMemoryExceeded, codeStorageExceeded:
		return true
	case codeStoreFailed:
		return strings.Contains(e.Description, "maximum bytes exceeded")
	}
	return false
}
