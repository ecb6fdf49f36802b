package nats

import (
	"fmt"
	"sync/atomic"
	"testing"

	"go.uber.org/zap/zaptest"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/brokertest"
)

// The conformance suite by one server, by a cluster, and with edges that may each send in
// their own name only. Each case is an overlay of its own.
func TestConformance(t *testing.T) {
	names := []string{"edge-0", "edge-1", "edge-2"}
	one, cluster, named := natstest.Server(t, natstest.Core), natstest.Cluster(t, 3, natstest.Core), namedServer(t, names...)
	var overlays atomic.Int64
	for name, config := range map[string]func(i int) Config{
		"one server": func(int) Config { return Config{Connect: natstest.Connect(one)} },
		"a cluster":  func(i int) Config { return Config{Connect: natstest.Connect(cluster[i])} },
		"names":      func(i int) Config { return Config{Connect: as(named, names[i]), EdgeName: names[i]} },
	} {
		t.Run(name, func(t *testing.T) {
			brokertest.Run(t, func(t *testing.T, edges int) (list []pubsub.Broker) {
				t.Parallel()
				prefix := fmt.Sprint("p", overlays.Add(1))
				if name != "names" {
					prefix += ".edges" // a prefix may have dots
				}
				for i := range edges {
					c := config(i)
					c.Prefix, c.QueueBytes, c.Log = prefix, 8<<20, zaptest.NewLogger(t)
					b, err := New(c)
					must(t, err)
					list = append(list, b)
				}
				return list
			})
		})
	}
}
