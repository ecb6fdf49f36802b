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

	var talks []*talk            // over each transport
	var seen []*x509.Certificate // the latest last
	awaitRenewal := func() {
		t.Helper()
		e.Poll(fmt.Sprintf("a certificate after %d others", len(seen)), func() bool {
			for _, c := range talks {
				c.exchange()
			}
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
	for _, transport := range []client.Transport{client.WebSocket, client.WebTransport} {
		talks = append(talks, begin(e, trusted, transport, token))
	}
	// A soak ends when the sessions have outlived the certificates that they began with.
	for n := 0; n < renewals || harness.Soaking && time.Now().Before(talks[1].shown.NotAfter); n++ {
		old := len(seen)
		awaitRenewal()
		for _, c := range talks {
			fresh := begin(e, trusted, c.transport, token)
			if fresh.exchange(); slices.ContainsFunc(seen[:old], fresh.shown.Equal) {
				t.Errorf("after renewal %d a new session over %s got an old certificate", n+1, c.transport)
			}
			e.Must(fresh.Close())
		}
	}
	t.Logf("%d renewals, %d messages over each transport", len(seen)-1, talks[0].sent)
}

// talk is a client that publishes numbers to itself over its only connection.
type talk struct {
	*client.Client
	e         *harness.Edge
	transport client.Transport
	shown     *x509.Certificate // by the handshake
	messages  *client.Subscription
	channel   string
	sent      int
}

func begin(e *harness.Edge, trusted *tls.Config, transport client.Transport, token string) *talk {
	e.T.Helper()
	c := &talk{e: e, transport: transport, channel: harness.RandomHex()}
	config := trusted.Clone()
	config.VerifyConnection = func(state tls.ConnectionState) error {
		if c.shown != nil {
			e.T.Errorf("%s: a second connection", transport)
			return nil
		}
		c.shown = state.PeerCertificates[0]
		return nil
	}
	ctx, cancel := context.WithTimeout(e.T.Context(), harness.WaitTimeout)
	defer cancel()
	var err error
	// Without keep-alive a busy machine makes no connection suspect.
	c.Client, err = client.Connect(ctx, []string{e.HttpsURL("")}, client.Options{
		Token: token, Transports: []client.Transport{transport}, ConnectTimeout: harness.WaitTimeout, KeepAlive: -1,
		TLS: config, OnEvent: func(event client.Event) {
			switch event.(type) {
			case client.Connected, client.RoundTrip, client.Closed:
			default:
				e.T.Errorf("%s: %T%+v", transport, event, event)
			}
		},
	})
	e.Must(err)
	e.T.Cleanup(func() { _ = c.Close() })
	c.messages, err = c.Subscribe(ctx, "paint.room", c.channel)
	e.Must(err)
	return c
}

// exchange publishes a number, and awaits it.
func (c *talk) exchange() {
	c.e.T.Helper()
	c.sent++
	c.e.Must(c.Publish(c.e.T.Context(), "paint.room", c.channel, []byte(strconv.Itoa(c.sent))))
	select {
	case m := <-c.messages.Messages():
		if string(m.Payload) != strconv.Itoa(c.sent) {
			c.e.T.Fatalf("%s: got %q in place of %d; the subscription: %v", c.transport, m.Payload, c.sent, c.messages.Err())
		}
	case <-time.After(harness.WaitTimeout):
		c.e.T.Fatalf("%s: message %d has not come", c.transport, c.sent)
	}
}
