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

	seen := []*x509.Certificate{awaitCertificate(e, trusted)} // the latest last
	awaitRenewal := func() { seen = append(seen, awaitCertificate(e, trusted, seen...)) }
	token := e.Issue(harness.AllowAll("room")).Token

	transports := []client.Transport{client.WebSocket, client.WebTransport}
	crowd := make([]*certified, len(transports))
	for i, transport := range transports {
		crowd[i] = connectCertified(e, trusted, transport, token)
		crowd[i].follow(t, "seq.*", len(transports))
	}
	stop := make(chan struct{})
	for _, c := range crowd {
		c.work.Go(func() { c.Publish("seq."+string(c.transport), stop) }) // ends with stop, or the client
	}

	// On a busy machine the first renewal may have come while they connected.
	first := awaitCertificate(e, trusted)
	if !containsCertificate(seen, first) {
		seen = append(seen, first)
	}
	// A soak ends when the sessions have outlived the certificates that they began with.
	n := 0
	for ; n < renewals || harness.Soaking && time.Now().Before(first.NotAfter); n++ {
		awaitRenewal()
		for _, transport := range transports {
			fresh := connectCertified(e, trusted, transport, token)
			fresh.roundTrip(t, fmt.Sprintf("fresh.%d", n))
			fresh.End(t)
			if containsCertificate(seen[:len(seen)-1], fresh.handshakes[0]) {
				t.Errorf("after renewal %d a new session over %s got an old certificate", n+1, transport)
			}
		}
	}
	close(stop)
	for _, c := range crowd {
		c.End(t)
		t.Logf("%s: %d messages published", c.transport, c.published)
	}
	t.Logf("%d renewals; %v are left to the first certificate", n, time.Until(first.NotAfter).Round(time.Second))
}

// awaitCertificate returns the certificate that a TLS handshake over TCP shows, when it is
// none of the old ones.
func awaitCertificate(e *harness.Edge, trusted *tls.Config, old ...*x509.Certificate) (leaf *x509.Certificate) {
	e.T.Helper()
	e.Poll(fmt.Sprintf("a certificate after %d others", len(old)), func() bool {
		var err error
		leaf, err = servedCertificate(e.HTTPS, trusted)
		return err == nil && !containsCertificate(old, leaf)
	})
	return leaf
}

func containsCertificate(list []*x509.Certificate, c *x509.Certificate) bool {
	return slices.ContainsFunc(list, c.Equal)
}

// servedCertificate is the certificate that a TLS handshake over TCP shows.
func servedCertificate(port int, config *tls.Config) (*x509.Certificate, error) {
	d := tls.Dialer{NetDialer: &net.Dialer{Timeout: harness.WaitTimeout}, Config: config}
	ctx, cancel := context.WithTimeout(context.Background(), harness.WaitTimeout)
	defer cancel()
	conn, err := d.DialContext(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return conn.(*tls.Conn).ConnectionState().PeerCertificates[0], nil
}

// certified is a client that notes what happens to its connection.
type certified struct {
	transport client.Transport
	client    *client.Client
	work      sync.WaitGroup
	published int // read after the work

	mu         sync.Mutex
	handshakes []*x509.Certificate // what each showed
	unwanted   []string            // events
	faults     []error
}

func connectCertified(e *harness.Edge, trusted *tls.Config, transport client.Transport, token string) *certified {
	e.T.Helper()
	c := &certified{transport: transport}
	config := trusted.Clone()
	config.VerifyConnection = func(state tls.ConnectionState) error {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.handshakes = append(c.handshakes, state.PeerCertificates[0])
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), harness.WaitTimeout)
	defer cancel()
	var err error
	// Without keep-alive a busy machine makes no connection suspect.
	c.client, err = client.Connect(ctx, []string{e.HttpsURL("")}, client.Options{
		Token: token, Transports: []client.Transport{transport}, ConnectTimeout: harness.WaitTimeout, KeepAlive: -1,
		QueuePolicy: client.EndOnFull, TLS: config, OnEvent: c.Event,
	})
	if err != nil {
		e.T.Fatalf("%s: %v\nthe edge wrote:\n%s", transport, err, e.Output())
	}
	e.T.Cleanup(func() {
		_ = c.client.Close() // end has looked at it
		c.work.Wait()
	})
	return c
}

func (c *certified) Event(event client.Event) {
	switch event.(type) {
	case client.Connected, client.RoundTrip, client.Closed:
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unwanted = append(c.unwanted, fmt.Sprintf("%T%+v", event, event))
}

func (c *certified) fault(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults = append(c.faults, fmt.Errorf(format, args...))
}

// follow requires every message of this many sequences, in order, until their ends.
func (c *certified) follow(t *testing.T, pattern string, sequences int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), harness.WaitTimeout)
	defer cancel()
	s, err := c.client.Subscribe(ctx, "paint.room", pattern)
	if err != nil {
		t.Fatalf("%s: %v", c.transport, err)
	}
	c.work.Go(func() { // ends with the sequences, or the client
		got := map[string]int{}
		for m := range s.Messages() {
			switch want := strconv.Itoa(got[m.Channel] + 1); string(m.Payload) {
			case want:
				got[m.Channel]++
			case "end " + strconv.Itoa(got[m.Channel]):
				sequences--
			default:
				c.fault("got %q on %s in place of %s", m.Payload, m.Channel, want)
				return
			}
			if sequences == 0 {
				return
			}
		}
		c.fault("the subscription ended after %v: %v", got, s.Err())
	})
}

// Publish sends the numbers from 1 until stop is closed, then an "end" with the last one.
func (c *certified) Publish(channel string, stop <-chan struct{}) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	send := func(payload string) bool {
		err := c.client.Publish(context.Background(), "paint.room", channel, []byte(payload))
		if err != nil {
			c.fault("message %s: %w", payload, err)
		}
		return err == nil
	}
	for {
		select {
		case <-stop:
			send(fmt.Sprintf("end %d", c.published))
			return
		case <-tick.C:
		}
		if !send(strconv.Itoa(c.published + 1)) {
			return
		}
		c.published++
	}
}

// roundTrip publishes a message and gets it.
func (c *certified) roundTrip(t *testing.T, channel string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), harness.WaitTimeout)
	defer cancel()
	got := make(chan string, 1)
	if _, err := c.client.SubscribeFunc(ctx, "paint.room", channel, func(m client.Message) { got <- string(m.Payload) }); err != nil {
		t.Fatalf("%s: %v", c.transport, err)
	}
	if err := c.client.Publish(ctx, "paint.room", channel, []byte("here")); err != nil {
		t.Fatalf("%s: %v", c.transport, err)
	}
	select {
	case payload := <-got:
		if payload != "here" {
			t.Errorf("%s: got %q", c.transport, payload)
		}
	case <-ctx.Done():
		t.Fatalf("%s: no message: %v", c.transport, c.client.Err())
	}
}

// End waits for the work, closes the client and requires that nothing has happened to its
// only connection.
func (c *certified) End(t *testing.T) {
	t.Helper()
	timer := time.AfterFunc(harness.WaitTimeout, func() { _ = c.client.Close() }) // which ends the work
	c.work.Wait()
	timer.Stop()
	if err := c.client.Close(); err != nil {
		t.Errorf("%s: %v", c.transport, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.handshakes) != 1 || len(c.unwanted) > 0 || len(c.faults) > 0 {
		t.Errorf("%s: %d connections, events %q, faults %v", c.transport, len(c.handshakes), c.unwanted, c.faults)
	}
}
