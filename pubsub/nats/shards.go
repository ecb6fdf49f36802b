package nats

import (
	"sync"

	client "github.com/nats-io/nats.go"
)

// inbox holds messages from NATS until the hub takes them, in a shard for each
// tenant. A shard's messages are handled in order, by one worker at a time; tenants
// take turns. So one whose messages are dear holds up none but itself.
//
// NATS never waits: what comes while too much is here is lost, and counted. See
// fits for how tenants share the room.
type inbox struct {
	mu      sync.Mutex
	shards  map[string]*shard // those with messages, by tenant as in subjects; "": what edges say of themselves
	ready   []*shard          // that no worker has, longest waiting first
	bytes   int               // of all
	workers int
}

// shard is the messages of a tenant.
type shard struct {
	tenant string
	list   []*client.Msg
	bytes  int // of these, and of those that a worker has
}

const (
	// messageOverhead is about what a message takes beside its subject and data.
	messageOverhead = 256
	// maxWorkers bounds how many tenants' messages are handled at the same time. It
	// is more than processors, as a worker may wait for a tenant's share of these.
	maxWorkers = 64
	// shardTurn is how many messages of a tenant are handled in a row.
	shardTurn = 64
)

// fits is how queues of several tenants share one bound: a tenant may have at most
// as much as is then still free. One alone has half of the room, two that want all
// of it have a third each; there is always some left for the next one. A tenant that
// has nothing there may take all that is free, and a message that is larger than
// the whole queue goes when it is empty.
func fits(size, own, all, limit int) bool {
	free := limit - all - size
	switch {
	case all == 0:
		return true
	case own == 0:
		return free >= 0
	}
	return own+size <= free
}

// put takes a message of a tenant, and reports whether there is room. It also
// reports whether another worker is to be started, which calls work.
func (in *inbox) put(tenant string, m *client.Msg, limit int) (taken, start bool) {
	size := sizeOf(m)
	in.mu.Lock()
	defer in.mu.Unlock()
	s := in.shards[tenant]
	own := 0
	if s != nil {
		own = s.bytes
	}
	if !fits(size, own, in.bytes, limit) {
		return false, false
	}
	if s == nil {
		s = shards.Get().(*shard)
		s.tenant = tenant
		if in.shards == nil {
			in.shards = map[string]*shard{}
		}
		in.shards[tenant] = s
		in.ready = append(in.ready, s)
		if start = in.workers < maxWorkers; start {
			in.workers++
		}
	}
	s.list = append(s.list, m)
	s.bytes += size
	in.bytes += size
	return true, start
}

// shards are kept for those that get messages now and then.
var shards = sync.Pool{New: func() any { return new(shard) }}

// sizeOf is what a message takes: the bytes of its headers, too, which nobody sends.
func sizeOf(m *client.Msg) int { return m.Size() + messageOverhead }

// work handles messages until there are none.
func (in *inbox) work(handle func(*client.Msg)) {
	var turn [shardTurn]*client.Msg
	for {
		s, n := in.next(&turn)
		if s == nil {
			return
		}
		size := 0
		for i, m := range turn[:n] {
			handle(m)
			size += sizeOf(m)
			turn[i] = nil
		}
		in.done(s, size)
	}
}

// next takes the next messages of the shard that has waited longest; nil: there is
// none, and the worker ends.
func (in *inbox) next(turn *[shardTurn]*client.Msg) (s *shard, n int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(in.ready) == 0 {
		in.workers--
		return nil, 0
	}
	s = in.ready[0]
	in.ready[0] = nil
	if in.ready = in.ready[1:]; len(in.ready) == 0 {
		in.ready = nil
	}
	n = copy(turn[:], s.list)
	clear(s.list[:n])
	if s.list = s.list[n:]; len(s.list) == 0 {
		s.list = nil
	}
	return s, n
}

// done gives a shard back of which messages of so many bytes were handled.
func (in *inbox) done(s *shard, size int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	s.bytes -= size
	in.bytes -= size
	if len(s.list) > 0 {
		in.ready = append(in.ready, s)
		return
	}
	delete(in.shards, s.tenant)
	s.tenant = ""
	shards.Put(s)
}
