package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/millrace/millrace/wire"
)

// Transport is what carries a connection.
type Transport string

// The transports.
const (
	WebTransport Transport = "webtransport" // over HTTP/3, on the edge's HTTPS port (UDP)
	WebSocket    Transport = "websocket"
)

// QueuePolicy says what happens to a message for a subscription whose queue is
// full.
type QueuePolicy string

// The policies.
const (
	DropOldest QueuePolicy = "drop-oldest" // the oldest message of the queue makes room
	DropNewest QueuePolicy = "drop-newest" // the message is dropped
	EndOnFull  QueuePolicy = "end"         // the subscription ends with ErrQueueFull
)

// Options of [Connect]. The zero value of each is its default.
type Options struct {
	// Token is an access token. Either this or TokenProvider is required.
	Token string
	// TokenProvider gives a token instead. It is asked when the client connects,
	// again when eight to nine tenths of the time to the expiry that it gave have
	// passed, at random, so that many clients do not ask at once,
	// when an edge says that the token has expired or does not accept it, and by [Client.RenewToken]. From the
	// end of a call to the next one it is a second at least. The context ends after
	// ConnectTimeout. No two calls run at the same time. It may call the client, except
	// for RenewToken. If its error is [ErrLoggedOut], as [errors.Is] finds it, the client ends with
	// that code at once; after all other errors it is asked again.
	TokenProvider func(ctx context.Context) (AccessToken, error)

	// Transports that may be used, the preferred one first. Default: WebTransport,
	// then WebSocket.
	Transports []Transport
	// FallbackAfter is when the second transport starts beside the first. It starts
	// at once when the first fails. Default: 2 s. Beside a suspect connection it is
	// half a second.
	FallbackAfter time.Duration
	// ConnectTimeout bounds each attempt to connect to an edge. Default: 10 s.
	ConnectTimeout time.Duration
	// FailFast has [Connect] try each edge once, and then return the error. Default: it tries
	// again until its context ends, while that may help.
	FailFast bool

	// KeepAlive is how long nothing may come before a PING asks, and up to a sixteenth
	// more, so that clients do not ask in step. The client asks earlier while something
	// is expected, in an unusual silence of 1 to 3 s: messages have come within 10 s, or
	// an answer is owed. And it asks within 1 s after a publish that nothing has proved
	// to be read. Default: 25 s; negative: the client never asks by itself.
	KeepAlive time.Duration
	// PongTimeout is how long the answer may take, beside KeepAlive: a connection that
	// nothing comes on is lost after both together. It is suspect long before, see
	// [Suspect]. What was sent before the PING adds the time in which the edge reads it,
	// as fast as it has shown to; until then each KiB adds a second. Default: 10 s.
	PongTimeout time.Duration

	// MinBackOff and MaxBackOff bound the pauses between attempts to reconnect.
	// Default: 250 ms and 15 s.
	MinBackOff, MaxBackOff time.Duration

	// Queue is how many messages may wait in each subscription. Default: 1,024.
	Queue int
	// QueuePolicy says what happens when they are more. Default: DropOldest.
	QueuePolicy QueuePolicy

	// Sender asks the edges who has published each message, see [Message.Sender].
	Sender bool

	// Paths on the edges' sites.
	Paths Paths

	// TLS has the certificates to trust and what else a TLS client can set. It is
	// cloned; NextProtos is replaced. Default: the system's certificates.
	TLS *tls.Config
	// AllowPlaintext accepts http:// for hosts that are not on loopback, although
	// the token can be read on the way.
	AllowPlaintext bool
	// Proxy is the URL of a forward proxy through which all edges are reached, over WebSocket by
	// CONNECT: http://host:3128, or with a user and a password http://user:password@host:3128.
	// Default: the one of the environment variable HTTPS_PROXY, for https:// addresses that are
	// neither on loopback nor in NO_PROXY; both are read by Connect. [NoProxy]: none. A proxy has
	// no UDP, so an edge behind one is not tried over WebTransport; where Transports has
	// WebTransport alone, it is tried without the proxy of the environment.
	Proxy string
	// Network opens the connections, in tests: of these, the environment's proxy is for none.
	// Default: that of the machine.
	Network *Network

	// OnEvent is called for what happens to the connection, one event after the
	// other, from a goroutine of its own: it may take its time, and may call the
	// client. If 1,024 events wait for it, further ones are dropped, Closed excepted.
	// Default: what is lost or refused is said to Logger, once for each event and code.
	OnEvent func(Event)
	// Logger is for what is said where OnEvent is nil: warnings, without payloads and tokens.
	// Default: slog.Default. slog.New(slog.DiscardHandler) is silent.
	Logger *slog.Logger
}

// handler is what is called for each event.
func (s *settings) handler() func(Event) {
	if s.OnEvent != nil {
		return s.OnEvent
	}
	l := &loud{logger: s.Logger, said: map[string]bool{}}
	return l.event
}

// AccessToken is what a token provider gives. As JSON it is what a backend has got from an edge or
// from [TokenAdmin.Issue]: see [AccessToken.UnmarshalJSON].
type AccessToken struct {
	Token string
	// ExpiresIn is the lifetime, from now on: no clock of a day matters for it. 0: not given.
	ExpiresIn time.Duration
	// ExpiresAt counts where no lifetime is given. It is read by the clock of this machine, and renewed
	// too late where that is slow; a time in the past is ignored. Zero: not known.
	ExpiresAt time.Time
}

// UnmarshalJSON reads what an edge answers to get-token, and what TokenAdmin of any SDK returns: token,
// expires_in or expiresIn in seconds or like "15m", expires_at or expiresAt in RFC 3339; token_id,
// tokenId and clamped are ignored. Any other member is an error, and so is a number that is no
// lifetime.
func (t *AccessToken) UnmarshalJSON(data []byte) error {
	var given struct {
		Token   string          `json:"token"`
		In      json.RawMessage `json:"expires_in"`
		InToo   json.RawMessage `json:"expiresIn"`
		At      time.Time       `json:"expires_at"`
		AtToo   time.Time       `json:"expiresAt"`
		ID      json.RawMessage `json:"token_id"`
		IDToo   json.RawMessage `json:"tokenId"`
		Clamped json.RawMessage `json:"clamped"`
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&given); err != nil {
		return badOption("the token is an object with token, and perhaps expires_in (seconds) or expires_at (RFC 3339): %v", err)
	}
	in, err := lifetime(cmp.Or(string(given.InToo), string(given.In)))
	if err != nil {
		return err
	}
	*t = AccessToken{Token: given.Token, ExpiresIn: in, ExpiresAt: given.AtToo}
	if t.ExpiresAt.IsZero() {
		t.ExpiresAt = given.At
	}
	return nil
}

// lifetime reads a number of seconds or a string like "1h30m", as JSON has it.
func lifetime(text string) (time.Duration, error) {
	if text == "" || text == "null" {
		return 0, nil
	}
	in, err := time.ParseDuration(text + "s")
	if text[0] == '"' {
		in, err = time.ParseDuration(strings.Trim(text, `"`))
	}
	if err != nil || in <= 0 {
		return 0, badOption("expires_in is above 0: seconds, or a string like 15m")
	}
	return in, nil
}

// Paths of the edges' endpoints, each beginning with a slash.
type Paths struct {
	WebSocket    string // default: /ws
	WebTransport string // default: /wt
	Ping         string // default: /ping
}

// settings are options that were checked and completed.
type settings struct {
	Options
	tls     *tls.Config // never nil, without NextProtos
	dialer  dialer
	dial    dialFunc
	measure func(ctx context.Context, client *http.Client, url string) (time.Duration, error)
	watch   *watcher // nil: nobody looks whether the machine slept
}

func (o Options) settings() (*settings, error) {
	switch {
	case o.Token == "" && o.TokenProvider == nil:
		return nil, badOption("neither Token nor TokenProvider is given: a Token is an access token (AT_…) as TokenAdmin.Issue or `millrace pubsub token issue` gives it; is its environment variable set?")
	case o.Token != "" && o.TokenProvider != nil:
		return nil, badOption("both Token and TokenProvider are given: keep TokenProvider, which gives the next token in time")
	}
	if o.Token != "" {
		if err := checkToken(o.Token); err != nil {
			return nil, err
		}
	}
	if len(o.Transports) == 0 {
		o.Transports = []Transport{WebTransport, WebSocket}
	}
	o.Transports = slices.Clone(o.Transports)
	for i, t := range o.Transports {
		if t != WebTransport && t != WebSocket || slices.Contains(o.Transports[:i], t) {
			return nil, badOption("Transports[%d] is %q: webtransport and websocket are allowed, each once%s", i, t, nearest(string(t), string(WebTransport), string(WebSocket)))
		}
	}
	for _, d := range []struct {
		name     string
		value    *time.Duration
		standard time.Duration
	}{
		{"FallbackAfter", &o.FallbackAfter, 2 * time.Second},
		{"ConnectTimeout", &o.ConnectTimeout, 10 * time.Second},
		{"KeepAlive", &o.KeepAlive, 25 * time.Second},
		{"PongTimeout", &o.PongTimeout, 10 * time.Second},
		{"MinBackOff", &o.MinBackOff, 250 * time.Millisecond},
		{"MaxBackOff", &o.MaxBackOff, 15 * time.Second},
	} {
		if *d.value == 0 {
			*d.value = d.standard
		}
		if *d.value < 0 && d.name != "KeepAlive" {
			return nil, badOption("%s is %v: it must not be negative; 0 means %v", d.name, *d.value, d.standard)
		}
	}
	o.MaxBackOff = max(o.MaxBackOff, o.MinBackOff)
	if o.Queue == 0 {
		o.Queue = 1024
	}
	if o.QueuePolicy == "" {
		o.QueuePolicy = DropOldest
	}
	if err := checkQueue(o.Queue, o.QueuePolicy); err != nil {
		return nil, err
	}
	for _, p := range []struct {
		name     string
		value    *string
		standard string
	}{
		{"WebSocket", &o.Paths.WebSocket, "/ws"},
		{"WebTransport", &o.Paths.WebTransport, "/wt"},
		{"Ping", &o.Paths.Ping, "/ping"},
	} {
		if *p.value == "" {
			*p.value = p.standard
		}
		if !strings.HasPrefix(*p.value, "/") || strings.ContainsAny(*p.value, "?#") {
			return nil, badOption("Paths.%s is %q: it must begin with a slash, like %s, and have no query", p.name, *p.value, p.standard)
		}
	}
	s := &settings{Options: o, tls: &tls.Config{}}
	if o.TLS != nil {
		s.tls = o.TLS.Clone()
	}
	s.tls.NextProtos = nil
	s.dial, s.measure, s.watch = s.dialLink, ping3, processWatch
	switch n := o.Network; {
	case n == nil:
		s.Network = machine
	case n.Dial == nil || n.DialPacket == nil:
		return nil, badOption("a Network needs both Dial and DialPacket")
	default:
		s.watch = nil
		if s.Proxy == "" {
			s.Proxy = NoProxy
		}
	}
	proxies, err := newProxies(s.Proxy)
	if err != nil {
		return nil, err
	}
	if proxies.option != nil && !slices.Contains(s.Transports, WebSocket) {
		return nil, badOption("WebTransport does not go through a Proxy: Transports needs websocket")
	}
	s.dialer = dialer{s.Network, proxies, s.tls}
	return s, nil
}

// hasHTTP3 reports whether an edge may be reached over WebTransport: with TLS, and not through a
// proxy.
func (s *settings) hasHTTP3(origin string) bool {
	return secure(origin) && (s.dialer.proxies.ofEdge(origin) == nil || !slices.Contains(s.Transports, WebSocket))
}

// features is the line that turns on what the client wants of an edge.
func (s *settings) features() []byte {
	if s.Sender {
		return []byte(wire.LineFeaturesSender + furtherFeatures)
	}
	return []byte(wire.LineFeatures + furtherFeatures)
}

// furtherFeatures are those that the client always turns on.
const furtherFeatures = "," + wire.FeatureWorkQueue + "," + wire.FeatureOwn + "," + wire.FeatureReasons

func checkQueue(n int, policy QueuePolicy) error {
	if n < 1 || n > 1<<20 {
		return badOption("a queue of %d: 1 to 1,048,576 messages are allowed; 0 means 1,024", n)
	}
	switch policy {
	case DropOldest, DropNewest, EndOnFull:
		return nil
	}
	return badOption("the queue policy %q is unknown: drop-oldest, drop-newest and end are allowed%s", policy, nearest(string(policy), string(DropOldest), string(DropNewest), string(EndOnFull)))
}
