package command

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/millrace/millrace/caddymodule/demo"
	"github.com/millrace/millrace/tokenstore"
)

// demoCreator marks the tokens of the demo page.
const demoCreator = "dev demo"

// demo returns what the demo page needs to know of the edge.
func (d *devEdge) demo() demo.Edge {
	return demo.Edge{
		HTTPPort:  d.httpPort,
		HTTPSPort: d.httpsPort,
		Issue: func(ctx context.Context, subject string) (demo.Token, error) {
			got, err := d.issue(ctx, demoCreator, subject, demo.Lifetime)
			return demo.Token{Secret: got.Token, ID: got.TokenID, ExpiresIn: got.ExpiresIn}, err
		},
		Revoke:      d.revokeDemo,
		Certificate: d.certificate,
	}
}

// revokeDemo revokes a token of the demo page.
func (d *devEdge) revokeDemo(ctx context.Context, id string) error {
	if !tokenstore.IsID(id) { // the list also takes the beginning of an id
		return demo.ErrNotGiven
	}
	answer, err := callAdmin(ctx, d.admin, http.MethodGet, "/pubsub/tokens?"+url.Values{
		"id": {id}, "created_by": {demoCreator}, "status": {tokenstore.StatusValid},
	}.Encode(), nil)
	if err != nil {
		return err
	}
	var list struct {
		Tokens []json.RawMessage `json:"tokens"`
	}
	if err := json.Unmarshal(answer, &list); err != nil {
		return err
	}
	if len(list.Tokens) == 0 {
		return demo.ErrNotGiven
	}
	_, err = callAdmin(ctx, d.admin, http.MethodDelete, tokenPath(id), nil)
	return err
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
