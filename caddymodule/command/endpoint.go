package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

// Where the packages have their Caddyfile, and the admin endpoint that it names, and Caddy's
// default. Variables for tests.
var (
	packagedCaddyfile = "/etc/millrace/Caddyfile"
	packagedSocket    = "/run/millrace/admin.sock"
	defaultEndpoint   = "localhost:2019"
)

// adminEndpoint is where an edge is administered.
type adminEndpoint struct {
	network, address string // to dial
	base             string // of URLs
	origin           bool   // it wants the header Origin
}

// parseEndpoint reads what --address and $CADDY_ADMIN may be.
func parseEndpoint(text string) (e adminEndpoint, err error) {
	target, err := caddy.ParseNetworkAddress(text)
	if err != nil || target.PortRangeSize() > 1 || !target.IsUnixNetwork() && target.StartPort == 0 {
		return e, errors.New("must be one address like localhost:2019 or unix//run/caddy.sock")
	}
	if target.IsUnixNetwork() {
		path, _, _ := strings.Cut(target.Host, "|")                                // what follows are the socket's permissions
		return adminEndpoint{target.Network, path, "http://127.0.0.1", false}, nil // Caddy accepts this host on its sockets
	}
	address := target.JoinHostPort(0)
	return adminEndpoint{target.Network, address, "http://" + address, true}, nil
}

// findEndpoint returns the admin endpoint of this machine's edge: that of --address or
// $CADDY_ADMIN if one of these is given. Otherwise the first that listens of: what the packages'
// Caddyfile says, or their socket if it cannot be read; and localhost:2019. One that listens
// and lets this user not in ends the search: the next one might be another edge.
func findEndpoint(ctx context.Context, given string) (adminEndpoint, error) {
	option := "--address"
	if admin, has := os.LookupEnv("CADDY_ADMIN"); given == "" && has {
		option, given = "$CADDY_ADMIN", admin
	}
	if given != "" {
		e, err := parseEndpoint(given)
		if err != nil {
			return e, usagef("%s: %w", option, err)
		}
		return e, nil
	}
	var tried []string
	for _, candidate := range candidates() {
		e, err := parseEndpoint(candidate.address)
		if err != nil { // what stands in a Caddyfile, such as off
			tried = append(tried, fmt.Sprintf("%s (%s): %v", candidate.address, candidate.from, err))
			continue
		}
		d := net.Dialer{Timeout: adminTimeout} // also where the answer may take longer
		conn, err := d.DialContext(ctx, e.network, e.address)
		if err == nil {
			return e, conn.Close()
		}
		if ctx.Err() != nil {
			return e, err
		}
		if errors.Is(err, fs.ErrPermission) {
			return e, fmt.Errorf("the admin endpoint %s (%s) lets only root and the edge's user in: use sudo, or name another edge with --address", candidate.address, candidate.from)
		}
		tried = append(tried, fmt.Sprintf("%s (%s): %s", candidate.address, candidate.from, dialError(err)))
	}
	return adminEndpoint{}, fmt.Errorf("no admin endpoint found; tried %s (is the edge running? --address or $CADDY_ADMIN names its endpoint)", strings.Join(tried, ", "))
}

// candidate is where an admin endpoint may be, and why there.
type candidate struct{ address, from string }

func candidates() (list []candidate) {
	text, _ := os.ReadFile(packagedCaddyfile) // without it, or the right to read it, the socket may be there
	if admin := adminOption(text); admin != "" {
		list = append(list, candidate{admin, packagedCaddyfile})
	} else if _, err := os.Stat(packagedSocket); err == nil || errors.Is(err, fs.ErrPermission) {
		list = append(list, candidate{"unix/" + packagedSocket, "the packages' default"})
	}
	return append(list, candidate{defaultEndpoint, "Caddy's default"})
}

// adminOption returns the argument of the global option admin in a Caddyfile; empty: it has
// none, or one that only the edge knows, as a placeholder.
func adminOption(text []byte) string {
	tokens, err := caddyfile.Tokenize(text, packagedCaddyfile)
	if err != nil || len(tokens) == 0 || tokens[0].Text != "{" {
		return ""
	}
	depth := 0
	for i, token := range tokens {
		switch token.Text {
		case "{":
			depth++
		case "}":
			if depth--; depth == 0 {
				return ""
			}
		case "admin":
			if depth == 1 && token.Line != tokens[i-1].Line && i+1 < len(tokens) && tokens[i+1].Line == token.Line && !strings.ContainsAny(tokens[i+1].Text, "{$") {
				return tokens[i+1].Text
			}
		}
	}
	return ""
}

// dialError is why an endpoint cannot be dialed, without its address.
func dialError(err error) string {
	var number syscall.Errno
	if errors.As(err, &number) {
		return number.Error()
	}
	return err.Error()
}
