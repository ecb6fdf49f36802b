package memnet

import (
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"
)

// Buffer is how many bytes of a stream may wait to be read; a write of more waits.
const Buffer = 64 << 10

// pipe returns the two ends of a stream, as [net.Pipe] does, with a buffer.
func (n *Network) pipe(a, b netip.AddrPort) (near, far net.Conn) {
	there, back := n.newFlow(a, b), n.newFlow(b, a)
	return &stream{in: back, out: there, local: a, remote: b}, &stream{in: there, out: back, local: b, remote: a}
}

// stream is one end.
type stream struct {
	in, out       *flow
	local, remote netip.AddrPort
}

func (s *stream) Read(b []byte) (int, error)  { return s.in.read(b) }
func (s *stream) Write(b []byte) (int, error) { return s.out.write(b) }
func (s *stream) LocalAddr() net.Addr         { return net.TCPAddrFromAddrPort(s.local) }
func (s *stream) RemoteAddr() net.Addr        { return net.TCPAddrFromAddrPort(s.remote) }

func (s *stream) SetReadDeadline(t time.Time) error  { return s.in.setDeadline(&s.in.readBy, t) }
func (s *stream) SetWriteDeadline(t time.Time) error { return s.out.setDeadline(&s.out.writeBy, t) }

func (s *stream) SetDeadline(t time.Time) error {
	_ = s.SetWriteDeadline(t)
	return s.SetReadDeadline(t)
}

// Close ends both directions: the other end reads what was written, and then EOF.
func (s *stream) Close() error {
	s.in.close(&s.in.unread)
	s.out.close(&s.out.ended)
	return nil
}

// flow is one direction of a stream.
type flow struct {
	network  *Network
	from, to netip.Addr

	mu      sync.Mutex
	changed sync.Cond // broadcast after each change
	buf     []byte
	ended   bool // the writer has closed its end
	unread  bool // the reader has
	readBy  deadline
	writeBy deadline
}

// deadline of reads or writes.
type deadline struct {
	at    time.Time // zero: none
	timer *time.Timer
}

func (d *deadline) passed() bool { return !d.at.IsZero() && !time.Now().Before(d.at) }

func (n *Network) newFlow(from, to netip.AddrPort) *flow {
	f := &flow{network: n, from: from.Addr(), to: to.Addr()}
	f.changed.L = &f.mu
	n.mu.Lock()
	defer n.mu.Unlock()
	n.flows[f] = struct{}{}
	return f
}

func (f *flow) setDeadline(d *deadline, at time.Time) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	if f.unread && d == &f.readBy || f.ended && d == &f.writeBy {
		return net.ErrClosed
	}
	d.at = at
	if wait := time.Until(at); !at.IsZero() && wait > 0 {
		d.timer = time.AfterFunc(wait, func() {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.changed.Broadcast()
		})
	}
	f.changed.Broadcast()
	return nil
}

func (f *flow) close(which *bool) {
	f.mu.Lock()
	*which = true
	d := &f.writeBy
	if which == &f.unread {
		d = &f.readBy
	}
	if d.timer != nil {
		d.timer.Stop()
	}
	over := f.ended && f.unread
	f.changed.Broadcast()
	f.mu.Unlock()
	if over {
		f.network.mu.Lock()
		defer f.network.mu.Unlock()
		delete(f.network.flows, f)
	}
}

func (f *flow) read(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for {
		switch {
		case f.unread:
			return 0, net.ErrClosed
		case f.readBy.passed():
			return 0, os.ErrDeadlineExceeded
		case len(b) == 0:
			return 0, nil
		case f.network.cutOff(f.from, f.to) != nil:
		case len(f.buf) > 0:
			n := copy(b, f.buf)
			f.buf = f.buf[n:]
			f.changed.Broadcast()
			return n, nil
		case f.ended:
			return 0, io.EOF
		}
		f.changed.Wait()
	}
}

func (f *flow) write(b []byte) (n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for {
		switch room := Buffer - len(f.buf); {
		case f.ended:
			return n, net.ErrClosed
		case f.writeBy.passed():
			return n, os.ErrDeadlineExceeded
		case f.unread && f.network.cutOff(f.from, f.to) == nil: // else nobody knows
			return n, syscall.EPIPE
		case len(b) == 0:
			return n, nil
		case room > 0:
			part := min(room, len(b))
			f.buf = append(f.buf, b[:part]...)
			b, n = b[part:], n+part
			f.changed.Broadcast()
			continue
		}
		f.changed.Wait()
	}
}

var _ net.Conn = (*stream)(nil)
