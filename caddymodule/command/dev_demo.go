package command

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"

	"github.com/millrace/millrace/caddymodule/demo"
)

// demo is what the edge's page is told and given.
func (d *devEdge) demo() demo.Edge {
	return demo.Edge{
		HTTPPort:  d.httpPort,
		HTTPSPort: d.httpsPort,
		Issue: func(ctx context.Context) (token, expiresAt string, err error) {
			got, err := d.issue(ctx, "dev demo", demo.Lifetime)
			return got.Token, got.ExpiresAt, err
		},
		Certificate: d.certificate,
	}
}

// certificate asks the HTTPS port itself, each time: the edge makes a new one
// while the last is still good.
func (d *devEdge) certificate(ctx context.Context) (*x509.Certificate, error) {
	trust, err := d.trust()
	if err != nil {
		return nil, err
	}
	dialer := tls.Dialer{Config: trust}
	ctx, cancel := context.WithTimeout(ctx, adminPatience)
	defer cancel()
	conn, err := dialer.DialContext(ctx, "tcp", fmt.Sprintf("localhost:%d", d.httpsPort))
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	secured, ok := conn.(*tls.Conn)
	if !ok {
		return nil, errors.New("the connection is not TLS") // as its documentation excludes
	}
	return secured.ConnectionState().PeerCertificates[0], nil
}
