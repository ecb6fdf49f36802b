package command

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"

	"github.com/millrace/millrace/caddymodule/demo"
)

// demo returns what the demo page needs to know of the edge.
func (d *devEdge) demo() demo.Edge {
	return demo.Edge{
		HTTPPort:  d.httpPort,
		HTTPSPort: d.httpsPort,
		Issue: func(ctx context.Context) (token string, expiresIn int64, err error) {
			got, err := d.issue(ctx, "dev demo", "", demo.Lifetime)
			return got.Token, got.ExpiresIn, err
		},
		Certificate: d.certificate,
	}
}

// certificate gets the certificate from the HTTPS port each time: the edge replaces it
// before it expires.
func (d *devEdge) certificate(ctx context.Context) (*x509.Certificate, error) {
	config, err := d.tlsConfig()
	if err != nil {
		return nil, err
	}
	dialer := tls.Dialer{Config: config}
	ctx, cancel := context.WithTimeout(ctx, adminTimeout)
	defer cancel()
	conn, err := dialer.DialContext(ctx, "tcp", fmt.Sprintf("localhost:%d", d.httpsPort))
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	secured, ok := conn.(*tls.Conn)
	if !ok {
		return nil, errors.New("the connection is not TLS") // excluded by the documentation of tls.Dialer
	}
	return secured.ConnectionState().PeerCertificates[0], nil
}
