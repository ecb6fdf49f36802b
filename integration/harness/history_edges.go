package harness

import (
	"github.com/millrace/millrace/internal/natstest"
)

// KillAndStart kills an edge, calls meanwhile, and starts it again on its data.
func (o *Overlay) KillAndStart(at int, caddyfile string, meanwhile func(), options ...Option) {
	o.T.Helper()
	gone := o.Edges[at]
	gone.Kill()
	meanwhile()
	o.Edges[at] = StartEdge(o.T, caddyfile, append([]Option{InDir(gone.Dir), Replacing(gone)}, options...)...)
}

// AwaitAll returns when all NATS servers answer again.
func (o *Overlay) AwaitAll(nodes ...*natstest.Node) {
	o.T.Helper()
	for _, node := range nodes {
		node.Await(o.T)
	}
}
