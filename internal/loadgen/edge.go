package loadgen

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"sync/atomic"

	"github.com/millrace/millrace/wire"
)

// The transports of an edge.
const (
	WebSocket    = "websocket"
	WebTransport = "webtransport"
)

// EdgeOptions say which edge to measure, and with which token.
type EdgeOptions struct {
	URL       string // ws:// or wss://, or https:// for WebTransport; without a path it is /ws, or /wt
	Transport string // WebSocket or WebTransport; empty: what the URL's scheme says
	Token     string // access token, a secret
	Tenant    string // by its physical name; empty: ~
	CAFile    string // PEM certificates to trust instead of the system's; empty: those
	Insecure  bool   // trust any certificate; only for hosts on loopback

	// CapKBPerSec is the token's ingress and egress cap, for the warning of Advise. 0:
	// not known.
	CapKBPerSec int
}

// Target checks all options except the token, and sets those that follow from others. The
// error is an *OptionError, or says that the CA file cannot be read.
func (o EdgeOptions) Target() (*EdgeTarget, error) {
	u, err := url.Parse(o.URL)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, &OptionError{"url", "like wss://localhost:8443/ws, without user and query"}
	}
	switch {
	case o.Transport == "" && u.Scheme == "https":
		o.Transport = WebTransport
	case o.Transport == "":
		o.Transport = WebSocket
	case o.Transport != WebSocket && o.Transport != WebTransport:
		return nil, &OptionError{"transport", WebSocket + " or " + WebTransport}
	}
	path := "/ws"
	switch {
	case o.Transport == WebSocket && u.Scheme != "ws" && u.Scheme != "wss":
		return nil, &OptionError{"url", "ws:// or wss:// for WebSocket, and https:// for WebTransport"}
	case o.Transport == WebTransport && u.Scheme != "https":
		return nil, &OptionError{"url", "https:// for WebTransport"}
	case o.Transport == WebTransport:
		path = "/wt"
	}
	if u.Path == "" {
		u.Path = path
	}
	if o.Tenant == "" {
		o.Tenant = wire.DefaultTenant
	}
	if err := wire.CheckTenant(o.Tenant); err != nil {
		return nil, &OptionError{"tenant", "a legal name: " + err.Error()}
	}
	t := &EdgeTarget{EdgeOptions: o, URL: u, TLS: &tls.Config{InsecureSkipVerify: o.Insecure, ServerName: u.Hostname()}}
	if o.Insecure && !onLoopback(u.Hostname()) {
		return nil, &OptionError{"insecure", "left out for hosts that are not on loopback: the token could be stolen"}
	}
	if o.CAFile == "" {
		return t, nil
	}
	if o.Insecure {
		return nil, &OptionError{"ca", "left out with insecure"}
	}
	pem, err := os.ReadFile(o.CAFile)
	if err != nil {
		return nil, fmt.Errorf("ca: %w", err)
	}
	t.TLS.RootCAs = x509.NewCertPool()
	if !t.TLS.RootCAs.AppendCertsFromPEM(pem) {
		return nil, &OptionError{"ca", "a file with a certificate in PEM form"}
	}
	return t, nil
}

func onLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// An EdgeTarget is checked EdgeOptions.
type EdgeTarget struct {
	EdgeOptions
	URL *url.URL
	TLS *tls.Config // without protocols; to be cloned
}

// EdgeDriver returns a driver for a Millrace edge. If the options are wrong, Dial returns
// the error; Target returns it earlier.
func EdgeDriver(o EdgeOptions) Driver {
	target, err := o.Target()
	return &edgeDriver{target: target, err: err}
}

type edgeDriver struct {
	target *EdgeTarget
	err    error
	// resolved is the address that answered first. Without it, each dial would try the
	// other addresses of the name again.
	resolved atomic.Pointer[string]
}

func (d *edgeDriver) Dial(ctx context.Context) (Conn, error) {
	if d.err != nil {
		return nil, d.err
	}
	var (
		l   link
		err error
	)
	if d.target.Transport == WebTransport {
		l, err = d.dialWebTransport(ctx)
	} else {
		l, err = d.dialWebSocket(ctx)
	}
	if err != nil {
		return nil, err
	}
	return &edgeConn{link: l, tenant: []byte(d.target.Tenant)}, nil
}

// OnLoopback reports whether the edge is certainly on this machine.
func (t *EdgeTarget) OnLoopback() bool { return onLoopback(t.URL.Hostname()) }

// header returns the header of a handshake beyond what its protocol requires.
func (t *EdgeTarget) header() http.Header {
	return http.Header{"Authorization": {"Bearer " + t.Token}}
}

// hostPort returns the address to connect to.
func (t *EdgeTarget) hostPort() string {
	if t.URL.Port() != "" {
		return t.URL.Host
	}
	if t.URL.Scheme == "ws" {
		return net.JoinHostPort(t.URL.Hostname(), "80")
	}
	return net.JoinHostPort(t.URL.Hostname(), "443")
}

// refused returns the error for a handshake with this answer.
func refused(res *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(res.Body, 4096)) // may be truncated: then the detail is lost
	return &RefusedError{Status: res.StatusCode, Body: body}
}

// A RefusedError is the edge's answer to a handshake that it refused.
type RefusedError struct {
	Status int
	Body   []byte // application/problem+json; may be truncated or empty
}

func (e *RefusedError) Error() string {
	return "the edge refused a connection: " + problemText(e.Status, e.Body)
}
