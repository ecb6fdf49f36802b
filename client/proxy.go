package client

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/net/http/httpproxy"
)

// NoProxy is the value of [Options.Proxy] and [WithProxy] with which edges are reached directly,
// whatever the environment says.
const NoProxy = "none"

// proxies says through which forward proxy an edge is reached. It is not changed.
type proxies struct {
	option      *proxy                           // for all edges; nil: what the environment says
	environment *proxy                           // nil: none
	applies     func(*url.URL) (*url.URL, error) // whether that of the environment does, by NO_PROXY
}

// proxy is one that speaks HTTP.
type proxy struct {
	url *url.URL
	err *Error // the environment names one that cannot be used
}

// newProxies reads the environment, unless an option says which proxy there is.
func newProxies(option string) (p proxies, err error) {
	switch option {
	case NoProxy:
		return p, nil
	case "":
		environment := httpproxy.FromEnvironment()
		if environment.HTTPSProxy == "" {
			return p, nil
		}
		p.environment = &proxy{}
		p.environment.url, p.environment.err = parseProxy("HTTPS_PROXY", environment.HTTPSProxy)
		environment.HTTPSProxy = "http://proxy" // its own says nothing where it cannot be parsed
		p.applies = environment.ProxyFunc()
		return p, nil
	}
	u, wrong := parseProxy("Proxy", option)
	if wrong != nil {
		return p, wrong
	}
	p.option = &proxy{url: u}
	return p, nil
}

// parseProxy parses the URL of a proxy. The error does not repeat it: a password may be in it.
func parseProxy(source, text string) (*url.URL, *Error) {
	text = strings.TrimSpace(text) // a variable from a file may end with a line break
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "" {
		return nil, badOption("%s is not the URL of a proxy: it is like http://host:3128 or http://user:password@host:3128, with special characters of the password as %%XX, or https://…; Proxy: %q uses none", source, NoProxy)
	}
	return u, nil
}

// of returns the proxy for an address, a host and a port, that is used with TLS or without; nil: none. That of
// the environment is for TLS alone, and not for loopback.
func (p proxies) of(secure bool, address string) *proxy {
	if p.environment == nil || !secure {
		return p.option
	}
	if through, err := p.applies(&url.URL{Scheme: "https", Host: address}); through == nil && err == nil {
		return nil
	}
	return p.environment
}

// ofEdge returns the proxy for an edge.
func (p proxies) ofEdge(origin string) *proxy { return p.of(secure(origin), hostPort(origin)) }

// address is where the proxy listens.
func (p *proxy) address() string {
	if p.url.Port() != "" {
		return p.url.Host
	}
	return net.JoinHostPort(p.url.Hostname(), map[string]string{"http": "80", "https": "443"}[p.url.Scheme])
}

// maxProxyAnswer bounds what a proxy may answer, in bytes.
const maxProxyAnswer = 64 << 10

// connect opens a connection to address through the proxy (RFC 9110, section 9.3.6).
func (p *proxy) connect(ctx context.Context, network *Network, config *tls.Config, address string) (net.Conn, error) {
	if p.err != nil {
		return nil, p.err
	}
	var conn net.Conn
	var err error
	if p.url.Scheme == "https" {
		config = config.Clone()
		config.ServerName, config.NextProtos = p.url.Hostname(), []string{"http/1.1"}
		conn, err = network.dialTLS(ctx, "tcp", p.address(), config)
	} else {
		conn, err = network.Dial(ctx, "tcp", p.address())
	}
	if err != nil {
		return nil, p.failed("cannot be reached", err)
	}
	unwatch := context.AfterFunc(ctx, func() { _ = conn.Close() })
	err = p.ask(conn, address)
	if !unwatch() {
		err = p.failed("does not answer", ctx.Err())
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

// ask asks for a tunnel.
func (p *proxy) ask(conn net.Conn, address string) error {
	request := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: address}, Host: address, Header: http.Header{"User-Agent": {"millrace"}}}
	if user := p.url.User; user != nil {
		password, _ := user.Password()
		login := base64.StdEncoding.EncodeToString([]byte(user.Username() + ":" + password))
		request.Header.Set("Proxy-Authorization", "Basic "+login)
	}
	if err := request.Write(conn); err != nil {
		return p.failed("does not answer", err)
	}
	reader := bufio.NewReader(io.LimitReader(conn, maxProxyAnswer))
	res, err := http.ReadResponse(reader, request)
	if err != nil {
		return p.failed("does not answer as an HTTP proxy does", err)
	}
	_ = res.Body.Close()                                                                                    // is not read
	unwanted := res.StatusCode == http.StatusProxyAuthRequired || res.StatusCode == http.StatusUnauthorized // tinyproxy's, for a wrong password
	switch {
	case unwanted && p.url.User == nil:
		return p.failed(fmt.Sprintf("asks for a user and a password (HTTP status %d)", res.StatusCode), nil)
	case unwanted:
		return p.failed(fmt.Sprintf("does not accept the user and the password (HTTP status %d)", res.StatusCode), nil)
	case res.StatusCode/100 != 2:
		return p.failed(fmt.Sprintf("does not connect to %s (HTTP status %d)", address, res.StatusCode), nil)
	case reader.Buffered() > 0:
		return p.failed("sent more than its answer", nil) // an edge waits for its client
	}
	return nil
}

// failed is the error of a proxy. It has no password.
func (p *proxy) failed(what string, err error) error {
	return &Error{Code: CodeUnreachable, Text: fmt.Sprintf("the proxy %s %s", p.address(), what), Err: err}
}

// dialer opens the TCP connections to edges, through proxies where there are some.
type dialer struct {
	network *Network
	proxies proxies
	tls     *tls.Config // without NextProtos
}

// plain opens a connection without TLS.
func (d dialer) plain(ctx context.Context, _, address string) (net.Conn, error) {
	return d.open(ctx, false, address)
}

// secure opens a connection with TLS, for these protocols.
func (d dialer) secure(ctx context.Context, address string, protocols ...string) (net.Conn, error) {
	conn, err := d.open(ctx, true, address)
	if err != nil {
		return nil, err
	}
	config := d.tls.Clone()
	config.NextProtos = protocols
	if config.ServerName == "" {
		config.ServerName, _, _ = net.SplitHostPort(address) // it has both
	}
	return handshake(ctx, conn, config)
}

func (d dialer) open(ctx context.Context, secure bool, address string) (net.Conn, error) {
	if p := d.proxies.of(secure, address); p != nil {
		return p.connect(ctx, d.network, d.tls, address)
	}
	return d.network.Dial(ctx, "tcp", address)
}

// handshake makes TLS of a connection, which it closes if that fails.
func handshake(ctx context.Context, conn net.Conn, config *tls.Config) (net.Conn, error) {
	secured := tls.Client(conn, config)
	if err := secured.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return secured, nil
}

// unreachable is the error for a connection that cannot be opened. What a proxy says is said alone.
func unreachable(what string, err error) error {
	var own *Error
	if errors.As(err, &own) {
		return own
	}
	return &Error{Code: CodeUnreachable, Text: what, Err: err}
}

// noLink is the error of a transport over which no link to an edge came up.
func noLink(transport, origin string, err error) error {
	var authority x509.UnknownAuthorityError
	if errors.As(err, &authority) {
		return &Error{Code: CodeUnreachable, Text: "the certificate of " + origin + " is of an authority that this machine does not trust: set Options.TLS with RootCAs", Err: err}
	}
	return unreachable("no "+transport+" to the edge", err)
}
