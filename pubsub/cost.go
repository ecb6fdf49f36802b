package pubsub

import "fmt"

// Refusals of a connection for which the process lacks something; both are [ErrFull], too.
var (
	ErrFilesFull  = fmt.Errorf("%w: no open files are left for it", ErrFull)
	ErrMemoryFull = fmt.Errorf("%w: no memory is left for it", ErrFull)
)

// Cost is what a connection takes of the process. Who admits a client knows its transport,
// and so its cost; the hub adds up and compares with [Limits.Room].
type Cost struct {
	Files  int // that are open for it
	Memory int // bytes, while it is idle
}

// check returns nil if taken and one more connection fit into the room.
func (c Cost) check(taken, room Cost) error {
	switch {
	case exceeds(taken.Files, c.Files, room.Files):
		return ErrFilesFull
	case exceeds(taken.Memory, c.Memory, room.Memory):
		return ErrMemoryFull
	}
	return nil
}

// exceeds reports whether taken and more are above a limit; 0: there is none, and who needs
// nothing exceeds nothing.
func exceeds(taken, more, limit int) bool { return more > 0 && limit > 0 && taken+more > limit }

// add counts a connection, or with -1 takes that back.
func (c *Cost) add(more Cost, sign int) {
	c.Files += sign * more.Files
	c.Memory += sign * more.Memory
}

// share applies a share to each part of a room.
func (c Cost) share(of func(all int) int) Cost { return Cost{Files: of(c.Files), Memory: of(c.Memory)} }

// used is Metrics.Used.
func (h *Hub) used() map[string]float64 {
	l := h.limits.Load()
	h.mu.Lock()
	connections, taken := len(h.sessions), h.taken
	h.mu.Unlock()
	part := func(n, limit int) float64 {
		if limit == 0 {
			return 0
		}
		return float64(n) / float64(limit)
	}
	return map[string]float64{
		"connections": part(connections, l.MaxConnections),
		"files":       part(taken.Files, l.Room.Files),
		"memory":      part(taken.Memory, l.Room.Memory),
	}
}
