package nats_test

import (
	"fmt"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	client "github.com/nats-io/nats.go"
	"go.uber.org/zap/zaptest"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/brokertest"
	"github.com/millrace/millrace/pubsub/nats"
)

func open(t *testing.T, connect natstest.Connector, prefix string) *nats.Broker {
	t.Helper()
	b, err := nats.New(nats.Config{
		Connect: connect, Prefix: prefix, QueueBytes: 8 << 20, Log: zaptest.NewLogger(t),
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestOneServer(t *testing.T) {
	s := natstest.Server(t)
	brokertest.Run(t, func(t *testing.T, edges int) (list []pubsub.Broker) {
		for range edges {
			list = append(list, open(t, natstest.Connect(s), "one"))
		}
		return list
	})
}

func TestCluster(t *testing.T) {
	servers := natstest.Cluster(t, 3)
	brokertest.Run(t, func(t *testing.T, edges int) (list []pubsub.Broker) {
		for i := range edges {
			list = append(list, open(t, natstest.Connect(servers[i%3]), "many.edges"))
		}
		return list
	})
}

// In production the server is a process.
func TestProcesses(t *testing.T) {
	nodes := natstest.Processes(t, natstest.Build(t, t.TempDir()), 2)
	brokertest.Run(t, func(t *testing.T, edges int) (list []pubsub.Broker) {
		for i := range edges {
			list = append(list, open(t, natstest.ConnectTo(nodes[i%2].URL()), "many.edges"))
		}
		return list
	})
}

// Each edge may send in its own name only.
func TestNamedEdges(t *testing.T) {
	var users []*server.User
	for i := range 5 {
		users = append(users, &server.User{Username: fmt.Sprint("edge-", i), Password: "p", Permissions: &server.Permissions{
			Publish:   &server.SubjectPermission{Allow: []string{fmt.Sprintf("named.s.edge-%d.>", i)}},
			Subscribe: &server.SubjectPermission{Allow: []string{"named.s.*.>"}},
		}})
	}
	s := natstest.Server(t, func(o *server.Options) { o.Users = users })
	brokertest.Run(t, func(t *testing.T, edges int) (list []pubsub.Broker) {
		for i := range edges {
			name := users[i].Username
			b, err := nats.New(nats.Config{
				Connect: func(o ...client.Option) (*client.Conn, error) {
					return natstest.Connect(s)(append(o, client.UserInfo(name, "p"))...)
				},
				Prefix: "named", EdgeName: name, QueueBytes: 8 << 20, Log: zaptest.NewLogger(t),
			})
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, b)
		}
		return list
	})
}
