package client

import "github.com/millrace/millrace/wire"

// maxOwn is of how many stored messages the client remembers that it has published them.
const maxOwn = 1024

// own are the newest stored messages that the client has published, by their positions: what an edge gives
// of the past is not marked. Guarded by the router.
type own struct {
	keys  map[wire.Position]string
	order []wire.Position // the oldest first
}

// noteOwn notes the position of a confirmed publish.
func (r *router) noteOwn(at wire.Position, key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := &r.own
	if o.keys == nil {
		o.keys = map[wire.Position]string{}
	}
	if _, known := o.keys[at]; known {
		return // a repeat of it
	}
	if len(o.order) >= maxOwn {
		delete(o.keys, o.order[0])
		o.order = o.order[1:]
	}
	o.keys[at] = key
	o.order = append(o.order, at)
}

// mark marks a stored message that the client has published on an earlier connection, or before it subscribed.
// The caller holds r.mu.
func (o *own) mark(d *delivery) {
	if d.own || len(o.keys) == 0 {
		return
	}
	d.key, d.own = o.keys[d.position]
}
