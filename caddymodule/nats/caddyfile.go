package nats

import (
	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/millrace/millrace/caddymodule/args"
)

// unmarshalGuest parses a guest that has a link and options of its own. own parses one of
// these; names lists them, for errors.
func unmarshalGuest(d *caddyfile.Dispenser, what string, l *Link,
	own func(option string) (known bool, err error), names string) error {
	d.Next() // consume the driver's name
	l.Servers = d.RemainingArgs()
	seen := map[string]bool{}
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		option := d.Val()
		if seen[option] {
			return d.Errf("%s is given twice", option)
		}
		seen[option] = true
		known, err := l.unmarshal(d, option)
		if !known {
			known, err = own(option)
		}
		if !known {
			return d.Errf("unknown option %s of %s; allowed: %s, %s", option, what, linkOptions, names)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// unmarshal parses an option of a link, if it is one.
func (l *Link) unmarshal(d *caddyfile.Dispenser, option string) (known bool, err error) {
	switch option {
	case "servers":
		if l.Servers = append(l.Servers, d.RemainingArgs()...); len(l.Servers) == 0 {
			err = d.ArgErr()
		}
	case "credentials":
		l.Credentials, err = args.One(d)
	case "nkey":
		l.NKey, err = args.One(d)
	case "user":
		l.User, err = args.One(d)
	case "password":
		l.Password, err = args.Secret(d)
	case "token":
		l.Token, err = args.Secret(d)
	case "name":
		l.Name, err = args.One(d)
	case "inbox_prefix":
		l.InboxPrefix, err = args.One(d)
	case "reconnect_wait":
		l.ReconnectWait, err = args.Duration(d)
	case "tls":
		l.TLS = new(TLS)
		err = args.Block(d, map[string]*string{"ca": &l.TLS.CA, "cert": &l.TLS.Cert, "key": &l.TLS.Key},
			func(string) (string, error) { return args.One(d) })
		if err == nil && (l.TLS.Cert == "") != (l.TLS.Key == "") {
			err = d.Errf("tls: cert and key belong together")
		}
	case "embedded":
		if _, missing := caddy.GetModule(embeddedModule); missing != nil {
			return true, d.Errf("embedded: this build has no embedded NATS server; build it with github.com/millrace/millrace/caddymodule/embedded")
		}
		guest, err := caddyfile.UnmarshalModule(d, embeddedModule)
		if err != nil {
			return true, err
		}
		l.EmbeddedRaw = caddyconfig.JSON(guest, nil)
	default:
		return false, nil
	}
	return true, err
}

const linkOptions = "servers, credentials, nkey, user, password, token, tls, name, inbox_prefix, reconnect_wait, embedded"
