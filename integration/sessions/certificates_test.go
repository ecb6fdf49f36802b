package sessions

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/internal/loopback"
)

// certifiedHost is the name in the certificates. It does not resolve: clients go to
// localhost and expect this name in the TLS handshake.
const certifiedHost = "edge.example"

// acmeCaddyfile is an ACME server. Five minutes is the shortest lifetime that it issues.
const acmeCaddyfile = "{" + harness.GlobalOptions + `}
https://localhost:{{.HTTPS}} {
	tls internal
	respond /ping 200
	acme_server {
		lifetime 5m
		challenges http-01
		allow {
			domains ` + certifiedHost + `
		}
	}
}
`

// certifiedCaddyfile is an edge that gets its certificates from the ACME server at the port
// ACME_PORT. A certificate is valid for 6 minutes, the first of which is over when it is
// issued. It is renewed when less than 0.825 of that is left, which is 3 s later.
const certifiedCaddyfile = "{" + harness.GlobalOptions + `
	cert_issuer acme {
		dir https://localhost:ACME_PORT/acme/local/directory
		trusted_roots ACME_ROOT
		disable_tlsalpn_challenge
	}
	renew_interval 1s
	renewal_window_ratio 0.825
	pubsub {` + harness.PubsubStore + harness.DefaultMaster + harness.FastBandwidth + `	}
}
http://localhost:{{.HTTP}} {
	pubsub
	respond "no such page" 404
}
https://` + certifiedHost + `:{{.HTTPS}}, https://:{{.HTTPS}} {
	pubsub
	respond "no such page" 404
}
`

// An edge gets its certificate from an ACME server and renews it. Sessions that are open
// stay open and lose no message; new ones, over both transports, get the new certificate.
func TestCertificateRenewal(t *testing.T) {
	t.Parallel()
	renewals := harness.SoakCount(t, 2, 80)
	edgePort := loopback.FreePort(t)
	// The challenge asks for port 80 of the host. The ACME server takes the edge for the
	// proxy on the way there: the request is otherwise what a public server would send.
	issuer := harness.StartEdge(t, acmeCaddyfile, harness.WithEnv(fmt.Sprintf("HTTP_PROXY=http://127.0.0.1:%d", edgePort)))
	e := harness.StartEdge(t,
		strings.NewReplacer("ACME_PORT", strconv.Itoa(issuer.HTTPS), "ACME_ROOT", issuer.RootFile()).Replace(certifiedCaddyfile),
		func(e *harness.Edge) { e.HTTP = edgePort })
	trusted, err := issuer.TlsConfig()
	if err != nil {
		t.Fatal(err)
	}
	trusted.ServerName = certifiedHost

	var seen []*x509.Certificate // the latest last
	awaitRenewal := func() {
		t.Helper()
		e.Poll(fmt.Sprintf("a certificate after %d others", len(seen)), func() bool {
			d := tls.Dialer{NetDialer: &net.Dialer{Timeout: harness.WaitTimeout}, Config: trusted}
			conn, err := d.DialContext(t.Context(), "tcp", fmt.Sprintf("127.0.0.1:%d", e.HTTPS))
			if err != nil {
				return false
			}
			defer conn.Close()
			leaf := conn.(*tls.Conn).ConnectionState().PeerCertificates[0]
			if slices.ContainsFunc(seen, leaf.Equal) {
				return false
			}
			seen = append(seen, leaf)
			return true
		})
	}
	awaitRenewal()
	token := e.Issue(harness.AllowAll("room")).Token
	var crowd []*certified
	for _, transport := range []client.Transport{client.WebSocket, client.WebTransport} {
		crowd = append(crowd, connectCertified(e, trusted, transport, token))
	}
	// A soak ends when the sessions have outlived the certificates that they began with.
	for n := 0; n < renewals || harness.Soaking && time.Now().Before(crowd[0].shown.NotAfter); n++ {
		old := len(seen)
		awaitRenewal()
		for _, c := range crowd {
			fresh := connectCertified(e, trusted, c.transport, token)
			if slices.ContainsFunc(seen[:old], fresh.shown.Equal) {
				t.Errorf("after renewal %d a new session over %s got an old certificate", n+1, c.transport)
			}
			fresh.end()
		}
	}
	for _, c := range crowd {
		c.end()
		t.Logf("%s: %d messages", c.transport, c.received)
	}
	t.Logf("%d renewals; %v are left to the first certificate", len(seen)-1, time.Until(crowd[0].shown.NotAfter).Round(time.Second))
}

// certified is a client that publishes numbers to itself, and notes what happens to its
// connection.
type certified struct {
	t         *testing.T
	transport client.Transport
	client    *client.Client
	shown     *x509.Certificate // by its first handshake
	stop      chan struct{}
	work      sync.WaitGroup
	published int // read after the work, as received
	received  int

	mu     sync.Mutex
	faults []string
}

func connectCertified(e *harness.Edge, trusted *tls.Config, transport client.Transport, token string) *certified {
	e.T.Helper()
	c := &certified{t: e.T, transport: transport, stop: make(chan struct{})}
	handshakes := 0
	config := trusted.Clone()
	config.VerifyConnection = func(state tls.ConnectionState) error {
		if handshakes++; handshakes > 1 { // of one connection after the other
			c.fault("connection %d", handshakes)
			return nil
		}
		c.shown = state.PeerCertificates[0]
		return nil
	}
	ctx, cancel := context.WithTimeout(e.T.Context(), harness.WaitTimeout)
	defer cancel()
	var err error
	// Without keep-alive a busy machine makes no connection suspect.
	c.client, err = client.Connect(ctx, []string{e.HttpsURL("")}, client.Options{
		Token: token, Transports: []client.Transport{transport}, ConnectTimeout: harness.WaitTimeout, KeepAlive: -1,
		QueuePolicy: client.EndOnFull, TLS: config, OnEvent: func(event client.Event) {
			switch event.(type) {
			case client.Connected, client.RoundTrip, client.Closed:
			default:
				c.fault("%T%+v", event, event)
			}
		},
	})
	if err != nil {
		e.T.Fatalf("%s: %v\nthe edge wrote:\n%s", transport, err, e.Output())
	}
	channel := fmt.Sprintf("%s.%p", transport, c)
	s, err := c.client.Subscribe(ctx, "paint.room", channel)
	if err != nil {
		e.T.Fatalf("%s: %v", transport, err)
	}
	publish := func(payload string) {
		if err := c.client.Publish(context.Background(), "paint.room", channel, []byte(payload)); err != nil {
			c.fault("message %s: %v", payload, err)
		}
	}
	c.work.Go(func() { // ends with stop
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			c.published++
			publish(strconv.Itoa(c.published))
			select {
			case <-c.stop:
				publish("end")
				return
			case <-tick.C:
			}
		}
	})
	c.work.Go(func() { // ends with the last message, or the client
		for m := range s.Messages() {
			if string(m.Payload) == "end" {
				return
			}
			if c.received++; string(m.Payload) != strconv.Itoa(c.received) {
				c.fault("got %q in place of %d", m.Payload, c.received)
			}
		}
		c.fault("the subscription ended: %v", s.Err())
	})
	e.T.Cleanup(func() { _ = c.client.Close() }) // end has looked at it
	return c
}

func (c *certified) fault(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults = append(c.faults, fmt.Sprintf(format, args...))
}

// end stops the client, and requires that its only connection has lost nothing.
func (c *certified) end() {
	c.t.Helper()
	close(c.stop)
	timer := time.AfterFunc(harness.WaitTimeout, func() { _ = c.client.Close() }) // which ends the work
	c.work.Wait()
	timer.Stop()
	if err := c.client.Close(); err != nil || c.received != c.published || len(c.faults) > 0 {
		c.t.Errorf("%s: %v; got %d of %d messages, faults %q", c.transport, err, c.received, c.published, c.faults)
	}
}
