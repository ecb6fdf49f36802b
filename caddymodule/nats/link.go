// Package nats has the guests that use NATS: the [Broker] that connects edges, the [Store]
// of tokens in a bucket of JetStream, and the [HistoryStore] in its streams. The first two
// have a [Link], to other servers or to the one embedded in the edge, which is a guest of
// its own: [Server]. The third one uses the link of the broker.
package nats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	nats "github.com/nats-io/nats.go"

	"github.com/millrace/millrace/caddymodule/args"
	"github.com/millrace/millrace/caddymodule/guest"
)

// Link says how an edge reaches a NATS system: a server, a cluster, or a leaf
// node.
type Link struct {
	// Servers are URLs: `nats://host:4222`, `tls://…`, `ws://…`, `wss://…`. One that
	// answers is enough; it names the others of its cluster. They may hold
	// placeholders. Default: `nats://127.0.0.1:4222`.
	Servers []string `json:"servers,omitempty" placeholders:"kept"`

	// Credentials is the path of a file with a JWT and its key. Default: none.
	Credentials string `json:"credentials,omitempty"`
	// NKey is the path of a file with the seed of an NKey. Default: none.
	NKey string `json:"nkey,omitempty"`
	// User and Password, or Token, for a server that requires them. Password and Token
	// are placeholders, as `{env.NATS_PASSWORD}`. Default: none.
	User     string `json:"user,omitempty"`
	Password string `json:"password,omitempty" placeholders:"kept"`
	Token    string `json:"token,omitempty" placeholders:"kept"`

	// TLS of connections to the servers, beside what the URL's scheme asks for.
	TLS *TLS `json:"tls,omitempty"`

	// Name of the connections, for operators of the servers. Default:
	// `millrace`.
	Name string `json:"name,omitempty"`
	// InboxPrefix of the subjects on which the servers answer, tokens joined by dots.
	// If each edge has a prefix of its own, its permissions can exclude the answers to
	// other edges. Default: `_INBOX`.
	InboxPrefix string `json:"inbox_prefix,omitempty"`
	// ReconnectWait between two attempts to reach a server, 10ms to 1m. Default,
	// and zero: 500ms.
	ReconnectWait caddy.Duration `json:"reconnect_wait,omitempty"`

	// Embedded is a NATS server inside the edge, in place of Servers: the module
	// `pubsub.nats.embedded`, which a build may leave out. Default: none.
	EmbeddedRaw json.RawMessage `json:"embedded,omitempty"`

	server   Server
	resolved resolvedLink
}

// TLS configures connections to servers whose certificate the system does not trust, or
// which require a certificate of the client.
type TLS struct {
	// CA is the path of a file with the authorities of the servers' certificates.
	// Default: the system's.
	CA string `json:"ca,omitempty"`
	// Cert and Key are paths of this client's certificate and its key. Default:
	// none.
	Cert string `json:"cert,omitempty"`
	Key  string `json:"key,omitempty"`
}

// Server is the guest of `embedded`.
type Server interface {
	// ServerKey identifies the server: links with an equal key share it. It holds
	// no secret.
	ServerKey() string
	// NeedsLogin reports whether clients have to log in with the credentials of the
	// link. If not, the server recognizes this process without them.
	NeedsLogin() bool
	// OpenServer starts the server, or returns the running one. The option connects to
	// it inside the process; release ends its use.
	OpenServer() (connect nats.Option, release func() error, err error)
	// Storing reports whether the running server takes part in storing tokens; known is
	// false if none runs, or if it has no such part.
	Storing() (storing, known bool)
	// Members and RemoveMember are those of the running server, as in [guest.MemberKeeper].
	guest.MemberKeeper
}

// resolvedLink is a link without placeholders.
type resolvedLink struct {
	servers               string
	user, password, token string
}

// embeddedModule is the ID of the guest of `embedded`.
const embeddedModule = "pubsub.nats.embedded"

const (
	defaultServer        = "nats://127.0.0.1:4222"
	defaultReconnectWait = 500 * time.Millisecond
)

// linkState is how much of a link a configuration names.
type linkState int

const (
	linkUnset    linkState = iota // nothing
	linkPartial                   // options without a server
	linkComplete                  // with a server
)

func (l *Link) state() linkState {
	switch {
	case len(l.Servers) > 0 || len(l.EmbeddedRaw) > 0:
		return linkComplete
	case reflect.ValueOf(*l).IsZero():
		return linkUnset
	}
	return linkPartial
}

// Storing implements [guest.StorageReporter].
func (l *Link) Storing() (storing, known bool) {
	if l.server == nil {
		return false, false
	}
	return l.server.Storing()
}

// Members implements [guest.MemberKeeper].
func (l *Link) Members() (q guest.Quorum, known bool) {
	if l.server == nil {
		return q, false
	}
	return l.server.Members()
}

// RemoveMember implements [guest.MemberKeeper].
func (l *Link) RemoveMember(ctx context.Context, name string, how guest.RemoveOptions) (guest.Removal, error) {
	if l.server == nil {
		return guest.Removal{}, guest.ErrNoMembers
	}
	return l.server.RemoveMember(ctx, name, how)
}

func (l *Link) provision(ctx caddy.Context) error {
	if len(l.EmbeddedRaw) > 0 {
		if len(l.Servers) > 0 {
			return errors.New("embedded: no other servers can be named beside it")
		}
		guest, err := ctx.LoadModuleByID(embeddedModule, l.EmbeddedRaw)
		if err != nil {
			return fmt.Errorf("embedded: %w", err)
		}
		l.server = guest.(Server)
		if l.TLS != nil {
			return errors.New("embedded: tls is for other servers; this one is reached inside the process")
		}
		if !l.server.NeedsLogin() && (l.Credentials != "" || l.NKey != "" || l.User != "" || l.Token != "") {
			return errors.New("embedded: credentials, nkey, user, password and token are for a server with a config of its own")
		}
	}
	if l.ReconnectWait == 0 {
		l.ReconnectWait = caddy.Duration(defaultReconnectWait)
	}
	if wait := time.Duration(l.ReconnectWait); wait < 10*time.Millisecond || wait > time.Minute {
		return errors.New("reconnect_wait: must be from 10ms to 1m")
	}
	if l.InboxPrefix != "" && (len(l.InboxPrefix) > 128 || !subjectPattern.MatchString(l.InboxPrefix)) {
		return errors.New("inbox_prefix: must be tokens of letters, digits, _ and -, joined by dots, up to 128 bytes")
	}
	logins := 0
	for _, login := range []string{l.Credentials, l.NKey, l.User, l.Token} {
		if login != "" {
			logins++
		}
	}
	if logins > 1 || (l.User == "") != (l.Password == "") {
		return errors.New("credentials, nkey, user with password, and token are four ways to authenticate: use one")
	}
	for option, path := range map[string]string{"credentials": l.Credentials, "nkey": l.NKey} {
		if path == "" {
			continue
		}
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("%s: %w", option, err)
		}
	}
	return l.resolve()
}

// resolve replaces the placeholders of secrets. Their values appear in no error.
func (l *Link) resolve() error {
	r := &l.resolved
	r.user = l.User
	for _, o := range []struct {
		name, from string
		to         *string
	}{
		{"password", l.Password, &r.password},
		{"token", l.Token, &r.token},
	} {
		if o.from != "" && !args.Placeholder.MatchString(o.from) {
			return fmt.Errorf("%s: must be a placeholder like {env.NATS_SECRET} or {file./run/secrets/nats}, not the secret itself", o.name)
		}
		value, err := args.Replace(o.from)
		if err != nil {
			return fmt.Errorf("%s: %w", o.name, err)
		}
		*o.to = value
	}
	servers := l.Servers
	if len(servers) == 0 {
		servers = []string{defaultServer}
	}
	var list []string
	for i, text := range servers {
		value, err := args.Replace(text)
		if err != nil {
			return fmt.Errorf("server %d: %w", i+1, err)
		}
		u, err := url.Parse(value)
		switch {
		case err != nil || u.Host == "" || u.Path != "" && u.Path != "/":
			return fmt.Errorf("server %d: must be a URL like nats://host:4222", i+1)
		case strings.Contains(value, ","):
			return fmt.Errorf("server %d: must be one URL; a comma in a password is written %%2C", i+1)
		case u.Scheme != "nats" && u.Scheme != "tls" && u.Scheme != "ws" && u.Scheme != "wss":
			return fmt.Errorf("server %d: the scheme must be nats, tls, ws or wss", i+1)
		case u.User != nil && !args.Placeholder.MatchString(text):
			return fmt.Errorf("server %d: no user or password in the URL; use the options user and password", i+1)
		}
		list = append(list, value)
	}
	r.servers = strings.Join(list, ",")
	return nil
}

// key identifies the link: links with equal keys can share a broker or a store. A secret
// that has changed makes another key.
func (l *Link) key() string {
	r := l.resolved
	secrets := guest.KeyedHash(r.servers, r.user, r.password, r.token)
	key := string(caddyconfig.JSON(l, nil)) + secrets
	if l.server != nil {
		key += l.server.ServerKey()
	}
	return key
}

var (
	_ guest.StorageReporter = (*Link)(nil)
	_ guest.MemberKeeper    = (*Link)(nil)
)
