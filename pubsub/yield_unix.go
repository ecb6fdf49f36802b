//go:build unix

package pubsub

import (
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
)

// A networkLook is a pipe that a goroutine writes to, and then waits for.
type networkLook struct {
	mu      sync.Mutex
	looking atomic.Bool // mu is held, or was a moment ago
	failed  bool        // the runtime cannot wait for the pipe, guarded by mu
	read    syscall.RawConn
	w       *os.File
}

// theNetworkLook is nil if there is none.
var theNetworkLook = sync.OnceValue(func() *networkLook {
	r, w, err := os.Pipe()
	if err != nil {
		return nil
	}
	conn, err := r.SyscallConn()
	if err != nil {
		return nil
	}
	return &networkLook{read: conn, w: w}
})

// prepareYield takes the files that lookAtNetwork needs.
func prepareYield() { theNetworkLook() }

// lookAtNetwork has the runtime look which connections have become ready, and takes some 5 us. While a processor always
// has something to run, that happens every 10 ms only, and there is no other way to ask for it than to wait for
// the network: here for a byte in a pipe. What has become ready is in the queue of the processor then, in
// front of the goroutine or behind it.
func lookAtNetwork() {
	n := theNetworkLook()
	if n == nil || !n.mu.TryLock() {
		return
	}
	defer n.mu.Unlock()
	if n.failed {
		return
	}
	n.looking.Store(true)
	defer n.looking.Store(false)
	written := false
	err := n.read.Read(func(fd uintptr) (done bool) {
		var b [1]byte
		if !written {
			written = true
			_, err := n.w.Write(b[:])
			return err != nil // otherwise it waits until there is something to read
		}
		_, err := syscall.Read(int(fd), b[:])
		return err != syscall.EAGAIN
	})
	n.failed = err != nil // what was written stays, and would fill the pipe
}

// letOthersRun puts the goroutine behind those that are ready. While another one looks at the network, it waits for that
// one: else it would run, and those after it, and the processor would not come to the look.
func letOthersRun() {
	if n := theNetworkLook(); n != nil && n.looking.Load() {
		n.mu.Lock()
		n.mu.Unlock() //nolint:staticcheck // it waits for who has it
	}
	runtime.Gosched()
}
