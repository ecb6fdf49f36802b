package client

import (
	"sync"
	"time"

	"github.com/millrace/millrace/wire"
)

// sendBufferLimit is how many bytes of publishes may wait for the goroutine that
// writes. Lines are not counted: the client bounds them itself.
const sendBufferLimit = 256 << 10

// sendBuffer is what waits to be sent on one connection, as wire.AppendMessage has
// it. Safe for concurrent use.
type sendBuffer struct {
	mu       sync.Mutex
	buf      []byte
	spare    []byte       // the buffer that was sent last
	total    uint64       // bytes ever put
	lastPub  uint64       // total behind the last publish
	largest  int          // bytes of the largest publish; 0: none could be over a read limit
	plain    plainPublish // the largest that is not confirmed
	unread   unread
	heard    func() time.Time // when something came last
	active   func()           // called when the edge is to be asked earlier, perhaps; nil: nobody waits
	room     chan struct{}    // closed when buf is taken; nil: nobody waits
	finished bool             // no more comes
	wake     chan struct{}    // holds one while there may be something to do
}

// readOverhead is how much a message may be longer than max_payload. A publish that is not
// longer than this is below every edge's read limit.
const readOverhead = 4096

// plainPublish is a publish that the edge does not answer.
type plainPublish struct {
	size            int
	tenant, channel string
}

func newSendBuffer(heard func() time.Time) *sendBuffer {
	return &sendBuffer{wake: make(chan struct{}, 1), heard: heard}
}

// line puts a line and returns how many bytes were put so far.
func (o *sendBuffer) line(line []byte) uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.unread.request(o.heard())
	return o.append(line)
}

// unanswered puts a line that has no answer.
func (o *sendBuffer) unanswered(line []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.append(line)
}

// ping puts a PING. Its answer proves that the edge has read what the mark has.
func (o *sendBuffer) ping() (total uint64, m mark) {
	o.mu.Lock()
	defer o.mu.Unlock()
	m = o.unread.mark()
	return o.append([]byte(wire.LinePing)), m
}

func (o *sendBuffer) append(line []byte) uint64 {
	o.buf = wire.AppendMessage(o.buf, line)
	o.total += uint64(wire.MessageWireLen(line))
	o.wakeUp()
	return o.total
}

// unreadSince returns since when something waits for a sign that the edge reads; zero: nothing does.
func (o *sendBuffer) unreadSince() time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.unread.waits(o.heard())
}

// plainPublishes returns how many publishes without an answer were put so far.
func (o *sendBuffer) plainPublishes() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.unread.publishes
}

// publish puts a frame. If there is no room it puts nothing and returns a
// channel that is closed when there may be. It is not ok when nothing is sent any
// more.
func (o *sendBuffer) publish(p wire.Publish) (full <-chan struct{}, total uint64, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.finished {
		return nil, o.total, false
	}
	size := wire.PublishLen(p)
	if len(o.buf) > 0 && len(o.buf)+size > sendBufferLimit {
		if o.room == nil {
			o.room = make(chan struct{})
		}
		return o.room, o.total, true
	}
	at := len(o.buf)
	o.buf = append(o.buf, byte(size>>24), byte(size>>16), byte(size>>8), byte(size))
	o.buf = wire.AppendPublish(o.buf, p)
	o.total += uint64(len(o.buf) - at)
	o.lastPub = o.total
	var first bool
	if p.Confirm {
		first = o.unread.request(o.heard())
	} else {
		first = o.unread.publish()
	}
	if first && o.active != nil {
		o.active()
	}
	if size > readOverhead {
		o.largest = max(o.largest, size)
		if !p.Confirm && size > o.plain.size {
			o.plain = plainPublish{size, string(p.Tenant), string(p.Channel)}
		}
	}
	o.wakeUp()
	return nil, o.total, true
}

// take returns what waits, good until the next call, and whether more may come.
func (o *sendBuffer) take() (messages []byte, more bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	messages = o.buf
	o.buf, o.spare = o.spare[:0], messages
	if cap(o.spare) > 4*sendBufferLimit {
		o.spare = nil // one large message does not keep its memory
	}
	o.makeRoom()
	return messages, !o.finished
}

// published returns how many bytes had been put when the last publish was.
func (o *sendBuffer) published() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.lastPub
}

// largestPublish returns the bytes of the largest publish that was put, and the largest
// one that is not confirmed.
func (o *sendBuffer) largestPublish() (size int, plain plainPublish) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.largest, o.plain
}

// queued returns how many bytes were put so far.
func (o *sendBuffer) queued() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.total
}

// drop forgets the publishes that wait; lines have answers that somebody counts.
func (o *sendBuffer) drop() {
	o.mu.Lock()
	defer o.mu.Unlock()
	rest := o.buf
	o.buf = o.buf[:0] // what is kept moves to the front
	for len(rest) > 0 {
		start, end, _ := wire.MessageBounds(rest)
		if !wire.IsFrame(rest[start:end]) {
			o.buf = append(o.buf, rest[:end]...)
		}
		rest = rest[end:]
	}
	o.makeRoom()
}

// finish says that no more comes. What waits can still be taken.
func (o *sendBuffer) finish() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.finished = true
	o.makeRoom()
	o.wakeUp()
}

func (o *sendBuffer) makeRoom() {
	if o.room != nil {
		close(o.room)
		o.room = nil
	}
}

func (o *sendBuffer) wakeUp() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}
