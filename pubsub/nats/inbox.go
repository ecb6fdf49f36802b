package nats

import (
	"sync"

	client "github.com/nats-io/nats.go"
)

// inbox holds messages from NATS until the hub takes them, in a queue for each
// tenant. A queue's messages are handled in order, by one worker at a time; tenants
// take turns. So a tenant whose messages cost much time delays only itself.
//
// NATS never waits: what comes while the inbox is full is lost, and counted. See
// fits for how tenants share the room. Where tenants have owners, who can have any number of them,
// these share it in the same way, and none has more than half of the workers.
type inbox struct {
	ownerOf func(tenant string) string // nil, or empty: nobody is known

	mu      sync.Mutex
	queues  map[string]*tenantQueue // those with messages, by tenant as in subjects; "": what edges say of themselves
	ready   []*tenantQueue          // queues that no worker has, longest waiting first
	bytes   int                     // of all
	workers int
	owners  map[string]*inboxOwner // those with messages
}

// inboxOwner is what the tenants of one owner have.
type inboxOwner struct {
	queues  int
	bytes   int
	working int            // workers that have one of the queues
	held    []*tenantQueue // that wait for one of these to be done
}

// tenantQueue is the messages of a tenant.
type tenantQueue struct {
	tenant   string
	owner    string
	messages []*client.Msg
	bytes    int // of these, and of those that a worker has
}

const (
	// messageOverhead is about what a message takes beside its subject and data.
	messageOverhead = 256
	// maxWorkers bounds how many tenants' messages are handled at the same time. It
	// is more than processors, as a worker may wait for a tenant's share of these.
	maxWorkers = 64
	// batchSize is how many messages of a tenant are handled in a row.
	batchSize = 64
)

// put takes a message of a tenant, and reports whether there is room. It also
// reports whether another worker is to be started, which calls work.
func (in *inbox) put(tenant string, m *client.Msg, limit int) (taken, start bool) {
	size := messageSize(m)
	q, owner := in.lockQueue(tenant)
	defer in.mu.Unlock()
	own := 0
	if q != nil {
		own = q.bytes
	}
	of := in.owners[owner]
	if !fits(size, own, in.bytes, limit) || of != nil && !fits(size, of.bytes, in.bytes, limit) {
		return false, false
	}
	if q == nil {
		q = tenantQueues.Get().(*tenantQueue)
		q.tenant, q.owner = tenant, owner
		if owner != "" {
			if of == nil {
				of = new(inboxOwner)
				if in.owners == nil {
					in.owners = map[string]*inboxOwner{}
				}
				in.owners[owner] = of
			}
			of.queues++
		}
		if in.queues == nil {
			in.queues = map[string]*tenantQueue{}
		}
		in.queues[tenant] = q
		in.ready = append(in.ready, q)
		if start = in.workers < maxWorkers; start {
			in.workers++
		}
	}
	q.messages = append(q.messages, m)
	q.bytes += size
	in.bytes += size
	if of != nil {
		of.bytes += size
	}
	return true, start
}

// lockQueue locks the inbox, and returns the queue of a tenant, or nil, and whose the tenant is, which
// stays so while it has a queue. Nobody waits for the inbox while the owner is asked for.
func (in *inbox) lockQueue(tenant string) (q *tenantQueue, owner string) {
	in.mu.Lock()
	if q = in.queues[tenant]; q == nil && in.ownerOf != nil && tenant != "" {
		in.mu.Unlock()
		owner = in.ownerOf(tenant)
		in.mu.Lock()
		q = in.queues[tenant]
	}
	if q != nil {
		owner = q.owner
	}
	return q, owner
}

// tenantQueues are kept for tenants that get messages now and then.
var tenantQueues = sync.Pool{New: func() any { return new(tenantQueue) }}

// messageSize is the room that a message takes: also the bytes of its headers, which no
// edge sends.
func messageSize(m *client.Msg) int { return m.Size() + messageOverhead }

// work handles messages until there are none.
func (in *inbox) work(handle func(*client.Msg)) {
	var batch [batchSize]*client.Msg
	for {
		q, n := in.next(&batch)
		if q == nil {
			return
		}
		size := 0
		for i, m := range batch[:n] {
			handle(m)
			size += messageSize(m)
			batch[i] = nil
		}
		in.done(q, size)
	}
}

// next takes the next messages of the queue that has waited longest; nil: there is
// none, and the worker ends.
func (in *inbox) next(batch *[batchSize]*client.Msg) (q *tenantQueue, n int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for q == nil {
		if len(in.ready) == 0 {
			in.workers--
			return nil, 0
		}
		q = in.ready[0]
		in.ready[0] = nil
		if in.ready = in.ready[1:]; len(in.ready) == 0 {
			in.ready = nil
		}
		switch of := in.owners[q.owner]; {
		case of == nil:
		case of.working < maxWorkers/2:
			of.working++
		default:
			of.held = append(of.held, q)
			q = nil
		}
	}
	n = copy(batch[:], q.messages)
	clear(q.messages[:n])
	if q.messages = q.messages[n:]; len(q.messages) == 0 {
		q.messages = nil
	}
	return q, n
}

// done gives a queue back, after messages of so many bytes were handled.
func (in *inbox) done(q *tenantQueue, size int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	q.bytes -= size
	in.bytes -= size
	if of := in.owners[q.owner]; of != nil {
		of.bytes -= size
		of.working--
		if len(of.held) > 0 {
			in.ready = append(in.ready, of.held[0])
			of.held[0] = nil
			of.held = of.held[1:]
		}
		if len(q.messages) == 0 {
			if of.queues--; of.queues == 0 {
				delete(in.owners, q.owner)
			}
		}
	}
	if len(q.messages) > 0 {
		in.ready = append(in.ready, q)
		return
	}
	delete(in.queues, q.tenant)
	q.tenant, q.owner = "", ""
	tenantQueues.Put(q)
}
