package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// adminFlags are the flags of every command that administers a running edge.
type adminFlags struct {
	address text
	json    bool
}

func (f *adminFlags) add(cmd *cobra.Command) {
	f.addAddress(cmd)
	cmd.Flags().BoolVar(&f.json, "json", false, "print the answer as JSON")
}

// addAddress adds the flags without --json.
func (f *adminFlags) addAddress(cmd *cobra.Command) {
	cmd.Flags().Var(&f.address, "address", "admin endpoint of the edge, an address or a socket like unix//run/caddy.sock. Default:\n"+
		"$CADDY_ADMIN, or what /etc/millrace/Caddyfile says, or unix//run/millrace/admin.sock,\n"+
		"or localhost:2019")
}

// call calls the admin API and prints its answer: with --json as it is, else by show,
// which decodes it.
func (f *adminFlags) call(cmd *cobra.Command, method, path string, body any, show func(answer []byte) error) error {
	answer, err := callAdmin(cmd.Context(), string(f.address), method, path, body)
	if err != nil {
		return err
	}
	if f.json {
		_, err := cmd.OutOrStdout().Write(answer)
		return err
	}
	return show(answer)
}

// adminTimeout bounds one call of the admin API. A purge rewrites the files of a store, and may
// take much longer.
const (
	adminTimeout = 30 * time.Second
	purgeTimeout = time.Hour
)

const purgePath = "/pubsub/histories/purge"

func timeoutOf(path string) time.Duration {
	if path == purgePath {
		return purgeTimeout
	}
	return adminTimeout
}

// encode writes a query with a space as %20: a plus may mean itself or a space, and is refused where
// the tokens of a subject are revoked.
func encode(query url.Values) string { return strings.ReplaceAll(query.Encode(), "+", "%20") }

// callAdmin calls the admin API with body as JSON. A refusal is an error with the text of
// the edge.
func callAdmin(ctx context.Context, address, method, path string, body any) ([]byte, error) {
	var content io.Reader
	if method != http.MethodGet {
		if body == nil {
			body = struct{}{}
		}
		encoded, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		content = bytes.NewReader(encoded)
	}
	ctx, cancel := context.WithTimeout(ctx, timeoutOf(path))
	defer cancel()
	stream, err := openAdmin(ctx, address, method, path, "application/json", content)
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	answer, err := io.ReadAll(io.LimitReader(stream, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("admin endpoint %s: %w", address, err)
	}
	return answer, nil
}

// maxAnswer bounds, in bytes, an answer of the admin API other than a backup.
const maxAnswer = 64 << 20

// openAdmin calls the admin API, and returns the body of its answer, or an error if it
// refused. The caller closes the body.
func openAdmin(ctx context.Context, address, method, path, contentType string, content io.Reader) (io.ReadCloser, error) {
	e, err := findEndpoint(ctx, address)
	if err != nil {
		return nil, err
	}
	address = e.address
	req, err := http.NewRequestWithContext(ctx, method, e.base+path, content)
	if err != nil {
		return nil, usagef("--address: must be one address like localhost:2019 or unix//run/caddy.sock")
	}
	req.Header.Set("Content-Type", contentType)
	if e.origin {
		req.Header.Set("Origin", e.base)
	}
	transport := &http.Transport{ // no proxy: the call goes only to this endpoint
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			d := net.Dialer{Timeout: adminTimeout} // also where the answer may take longer
			return d.DialContext(ctx, e.network, e.address)
		},
		DisableKeepAlives: true,
	}
	res, err := transport.RoundTrip(req) // follows no redirect
	if err != nil {
		var op *net.OpError
		if errors.As(err, &op) && op.Op == "dial" {
			return nil, fmt.Errorf("no admin endpoint at %s: %w (is the edge running? --address names another endpoint)", address, op.Err)
		}
		return nil, fmt.Errorf("admin endpoint %s: %w", address, err)
	}
	if res.StatusCode/100 == 2 {
		return res.Body, nil
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("admin endpoint %s: %w", address, err)
	}
	return nil, errors.New(refusalText(res.StatusCode, answer))
}

// refusalText returns the text of a refusal: the detail of a problem body, or the error
// of Caddy's own admin API.
func refusalText(status int, body []byte) string {
	var refusal struct{ Detail, Code, Error string }
	if json.Unmarshal(body, &refusal) == nil {
		switch {
		case refusal.Detail != "":
			return fmt.Sprintf("%s (%d %s)", plain(refusal.Detail), status, plain(refusal.Code))
		case refusal.Error != "":
			return fmt.Sprintf("%s (%d)", plain(refusal.Error), status)
		}
	}
	return fmt.Sprintf("the answer was %d %s; is this the admin endpoint of an edge?", status, http.StatusText(status))
}
