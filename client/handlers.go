package client

import (
	"bytes"
	"runtime"
	"strconv"
	"sync"
)

// handlers are the goroutines that run functions of the application. Such a
// function may call Close, which must not wait for it: so they are known by the
// number of their goroutine, which is the only way to tell.
type handlers struct {
	group sync.WaitGroup
	mu    sync.Mutex
	ids   map[uint64]bool
}

// run starts a goroutine, which f ends.
func (h *handlers) run(f func()) {
	h.group.Go(func() {
		id := goroutine()
		h.mu.Lock()
		if h.ids == nil {
			h.ids = map[uint64]bool{}
		}
		h.ids[id] = true
		h.mu.Unlock()
		defer func() {
			h.mu.Lock()
			delete(h.ids, id)
			h.mu.Unlock()
		}()
		f()
	})
}

// wait returns when all have ended, or at once if one of them calls: two of them
// would wait for each other.
func (h *handlers) wait() {
	if !h.inside() {
		h.group.Wait()
	}
}

// inside reports whether a function of the application calls.
func (h *handlers) inside() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.ids) > 0 && h.ids[goroutine()]
}

// goroutine returns the number of the goroutine that calls, which a stack trace
// begins with: "goroutine 18 [running]:".
func goroutine() uint64 {
	var buf [64]byte
	text := bytes.TrimPrefix(buf[:runtime.Stack(buf[:], false)], []byte("goroutine "))
	number, _, _ := bytes.Cut(text, []byte(" "))
	id, _ := strconv.ParseUint(string(number), 10, 64)
	return id
}
