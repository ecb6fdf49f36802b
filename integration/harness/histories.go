package harness

import (
	"slices"
)

// Replacing gives an edge the ports, the master token, the store and the broker of one that
// is gone.
func Replacing(gone *Edge) Option {
	return func(e *Edge) {
		e.Store, e.Broker = gone.Store, gone.Broker
		e.HTTP, e.HTTPS, e.Admin, e.Master, e.Env = gone.HTTP, gone.HTTPS, gone.Admin, gone.Master, slices.Clone(gone.Env[:1])
	}
}
