package command

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/wire"
)

// socketFlags are the flags of the commands that connect to an edge as a client.
type socketFlags struct {
	url, ca, tenant, transport, proxy text
	insecure                          bool
}

const defaultURL = "wss://localhost:8443/ws"

func (f *socketFlags) add(cmd *cobra.Command) {
	f.url, f.tenant = defaultURL, wire.DefaultTenant
	cmd.Flags().Var(&f.url, "url", "the edge: wss:// or ws:// for WebSocket, https:// for either transport; with the path /edges, a list of edges")
	cmd.Flags().Var(&f.transport, "transport", "webtransport or websocket (default: by the scheme of --url; for https:// the first to answer)")
	cmd.Flags().Var(&f.tenant, "tenant", "tenant, by its physical name")
	cmd.Flags().Var(&f.ca, "ca", caUsage)
	cmd.Flags().Var(&f.proxy, "proxy", "forward proxy to go through, like http://host:3128, or none (default: $HTTPS_PROXY unless\n"+
		"$NO_PROXY has the edge, with https:// and wss://; a password goes only there)")
	cmd.Flags().BoolVar(&f.insecure, "insecure", false, "trust any certificate: only for tests, since the token can be stolen")
}

// endpoint is an edge to connect to, with the options of the client.
type endpoint struct {
	address string
	options client.Options
}

// endpoint checks the flags before it reads the token.
func (f *socketFlags) endpoint(cmd *cobra.Command) (endpoint, error) {
	if err := wire.CheckTenant(string(f.tenant)); err != nil {
		return endpoint{}, usagef("--tenant: %w", err)
	}
	e, err := f.target()
	if err != nil {
		return endpoint{}, err
	}
	if e.options.TLS, err = f.tlsConfig(); err != nil {
		return endpoint{}, err
	}
	e.options.Token, err = readToken(cmd)
	return e, err
}

// target returns the edge that --url and --transport name.
func (f *socketFlags) target() (endpoint, error) {
	u, err := url.Parse(string(f.url))
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return endpoint{}, usagef("--url: must be like %s or https://localhost:8443, without user and query", defaultURL)
	}
	// The user who writes ws:// or http:// asks for plaintext.
	e := endpoint{options: client.Options{AllowPlaintext: true, FailFast: true, Transports: []client.Transport{client.WebSocket}}}
	switch u.Scheme {
	case "ws", "wss":
		if u.Path != "/" {
			e.options.Paths.WebSocket = u.Path
		}
		u.Scheme, u.Path = strings.Replace(u.Scheme, "ws", "http", 1), ""
	case "https", "http":
		if u.Path == "/ws" || u.Path == "/wt" { // as for bench; client.Connect would take the path for a list of edges
			u.Path = ""
		}
		if u.Scheme == "https" {
			e.options.Transports = nil // both
		}
	default:
		return endpoint{}, usagef("--url: must begin with wss://, ws://, https:// or http://")
	}
	if strings.Contains(string(f.proxy), "@") {
		return endpoint{}, usagef("--proxy: must have no user and password, which other users of this machine could see: put such a URL into $HTTPS_PROXY")
	}
	e.address, e.options.Proxy = u.String(), string(f.proxy)
	switch f.transport {
	case "":
	case text(client.WebSocket):
		e.options.Transports = []client.Transport{client.WebSocket}
	case text(client.WebTransport):
		if e.options.Transports != nil {
			return endpoint{}, usagef("--transport: webtransport needs a URL with https://")
		}
		e.options.Transports = []client.Transport{client.WebTransport}
	default:
		return endpoint{}, usagef("--transport: must be webtransport or websocket")
	}
	return e, nil
}

// tlsConfig returns the TLS configuration that --ca and --insecure ask for.
func (f *socketFlags) tlsConfig() (*tls.Config, error) {
	if f.ca != "" && f.insecure {
		return nil, usagef("--ca and --insecure cannot be combined")
	}
	roots, err := rootCAs(string(f.ca))
	return &tls.Config{InsecureSkipVerify: f.insecure, RootCAs: roots}, err
}

const caUsage = "file with the certificate authority to trust (PEM) instead of the system's"

// rootCAs are those of the file that --ca names; nil: the system's.
func rootCAs(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("--ca: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, usagef("--ca: the file holds no certificate in PEM form")
	}
	return roots, nil
}

// explain says why a client ended or could not connect, in the words of the protocol.
func explain(err error) error {
	var (
		e       *client.Error
		unknown x509.UnknownAuthorityError
	)
	switch {
	case errors.As(err, &unknown):
		return fmt.Errorf("%w (--ca names a certificate authority to trust)", err)
	case !errors.As(err, &e):
		return err
	case e.Status != 0:
		return fmt.Errorf("the edge refused the connection: %s (%d %s)", plain(e.Text), e.Status, plain(string(e.Code)))
	case e.Close != 0:
		reason := string(e.Code)
		if e.Code == client.CodeDisconnected {
			reason = e.Text
		}
		return fmt.Errorf("the edge closed the connection: %d %s", e.Close, plain(reason))
	}
	return err
}

// refusal returns the ERR line that answered a command.
func refusal(code client.Code, command, tenant, name string) string {
	return plain(fmt.Sprintf("ERR:%s:%s:%s:%s", code, command, tenant, name))
}
