package networks

import (
	"cmp"
	"context"
	"encoding/binary"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/sdk"
	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/internal/netlab"
)

// The machines of a lab. This process is machine 0, and has the NATS server.
const (
	nearMachine   = 1 // to which the client goes
	farMachine    = 2 // where the publisher is, as a rule
	clientMachine = 3
)

const tenant = "t.room"

const caddyfile = `{
	admin localhost:2019
	skip_install_trust
	auto_https disable_redirects
	http_port 8080
	https_port 8443
	default_sni IP
	pubsub {
		allow_plaintext
		master_token {env.MILLRACE_MASTER_TOKEN} {
			name test
			tenant_prefix t.
		}
		broker nats NATS
		token_store nats` + harness.FastBandwidth + `
	}
}
http://IP:8080 {
	bind IP
	pubsub
	pubsub_ready
}
https://IP:8443 {
	bind IP
	tls internal
	pubsub
}
`

// lab is two edges and a machine for a client.
type lab struct {
	*testing.T
	network   *netlab.Network
	near, far *edge
	token     string
}

func startLab(t *testing.T) *lab {
	t.Helper()
	n := startNetwork(t, 3)
	nats := natstest.Server(t, func(o *server.Options) { o.Host = n.Machine(0).IP })
	text := strings.ReplaceAll(caddyfile, "NATS", nats.ClientURL())
	l := &lab{T: t, network: n, near: startEdge(t, n.Machine(nearMachine), text)}
	l.far = startEdge(t, n.Machine(farMachine), text, harness.WithMaster(l.near.Edge))
	admin, err := client.NewTokenAdmin(l.far.plain(), l.far.Master, client.WithPlaintext())
	l.near.Must(err)
	issued, err := admin.Issue(t.Context(), client.IssueRequest{
		CreatedBy: "networks", ExpiresIn: 12 * time.Hour,
		Grants: []client.Grant{{Tenants: []string{"room"}, Publish: []string{"#"}, Subscribe: []string{"#"}}},
	})
	l.near.Must(err)
	l.token = issued.Token
	return l
}

// treat treats packets between the client and the near edge so.
func (l *lab) treat(how netlab.Treatment) { l.network.Set(clientMachine, nearMachine, how) }

// edge is an edge in a machine of its own.
type edge struct {
	*harness.Edge
	netlab.Machine
}

func (e *edge) url() string   { return "https://" + e.IP + ":8443" }
func (e *edge) plain() string { return "http://" + e.IP + ":8080" }

// startEdge returns when clients may come.
func startEdge(t *testing.T, m netlab.Machine, caddyfile string, options ...harness.Option) *edge {
	t.Helper()
	inside, err := filepath.Abs("testdata/inside")
	if err != nil {
		t.Fatal(err)
	}
	options = append(options, harness.ForBrowsers, func(e *harness.Edge) {
		e.Program = inside
		e.Env = append(e.Env, "NETNS="+m.Namespace, "MILLRACE="+filepath.Join(built, "millrace"))
	})
	e := &edge{harness.StartEdge(t, strings.ReplaceAll(caddyfile, "IP", m.IP), options...), m}
	asking := http.Client{Timeout: time.Second}
	e.Poll("the edge to be ready", func() bool {
		response, err := asking.Get(e.plain() + "/ready")
		if err != nil {
			return false
		}
		response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
	return e
}

// again starts an edge that was killed.
func (e *edge) again() { e.Edge = startEdge(e.T, e.Machine, e.Given, sdk.Again(e.Edge)).Edge }

// publisher publishes numbers at an edge, over a WebSocket that no case breaks: it waits as long
// as the edge does.
type publisher struct {
	client  *client.Client
	cancel  func()
	running sync.WaitGroup
	sent    int // after stop
}

// publish begins to publish, until stop: to one channel after the other, so many bytes.
func (l *lab) publish(at *edge, every time.Duration, size int, channels ...string) *publisher {
	l.Helper()
	c, err := client.Connect(l.Context(), []string{at.plain()}, client.Options{
		Token: l.token, Transports: []client.Transport{client.WebSocket}, AllowPlaintext: true, KeepAlive: -1,
	})
	l.near.Must(err)
	ctx, cancel := context.WithCancel(l.Context())
	p := &publisher{client: c, cancel: cancel}
	p.running.Go(func() { // ends with stop
		tick := time.NewTicker(every)
		defer tick.Stop()
		for ; ctx.Err() == nil; p.sent++ {
			payload := make([]byte, cmp.Or(size, 100))
			binary.BigEndian.PutUint64(payload, uint64(p.sent))
			binary.BigEndian.PutUint64(payload[8:], uint64(time.Now().UnixNano()))
			if err := c.Publish(context.WithoutCancel(ctx), tenant, channels[p.sent%len(channels)], payload); err != nil {
				l.Errorf("message %d: %v", p.sent, err)
				return
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
			}
		}
	})
	return p
}

// stop ends it when the edge has all, and returns how many that is.
func (p *publisher) stop(t *testing.T) int {
	t.Helper()
	p.cancel()
	p.running.Wait()
	if err := p.client.Flush(t.Context()); err != nil {
		t.Errorf("flush: %v", err)
	}
	_ = p.client.Close()
	return p.sent
}

// message is the number of a message, and when it was sent.
func message(r sdk.Report) (number int, sent time.Time, is bool) {
	if r.Event != "message" || len(r.Payload) < 16 {
		return 0, sent, false
	}
	return int(binary.BigEndian.Uint64(r.Payload)), time.Unix(0, int64(binary.BigEndian.Uint64(r.Payload[8:]))), true
}
