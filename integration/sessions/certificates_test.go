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
	transports := []client.Transport{client.WebSocket, client.WebTransport}
	var first *x509.Certificate
	var ends []func()
	for _, transport := range transports {
		shown, end := converse(e, trusted, transport, token)
		first, ends = shown, append(ends, end)
	}
	// A soak ends when the sessions have outlived the certificates that they began with.
	for n := 0; n < renewals || harness.Soaking && time.Now().Before(first.NotAfter); n++ {
		old := len(seen)
		awaitRenewal()
		for _, transport := range transports {
			shown, end := converse(e, trusted, transport, token)
			if slices.ContainsFunc(seen[:old], shown.Equal) {
				t.Errorf("after renewal %d a new session over %s got an old certificate", n+1, transport)
			}
			end()
		}
	}
	for _, end := range ends {
		end()
	}
	t.Logf("%d renewals; %v are left to the first certificate", len(seen)-1, time.Until(first.NotAfter).Round(time.Second))
}

// converse connects a client, which publishes numbers to itself. It returns the certificate
// that the edge has shown. end requires that the connection was the only one, and lost nothing.
func converse(e *harness.Edge, trusted *tls.Config, transport client.Transport, token string) (shown *x509.Certificate, end func()) {
	e.T.Helper()
	config := trusted.Clone()
	config.VerifyConnection = func(state tls.ConnectionState) error {
		if shown != nil {
			e.T.Errorf("%s: a second connection", transport)
			return nil
		}
		shown = state.PeerCertificates[0]
		return nil
	}
	ctx, cancel := context.WithTimeout(e.T.Context(), harness.WaitTimeout)
	defer cancel()
	// Without keep-alive a busy machine makes no connection suspect.
	c, err := client.Connect(ctx, []string{e.HttpsURL("")}, client.Options{
		Token: token, Transports: []client.Transport{transport}, ConnectTimeout: harness.WaitTimeout, KeepAlive: -1,
		QueuePolicy: client.EndOnFull, TLS: config, OnEvent: func(event client.Event) {
			switch event.(type) {
			case client.Connected, client.RoundTrip, client.Closed:
			default:
				e.T.Errorf("%s: %T%+v", transport, event, event)
			}
		},
	})
	if err != nil {
		e.T.Fatalf("%s: %v\nthe edge wrote:\n%s", transport, err, e.Output())
	}
	e.T.Cleanup(func() { _ = c.Close() })
	channel := harness.RandomHex()
	s, err := c.Subscribe(ctx, "paint.room", channel)
	e.Must(err)
	stop := make(chan struct{})
	var work sync.WaitGroup
	work.Go(func() {
		for n, last := 0, false; !last; n++ {
			select {
			case <-stop:
				last = true
			case <-time.After(10 * time.Millisecond): // a pace, not a wait
			}
			if err := c.Publish(context.Background(), "paint.room", channel, fmt.Appendf(nil, "%d %v", n, last)); err != nil {
				e.T.Errorf("%s: message %d: %v", transport, n, err)
			}
		}
	})
	work.Go(func() {
		for n, last := 0, false; !last; n++ {
			m, open := <-s.Messages()
			got := -1
			if _, err := fmt.Sscan(string(m.Payload), &got, &last); !open || err != nil || got != n {
				e.T.Errorf("%s: got %q in place of message %d; the subscription: %v", transport, m.Payload, n, s.Err())
				return
			}
		}
	})
	return shown, func() {
		close(stop)
		timer := time.AfterFunc(harness.WaitTimeout, func() { _ = c.Close() }) // which ends the work
		defer timer.Stop()
		work.Wait()
		e.Must(c.Close())
	}
}
