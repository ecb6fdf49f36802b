package command

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/gorilla/websocket"
	"github.com/millrace/millrace/wire"
	"github.com/spf13/cobra"
)

// socketFlags are those of the commands that are clients of an edge.
type socketFlags struct {
	url, ca, tenant text
	insecure        bool
}

const defaultURL = "wss://localhost:8443/ws"

func (f *socketFlags) add(cmd *cobra.Command) {
	f.url, f.tenant = defaultURL, wire.DefaultTenant
	cmd.Flags().Var(&f.url, "url", "the edge's WebSocket address, wss:// or ws://")
	cmd.Flags().Var(&f.tenant, "tenant", "tenant, by its physical name")
	cmd.Flags().Var(&f.ca, "ca", "file with the certificate authority to trust (PEM) instead of the system's")
	cmd.Flags().BoolVar(&f.insecure, "insecure", false, "trust any certificate: for tests alone, the token can be stolen")
}

// endpoint is whom to connect to, and as whom.
type endpoint struct {
	url    string
	header http.Header
	tls    *tls.Config
}

// endpoint checks the flags before it asks for the token.
func (f *socketFlags) endpoint(cmd *cobra.Command) (endpoint, error) {
	if err := wire.CheckTenant(string(f.tenant)); err != nil {
		return endpoint{}, usagef("--tenant: %w", err)
	}
	u, err := url.Parse(string(f.url))
	if err != nil || u.Scheme != "ws" && u.Scheme != "wss" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return endpoint{}, usagef("--url: must be like %s, wss or ws, without user and query", defaultURL)
	}
	if u.Path == "" {
		u.Path = "/ws"
	}
	e := endpoint{url: u.String(), tls: &tls.Config{InsecureSkipVerify: f.insecure}}
	if f.ca != "" {
		if f.insecure {
			return endpoint{}, usagef("--ca and --insecure exclude each other")
		}
		pem, err := os.ReadFile(string(f.ca))
		if err != nil {
			return endpoint{}, fmt.Errorf("--ca: %w", err)
		}
		e.tls.RootCAs = x509.NewCertPool()
		if !e.tls.RootCAs.AppendCertsFromPEM(pem) {
			return endpoint{}, usagef("--ca: the file holds no certificate in PEM form")
		}
	}
	token, err := readToken(cmd)
	if err != nil {
		return endpoint{}, err
	}
	e.header = http.Header{"Authorization": {"Bearer " + token}}
	return e, nil
}

const (
	dialPatience  = 15 * time.Second
	writePatience = 15 * time.Second
	silence       = 60 * time.Second // the edge pings every 25 s
	readLimit     = 32 << 20         // bytes; above every edge's payload limit
)

// dial opens a WebSocket.
func (e endpoint) dial(ctx context.Context) (*websocket.Conn, error) {
	dialer := websocket.Dialer{ // no proxy: the token goes to whom the user named
		TLSClientConfig:  e.tls,
		HandshakeTimeout: dialPatience,
		Subprotocols:     []string{wire.Subprotocol},
	}
	conn, res, err := dialer.DialContext(ctx, e.url, e.header)
	if res != nil {
		defer res.Body.Close()
	}
	if err != nil {
		var unknown x509.UnknownAuthorityError
		switch {
		case errors.Is(err, websocket.ErrBadHandshake) && res != nil:
			body, _ := io.ReadAll(res.Body) // at most 1,024 bytes; may be cut
			return nil, fmt.Errorf("the edge refused the connection: %s", refusalText(res.StatusCode, body))
		case errors.As(err, &unknown):
			return nil, fmt.Errorf("%w (--ca names a certificate authority to trust)", err)
		}
		return nil, err
	}
	conn.SetReadLimit(readLimit)
	heard := func() error { return conn.SetReadDeadline(time.Now().Add(silence)) }
	conn.SetPingHandler(func(data string) error {
		err := conn.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(writePatience))
		return errors.Join(err, heard())
	})
	return conn, heard()
}

// send writes one message. One goroutine at a time may call it.
func send(conn *websocket.Conn, kind int, message []byte) error {
	if err := conn.SetWriteDeadline(time.Now().Add(writePatience)); err != nil {
		return err
	}
	return conn.WriteMessage(kind, message)
}

// leave says goodbye; the edge answers by closing.
func leave(conn *websocket.Conn) {
	goodbye := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
	if conn.WriteControl(websocket.CloseMessage, goodbye, time.Now().Add(time.Second)) != nil {
		conn.Close()
		return
	}
	_ = conn.SetReadDeadline(time.Now().Add(time.Second)) // a closed one needs none
}

// closeText says how a connection ended.
func closeText(err error) string {
	var closed *websocket.CloseError
	if errors.As(err, &closed) && closed.Code != websocket.CloseAbnormalClosure {
		return fmt.Sprintf("the edge closed the connection: %d %s", closed.Code, plain(closed.Text))
	}
	return fmt.Sprintf("the connection broke: %v", err)
}
