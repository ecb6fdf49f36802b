package sdk

import (
	"slices"

	"github.com/millrace/millrace/integration/harness"
)

// Again runs an edge that has ended on its data and its ports.
func Again(e *harness.Edge) harness.Option {
	return func(next *harness.Edge) {
		next.HTTP, next.HTTPS, next.Admin = e.HTTP, e.HTTPS, e.Admin
		next.Dir, next.Store, next.Broker = e.Dir, e.Store, e.Broker
		next.Master, next.Env = e.Master, slices.Clone(e.Env[:1])
	}
}

// Until takes messages up to this one.
func (s *Sub) Until(payload string) {
	s.C.T.Helper()
	for string(s.Next().Payload) != payload {
	}
}
