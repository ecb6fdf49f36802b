package embedded

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"time"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/nats-io/nats-server/v2/server"

	"github.com/millrace/millrace/caddymodule/args"
)

// Cluster is a set of servers with routes between all of them.
type Cluster struct {
	// Name of the cluster, the same on all servers.
	Name string `json:"name"`
	// Listen is the address for the other servers, `host:port`.
	Listen string `json:"listen"`
	// Routes are URLs of other servers' addresses, `nats://host:6222`. One running
	// server is enough.
	Routes []string `json:"routes"`
	// User and Password with which the servers log in to each other. Password is a
	// placeholder. Default: none, which is allowed only on a loopback address: whoever
	// reaches routes without a password joins the cluster.
	User     string `json:"user,omitempty"`
	Password string `json:"password,omitempty" placeholders:"kept"`
	// TLS of the routes. Default: none; passwords, tokens and messages are then
	// unencrypted.
	TLS *ClusterTLS `json:"tls,omitempty"`
}

// ClusterTLS is the TLS of routes, where each server presents a certificate. Either all
// servers of a cluster have it, or none. Cert and Key are read again for each route, so
// that they can be renewed; CA is read when the server starts.
type ClusterTLS struct {
	// CA is the path of a file with the authority of the servers' certificates. It must
	// sign nothing else, since every certificate that it signed is accepted.
	CA string `json:"ca"`
	// Cert and Key are the paths of this server's certificate and of its key. The
	// certificate is for server and client authentication, and for the hosts in the
	// other servers' routes.
	Cert string `json:"cert"`
	Key  string `json:"key"`
}

// A route that breaks silently is noticed after this many pings without an answer, and
// dialed again every second or two. Otherwise only TCP would notice it, whose
// retransmissions back off the longer they fail, and which would then deliver old data.
const (
	routePingInterval        = 2 * time.Second
	routeMaxPingsOutstanding = 2
)

// routeTLSTimeout bounds a TLS handshake of a route, as nats-server does by default.
const routeTLSTimeout = 2 * time.Second

// apply sets the options of a server in this cluster.
func (c *Cluster) apply(o *server.Options) (err error) {
	o.Host, o.Port = "127.0.0.1", server.RANDOM_PORT // nats-server opens no routes before its client listener
	o.Cluster.NoAdvertise = true
	o.Cluster.PingInterval, o.Cluster.MaxPingsOut = routePingInterval, routeMaxPingsOutstanding
	if !name.MatchString(c.Name) {
		return errors.New("cluster: the name must be 1 to 128 letters, digits, dots, _ and -")
	}
	o.Cluster.Name = c.Name
	if o.Cluster.Host, o.Cluster.Port, err = splitHostPort("cluster.listen", c.Listen); err != nil {
		return err
	}
	if (c.User == "") != (c.Password == "") {
		return errors.New("cluster: user and password belong together")
	}
	if c.Password == "" && !isLoopback(o.Cluster.Host) {
		return fmt.Errorf("cluster: needs user and password, since it listens at %s: whoever reaches the routes joins the cluster, and gets all tokens and messages. "+
			"Only a loopback address like 127.0.0.1:6222 needs none", c.Listen)
	}
	if c.Password != "" && !args.Placeholder.MatchString(c.Password) {
		return errors.New("cluster.password: must be a placeholder like {env.NATS_SECRET} or {file./run/secrets/nats}, not the secret itself")
	}
	password, err := args.Replace(c.Password)
	if err != nil {
		return fmt.Errorf("cluster.password: %w", err)
	}
	o.Cluster.Username, o.Cluster.Password = c.User, password
	if c.TLS != nil {
		if o.Cluster.TLSConfig, err = c.TLS.config(); err != nil {
			return fmt.Errorf("cluster.tls: %w", err)
		}
		o.Cluster.TLSTimeout = routeTLSTimeout.Seconds()
	}
	if len(c.Routes) == 0 {
		return errors.New("cluster.routes: needs the URL of another server, like nats://host:6222")
	}
	for i, text := range c.Routes {
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "nats" || u.Host == "" || u.User != nil {
			return fmt.Errorf("cluster.routes: number %d must be a URL like nats://host:6222, without user and password", i+1)
		}
		if c.User != "" {
			u.User = url.UserPassword(c.User, password)
		}
		o.Routes = append(o.Routes, u)
	}
	return nil
}

// config returns the configuration of the routes. It reads the files once, to report errors
// in them early.
func (t *ClusterTLS) config() (*tls.Config, error) {
	if t.CA == "" || t.Cert == "" || t.Key == "" {
		return nil, errors.New("needs ca, cert and key")
	}
	pem, err := os.ReadFile(t.CA)
	if err != nil {
		return nil, fmt.Errorf("ca: %w", err)
	}
	authorities := x509.NewCertPool()
	if !authorities.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("ca: %s has no certificate in PEM", t.CA)
	}
	load := func() (*tls.Certificate, error) {
		pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
		return &pair, err
	}
	if _, err := load(); err != nil {
		return nil, fmt.Errorf("cert and key: %w", err)
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: authorities, RootCAs: authorities,
		GetCertificate:       func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return load() },
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return load() },
	}, nil
}

func splitHostPort(option, address string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(address)
	if err == nil {
		port, err = strconv.Atoi(text)
	}
	if err != nil || port < 1 || port > 65535 {
		return "", 0, fmt.Errorf("%s: must be host:port", option)
	}
	return host, port, nil
}

// isLoopback reports whether only this machine reaches a host.
func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// unmarshal parses the block of `cluster`.
func (c *Cluster) unmarshal(d *caddyfile.Dispenser) (err error) {
	if c.Name, err = args.One(d); err != nil {
		return err
	}
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		switch option := d.Val(); option {
		case "listen":
			c.Listen, err = args.One(d)
		case "routes":
			c.Routes = append(c.Routes, d.RemainingArgs()...)
		case "user":
			c.User, err = args.One(d)
		case "password":
			c.Password, err = args.Secret(d)
		case "tls":
			c.TLS = new(ClusterTLS)
			err = c.TLS.unmarshal(d)
		default:
			err = d.Errf("unknown option %s of cluster; allowed: listen, routes, user, password, tls", option)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *ClusterTLS) unmarshal(d *caddyfile.Dispenser) (err error) {
	if d.NextArg() {
		return d.ArgErr()
	}
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		switch option := d.Val(); option {
		case "ca":
			t.CA, err = args.One(d)
		case "cert":
			t.Cert, err = args.One(d)
		case "key":
			t.Key, err = args.One(d)
		default:
			err = d.Errf("unknown option %s of tls; allowed: ca, cert, key", option)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
