package nats

import (
	"context"
	"fmt"
	"net"
	"time"

	nats "github.com/nats-io/nats.go"

	"github.com/millrace/millrace/internal/dial"
)

// A connection that breaks silently is noticed after this many pings without an answer.
const (
	pingInterval        = 2 * time.Second
	maxPingsOutstanding = 2
)

// options returns the options of a connection, whose name ends with purpose. release is
// called when it is closed.
func (l *Link) options(purpose string) (list []nats.Option, release func() error, err error) {
	name := l.Name
	if name == "" {
		name = "millrace"
	}
	list = []nats.Option{
		nats.Name(name + " " + purpose),
		nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.IgnoreAuthErrorAbort(),
		nats.PingInterval(pingInterval), nats.MaxPingsOutstanding(maxPingsOutstanding),
	}
	if l.InboxPrefix != "" {
		list = append(list, nats.CustomInboxPrefix(l.InboxPrefix))
	}
	switch {
	case l.Credentials != "":
		list = append(list, nats.UserCredentials(l.Credentials))
	case l.NKey != "":
		option, err := nats.NkeyOptionFromSeed(l.NKey)
		if err != nil {
			return nil, nil, fmt.Errorf("nkey: %w", err)
		}
		list = append(list, option)
	case l.User != "":
		list = append(list, nats.UserInfo(l.resolved.user, l.resolved.password))
	case l.Token != "":
		list = append(list, nats.Token(l.resolved.token))
	}
	if t := l.TLS; t != nil {
		list = append(list, nats.Secure())
		if t.CA != "" {
			list = append(list, nats.RootCAs(t.CA))
		}
		if t.Cert != "" {
			list = append(list, nats.ClientCert(t.Cert, t.Key))
		}
	}
	if l.server == nil {
		// NATS's client would look names up without a limit, and holds its lock meanwhile.
		names := dial.NewPatient()
		return append(list, nats.SkipHostLookup(), nats.SetCustomDialer(dialer{names})), func() error {
			names.Close()
			return nil
		}, nil
	}
	inProcess, release, err := l.server.OpenServer()
	if err != nil {
		return nil, nil, fmt.Errorf("embedded NATS server: %w", err)
	}
	return append(list, inProcess), release, nil
}

// dialer is a nats.CustomDialer.
type dialer struct{ names *dial.Patient }

// Dial implements nats.CustomDialer.
func (d dialer) Dial(_, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), nats.DefaultTimeout)
	defer cancel()
	return d.names.Dial(ctx, address)
}
