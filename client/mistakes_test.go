package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/edgetest"
	"github.com/millrace/millrace/internal/testcheck"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/tokenstore"
)

var update = flag.Bool("update", false, "write testdata/mistakes.json")

// mistake is what the SDK says of one: an error with its code, or a warning on the logger, or why Go makes it impossible.
type mistake struct {
	Code       string `json:"code,omitempty"`
	Text       string `json:"text,omitempty"`
	Said       string `json:"said,omitempty"`
	Impossible string `json:"impossible,omitempty"`
}

// blunderer makes mistakes.
type blunderer struct {
	*testing.T
	edge *edgetest.Edge
	log  chan string // what was said
}

const room = "demo.room"

// all permits more than most mistakes need.
var all = []edgetest.TokenOption{
	edgetest.In(room, "demo.hall"), edgetest.Publish("news.#", "chat.#", "jobs.*"), edgetest.Subscribe("news.#", "chat.#", "jobs.*", "room.*"),
	edgetest.ReadHistory("chat.#"), edgetest.SeePresence("room.*"), edgetest.Subject("ada"),
}

func (b *blunderer) options(change ...func(*client.Options)) client.Options {
	o := client.Options{
		Token: b.edge.Token(all...), FailFast: true, TLS: b.edge.TLS(), Network: b.edge.Network(edgetest.ClientAddress),
		Transports: []client.Transport{client.WebSocket}, Logger: slog.New(slog.NewTextHandler(said{b.log}, &slog.HandlerOptions{ReplaceAttr: timeless})),
	}
	for _, f := range change {
		f(&o)
	}
	return o
}

// said takes the lines of a logger.
type said struct{ to chan string }

func (s said) Write(line []byte) (int, error) {
	s.to <- strings.TrimSpace(string(line))
	return len(line), nil
}

func timeless(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey || a.Key == slog.LevelKey {
		return slog.Attr{}
	}
	return a
}

// dial connects with these options to an address; empty: the edge's.
func (b *blunderer) dial(address string, change ...func(*client.Options)) error {
	if address == "" {
		address = b.edge.URL()
	}
	c, err := client.Connect(b.Context(), []string{address}, b.options(change...))
	if err == nil {
		c.Close()
	}
	return err
}

// local is dial over the machine's loopback.
func (b *blunderer) local(address string) error {
	return b.dial(address, func(o *client.Options) { o.Network, o.TLS, o.Proxy = nil, nil, client.NoProxy })
}

func (b *blunderer) client(change ...func(*client.Options)) *client.Client {
	b.Helper()
	c, err := client.Connect(b.Context(), []string{b.edge.URL()}, b.options(change...))
	testcheck.Must(b.T, err)
	b.Cleanup(func() { c.Close() })
	return c
}

// next is what is said next.
func (b *blunderer) next() error { return warning(<-b.log) }

// warning is not an error of a call.
type warning string

func (w warning) Error() string { return string(w) }

func token(opts ...edgetest.TokenOption) func(b *blunderer) error {
	return func(b *blunderer) error {
		return b.dial("", func(o *client.Options) { o.Token = b.edge.Token(append(slices.Clone(all), opts...)...) })
	}
}

func tokenText(text string) func(b *blunderer) error {
	return func(b *blunderer) error { return b.dial("", func(o *client.Options) { o.Token = text }) }
}

func at(address string) func(b *blunderer) error {
	return func(b *blunderer) error { return b.dial(address) }
}

func option(f func(*client.Options)) func(b *blunderer) error {
	return func(b *blunderer) error { return b.dial("", f) }
}

func provider(f func(ctx context.Context) (client.AccessToken, error)) func(b *blunderer) error {
	return option(func(o *client.Options) { o.Token, o.TokenProvider = "", f })
}

// server answers everything on loopback.
func (b *blunderer) server(status int, kind, body string) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	b.Cleanup(s.Close)
	return s.URL
}

func (b *blunderer) tlsServer() string {
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // handshakes that fail are wanted
	s.StartTLS()
	b.Cleanup(s.Close)
	return s.URL
}

func answers(status int, kind, body string) func(b *blunderer) error {
	return func(b *blunderer) error { return b.local(b.server(status, kind, body)) }
}

// endpoint has a token endpoint answer so.
func endpoint(status int, kind, body string) func(b *blunderer) error {
	return func(b *blunderer) error {
		return b.dial("", func(o *client.Options) {
			o.Token, o.TokenProvider = "", client.TokenFrom(b.server(status, kind, body)+"/token")
		})
	}
}

func publish(tenant, channel string, opts ...client.PublishOption) func(b *blunderer) error {
	return func(b *blunderer) error {
		_, err := b.client().PublishConfirmed(b.Context(), tenant, channel, []byte("hello"), opts...)
		return err
	}
}

func subscribe(tenant, pattern string, opts ...client.SubscribeOption) func(b *blunderer) error {
	return func(b *blunderer) error {
		_, err := b.client().Subscribe(b.Context(), tenant, pattern, opts...)
		return err
	}
}

func (b *blunderer) issue(change func(*client.IssueRequest)) error {
	admin := b.admin(strings.Repeat("0", 32))
	r := client.IssueRequest{CreatedBy: "me", ExpiresIn: time.Hour, Grants: []client.Grant{{Tenants: []string{room}, Subscribe: []string{"news.#"}}}}
	change(&r)
	_, err := admin.Issue(b.Context(), r)
	return err
}

func (b *blunderer) admin(secret string) *client.TokenAdmin {
	b.Helper()
	admin, err := client.NewTokenAdmin(b.edge.URL(), "MT_"+strings.Repeat("0", 32)+"_"+secret, client.WithHTTPClient(b.edge.HTTP()),
		client.WithLogger(slog.New(slog.NewTextHandler(said{b.log}, &slog.HandlerOptions{ReplaceAttr: timeless}))))
	testcheck.Must(b.T, err)
	return admin
}

func issue(change func(*client.IssueRequest)) func(b *blunderer) error {
	return func(b *blunderer) error { return b.issue(change) }
}

func grant(change func(*client.Grant)) func(b *blunderer) error {
	return issue(func(r *client.IssueRequest) { change(&r.Grants[0]) })
}

// impossible are mistakes that do not compile, or that no program makes in Go.
var impossible = map[string]string{
	"address-not-a-string":      "an address is a string: anything else does not compile",
	"provider-response":         "a provider returns an AccessToken: an *http.Response does not compile",
	"provider-not-a-function":   "TokenProvider is a function: anything else does not compile",
	"option-unknown":            "Options is a struct: an unknown field does not compile",
	"option-duration-text":      "a duration is a time.Duration: a text does not compile",
	"option-duration-too-large": "every time.Duration can be waited for",
	"option-paths":              "Paths is a struct: an unknown field does not compile",
	"event-unknown":             "OnEvent gets all events, by their types: an unknown type does not compile",
	"event-handler":             "OnEvent is a function: anything else does not compile",
	"tenant-missing":            "Publish has five parameters: a call with fewer does not compile",
	"publish-payload-type":      "a payload is a []byte: anything else does not compile",
	"publish-payload-cyclic":    "a payload is a []byte, which json.Marshal has made or refused",
	"publish-key-unconfirmed":   "WithKey is an option of PublishConfirmed alone",
	"subscribe-history-form":    "a history is a From, which Now, Last, LastN and After make",
	"subscribe-option":          "options are functions of this package: an unknown one does not compile",
	"sender-off":                "Sender is a field: nobody sees that it is read; its comment names Options.Sender",
	"receive-twice":             "a channel may have several readers, each message goes to one of them",
	"admin-browser":             "Go's SDK does not run in pages",
	"admin-unknown-member":      "Grant is a struct: an unknown field does not compile",
	"option-transports-empty":   "an empty list is the zero value, which means the default",
}

var mistakes = map[string]func(b *blunderer) error{
	"address-ws-scheme":        at("ws://localhost:8080"),
	"address-wss-scheme":       at("wss://edge.example.com"),
	"address-ws-path":          at("http://localhost:8080/ws"),
	"address-wt-path":          at("https://localhost:8443/wt"),
	"address-ws-url":           at("ws://localhost:8080/ws"),
	"address-no-scheme":        at("localhost:8080"),
	"address-empty":            func(b *blunderer) error { _, err := client.Connect(b.Context(), []string{""}, b.options()); return err },
	"address-none":             func(b *blunderer) error { _, err := client.Connect(b.Context(), nil, b.options()); return err },
	"address-other-scheme":     at("mqtt://localhost:8080"),
	"address-user-password":    at("https://ada:s3cret@edge.example.com"),
	"address-token-in-query":   at("https://edge.example.com?token=AT_s3cret"),
	"address-bad-port":         at("http://localhost:99999"),
	"address-space":            at("https://edge example.com"),
	"address-plaintext-remote": at("http://edge.example.com"),
	"address-unknown-name":     at("https://nowhere.test"),
	"address-nobody-listens": func(b *blunderer) error {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		testcheck.Must(b.T, err)
		l.Close()
		return b.local("http://" + l.Addr().String())
	},
	"address-not-an-edge-404":  answers(404, "text/plain", "not found"),
	"address-not-an-edge-page": answers(200, "text/html", "<!doctype html>"),
	"address-bad-gateway":      answers(502, "text/plain", "bad gateway"),
	"address-https-to-http": func(b *blunderer) error {
		return b.local(strings.Replace(b.server(200, "text/plain", ""), "http", "https", 1))
	},
	"address-http-to-https": func(b *blunderer) error { return b.local(strings.Replace(b.tlsServer(), "https", "http", 1)) },
	"address-untrusted":     func(b *blunderer) error { return b.local(b.tlsServer()) },

	"token-missing":        tokenText(""),
	"token-empty":          tokenText(""),
	"token-garbage":        tokenText("secret123"),
	"token-master":         tokenText("MT_0123"),
	"token-bearer":         tokenText("Bearer AT_0123"),
	"token-whitespace":     tokenText("AT_0123\n"),
	"token-json":           tokenText(`{"token":"AT_0123"}`),
	"token-placeholder":    tokenText("${MILLRACE_TOKEN}"),
	"token-unknown":        tokenText("AT_" + strings.Repeat("0", 32) + "_" + strings.Repeat("0", 32)),
	"token-wrong-ip":       token(edgetest.Right(func(r *tokenstore.Right) { r.AllowIPMasks = []string{"10.0.0.0/8"} })),
	"token-wrong-origin":   token(edgetest.Right(func(r *tokenstore.Right) { r.AllowedWSOrigin = []string{"https://app.example.com"} })),
	"token-wrong-region":   token(edgetest.Right(func(r *tokenstore.Right) { r.AllowRegions = []string{"US"} })),
	"token-wrong-protocol": token(edgetest.Right(func(r *tokenstore.Right) { r.AllowProtocols = []string{"webtransport"} })),
	"token-without-tls":    answers(403, "application/problem+json", `{"code":"tls_required","detail":"tokens are accepted over HTTPS only"}`),
	"token-and-provider": option(func(o *client.Options) {
		o.TokenProvider = func(context.Context) (client.AccessToken, error) { return client.AccessToken{}, nil }
	}),
	"token-expired": func(b *blunderer) error {
		token := b.edge.Token(append(slices.Clone(all), edgetest.ExpiresIn(2*time.Second))...)
		c := b.client(func(o *client.Options) { o.Token = token })
		<-c.Done()
		return b.dial("", func(o *client.Options) { o.Token = token })
	},
	"token-revoked": func(b *blunderer) error {
		token := b.edge.Token(all...)
		b.edge.Revoke(token)
		return b.dial("", func(o *client.Options) { o.Token = token })
	},

	"provider-fails": provider(func(context.Context) (client.AccessToken, error) {
		return client.AccessToken{}, errors.New("the database is away")
	}),
	"provider-nothing": provider(func(context.Context) (client.AccessToken, error) { return client.AccessToken{}, nil }),
	"provider-unknown-member": provider(func(context.Context) (t client.AccessToken, err error) {
		return t, json.Unmarshal([]byte(`{"token":"AT_0123","expires":3600}`), &t)
	}),
	"provider-error-text": endpoint(403, "text/plain", "Ada has not paid"),
	"provider-page":       endpoint(200, "text/html", "<!doctype html>"),
	"provider-master": provider(func(context.Context) (client.AccessToken, error) {
		return client.AccessToken{Token: "MT_0123"}, nil
	}),
	"provider-lifetime": provider(func(context.Context) (t client.AccessToken, err error) {
		return t, json.Unmarshal([]byte(`{"token":"AT_0123","expires_in":"soon"}`), &t)
	}),
	"provider-silent": option(func(o *client.Options) {
		o.Token, o.ConnectTimeout = "", 10*time.Millisecond
		o.TokenProvider = func(ctx context.Context) (client.AccessToken, error) {
			<-ctx.Done()
			return client.AccessToken{}, ctx.Err()
		}
	}),

	"option-transport-unknown": option(func(o *client.Options) { o.Transports = []client.Transport{"quic"} }),
	"option-queue-negative":    option(func(o *client.Options) { o.Queue = -1 }),
	"option-queue-policy":      option(func(o *client.Options) { o.QueuePolicy = "drop" }),
	"option-proxy":             option(func(o *client.Options) { o.Proxy = "proxy.example.com" }),

	"tenant-slash":    publish("paint/room", "news.today"),
	"tenant-colon":    publish("paint:room", "news.today"),
	"tenant-wildcard": publish("paint.*", "news.today"),
	"tenant-too-long": publish(strings.Repeat("t", 129), "news.today"),

	"channel-wildcard": publish(room, "news.*"),
	"channel-empty":    publish(room, ""),
	"channel-slash":    publish(room, "news/today"),
	"channel-space":    publish(room, "news today"),
	"channel-dots":     publish(room, "news..today"),
	"channel-too-long": publish(room, strings.Repeat("c", 257)),
	"channel-unicode":  publish(room, "news.käse"),

	"pattern-plus":   subscribe(room, "news.+.today"),
	"pattern-middle": subscribe(room, "news.#.today"),
	"pattern-star":   subscribe(room, "*day"),
	"pattern-slash":  subscribe(room, "news/#"),

	"publish-not-allowed":      publish(room, "secret"),
	"publish-other-tenant":     publish("paint.room", "news.today"),
	"publish-prefix-forgotten": publish("room", "news.today"),
	"publish-too-large": func(b *blunderer) error {
		_, err := b.client().PublishConfirmed(b.Context(), room, "news.today", make([]byte, 100<<10))
		return err
	},
	"publish-delivery":     publish(room, "jobs.a", client.WithDelivery(7)),
	"publish-key-long":     publish(room, "chat.a", client.WithKey(strings.Repeat("k", 65))),
	"publish-key-not-kept": publish(room, "news.today", client.WithKey("k")),
	"publish-one-nobody":   publish(room, "jobs.a", client.WithDelivery(client.OneRandom)),
	"publish-one-busy": func(b *blunderer) error {
		_, err := b.client().Subscribe(b.Context(), room, "jobs.*", client.WithQueue(1, ""))
		testcheck.Must(b.T, err)
		c := b.client()
		for {
			if _, err := c.PublishConfirmed(b.Context(), room, "jobs.a", nil, client.WithDelivery(client.OneRandom)); err != nil {
				return err
			}
		}
	},
	"publish-closed": func(b *blunderer) error {
		c := b.client()
		c.Close()
		return c.Publish(b.Context(), room, "news.today", nil)
	},
	"publish-disconnected": func(b *blunderer) error {
		lost := make(chan struct{})
		c := b.client(func(o *client.Options) {
			o.OnEvent = func(e client.Event) {
				if _, ok := e.(client.Disconnected); ok {
					close(lost)
				}
			}
		})
		b.edge.Stop()
		<-lost
		return c.Publish(b.Context(), room, "news.today", nil)
	},
	"publish-not-awaited": func(b *blunderer) error {
		testcheck.Must(b.T, b.client().Publish(b.Context(), room, "secret", nil))
		return b.next()
	},

	"subscribe-not-allowed":      subscribe(room, "secret"),
	"subscribe-wider":            subscribe(room, "#"),
	"subscribe-history-not-kept": subscribe(room, "news.#", client.WithHistory(client.Last)),
	"subscribe-history-count":    subscribe(room, "chat.a", client.WithHistory(client.LastN(0))),
	"subscribe-history-wildcard": subscribe(room, "chat.*", client.WithHistory(client.LastN(50))),
	"subscribe-history-position": subscribe(room, "chat.a", client.WithHistory(client.After("yesterday"))),
	"subscribe-history-right": func(b *blunderer) error {
		c := b.client(func(o *client.Options) { o.Token = b.edge.Token(edgetest.In(room), edgetest.Subscribe("chat.#")) })
		_, err := c.Subscribe(b.Context(), room, "chat.a", client.WithHistory(client.LastN(5)))
		testcheck.Must(b.T, err)
		return b.next()
	},
	"subscribe-history-expired": func(b *blunderer) error {
		c := b.client()
		var first string
		for i := range 4 {
			at, err := c.PublishConfirmed(b.Context(), room, "chat.a", []byte("x"))
			testcheck.Must(b.T, err)
			if i == 0 {
				first = at
			}
		}
		_, err := c.Subscribe(b.Context(), room, "chat.a", client.WithHistory(client.After(first)))
		testcheck.Must(b.T, err)
		return b.next()
	},
	"subscribe-twice": func(b *blunderer) error {
		c := b.client()
		_, err := c.Subscribe(b.Context(), room, "chat.a", client.WithHistory(client.Now))
		testcheck.Must(b.T, err)
		_, err = c.Subscribe(b.Context(), room, "chat.a", client.WithHistory(client.Last))
		return err
	},
	"subscribe-callback": func(b *blunderer) error {
		_, err := b.client().SubscribeFunc(b.Context(), room, "chat.a", nil)
		return err
	},
	"subscribe-too-many": func(b *blunderer) error {
		c := b.client()
		for i := range 100 {
			if _, err := c.Subscribe(b.Context(), room, fmt.Sprintf("news.%d", i)); err != nil {
				return err
			}
		}
		return nil
	},
	"subscribe-slow": func(b *blunderer) error {
		c := b.client()
		_, err := c.Subscribe(b.Context(), room, "news.#", client.WithQueue(1, ""))
		testcheck.Must(b.T, err)
		for range 10 {
			testcheck.Must(b.T, c.Publish(b.Context(), room, "news.today", nil))
		}
		return b.next()
	},
	"message-json": func(b *blunderer) error {
		return client.Message{Tenant: room, Channel: "news.today", Payload: []byte(`{"a":1,}`)}.JSON(new(any))
	},

	"join-no-subject": func(b *blunderer) error {
		c := b.client(func(o *client.Options) { o.Token = b.edge.Token(edgetest.In(room), edgetest.Subscribe("room.*")) })
		_, err := c.Join(b.Context(), room, "room.1")
		return err
	},
	"join-no-presence":     func(b *blunderer) error { _, err := b.client().Join(b.Context(), room, "news.today"); return err },
	"join-wildcard":        func(b *blunderer) error { _, err := b.client().Join(b.Context(), room, "room.*"); return err },
	"presence-not-allowed": func(b *blunderer) error { _, err := b.client().Presence(b.Context(), room, "chat.a"); return err },
	"presence-none": func(b *blunderer) error {
		c := b.client(func(o *client.Options) { o.Token = b.edge.Token(edgetest.In(room), edgetest.SeePresence("#")) })
		_, err := c.Presence(b.Context(), room, "chat.a")
		return err
	},
	"limited": func(b *blunderer) error {
		c := b.client()
		_, err := c.Subscribe(b.Context(), room, "news.#")
		testcheck.Must(b.T, err)
		publisher := b.client(func(o *client.Options) {
			o.Token = b.edge.Token(edgetest.In(room), edgetest.Publish("#"), edgetest.Right(func(r *tokenstore.Right) { r.IngressKBPerSec = new(1024) }))
		})
		for range 8 {
			testcheck.Must(b.T, publisher.Publish(b.Context(), room, "news.today", make([]byte, 10<<10)))
		}
		return b.next()
	},

	"admin-access-token": func(b *blunderer) error { _, err := client.NewTokenAdmin(b.edge.URL(), "AT_0123"); return err },
	"admin-bad-master": func(b *blunderer) error {
		_, err := b.admin(strings.Repeat("1", 32)).RevokeSubject(b.Context(), "ada")
		return err
	},
	"admin-lifetime-none":     issue(func(r *client.IssueRequest) { r.ExpiresIn = 0 }),
	"admin-lifetime-negative": issue(func(r *client.IssueRequest) { r.ExpiresIn = -1 }),
	"admin-lifetime-long": func(b *blunderer) error {
		testcheck.Must(b.T, b.issue(func(r *client.IssueRequest) { r.ExpiresIn = 48 * time.Hour }))
		return b.next()
	},
	"admin-past": issue(func(r *client.IssueRequest) {
		r.ExpiresIn, r.ExpiresAt = 0, time.Date(1998, 1, 1, 0, 0, 0, 0, time.UTC)
	}),
	"admin-both":            issue(func(r *client.IssueRequest) { r.ExpiresAt = time.Now().Add(time.Hour) }),
	"admin-no-grants":       issue(func(r *client.IssueRequest) { r.Grants = nil }),
	"admin-pattern":         grant(func(g *client.Grant) { g.Publish = []string{"news.+"} }),
	"admin-tenant":          grant(func(g *client.Grant) { g.Tenants = []string{"paint/room"} }),
	"admin-history-outside": grant(func(g *client.Grant) { g.History = []string{"chat.#"} }),
	"admin-presence-outside": func(b *blunderer) error {
		testcheck.Must(b.T, b.issue(func(r *client.IssueRequest) { r.Grants[0].Presence = []string{"room.*"} }))
		return b.next()
	},
	"admin-subject-long": issue(func(r *client.IssueRequest) { r.Subject = strings.Repeat("s", 129) }),
	"admin-info-large":   issue(func(r *client.IssueRequest) { r.Info = map[string]string{"a": strings.Repeat("i", 1025)} }),
	"admin-revoke-id": func(b *blunderer) error {
		return b.admin(strings.Repeat("0", 32)).Revoke(b.Context(), strings.Repeat("a", 32))
	},
	"admin-quota": func(b *blunderer) error {
		for range 10 {
			if err := b.issue(func(*client.IssueRequest) {}); err != nil {
				return err
			}
		}
		return nil
	},
	"admin-no-edge": func(b *blunderer) error {
		admin, err := client.NewTokenAdmin("https://nowhere.test", "MT_0123", client.WithHTTPClient(b.edge.HTTP()))
		testcheck.Must(b.T, err)
		return admin.Revoke(b.Context(), "AT_0123")
	},
}

// What differs from run to run.
var (
	sockets = regexp.MustCompile(`^(address-(nobody|not|bad-g|http|untrusted).*|provider-(error-text|page)|token-without-tls)$`) // of the machine: no virtual time

	varying = regexp.MustCompile(`127\.0\.0\.1:\d+|connection id [0-9a-f]{16}|\d{4}-\d\d-\d\dT[0-9:.]+Z|after \d+(\.\d+)?m?s|delay=\d+s|dropped=\d+|-> [^ ]+:`)
	secrets = regexp.MustCompile(`s3cret|AT_0123|MT_0123|secret123`)
)

// The SDK says of each mistake of sdk/mistakes.json what it is, and what to do.
func TestMistakes(t *testing.T) {
	var list []struct{ ID, Mistake string }
	text, err := os.ReadFile("../sdk/mistakes.json")
	testcheck.Must(t, err)
	testcheck.Must(t, json.Unmarshal(text, &list))
	if len(list) < 100 {
		t.Fatalf("%d mistakes", len(list))
	}
	const golden = "testdata/mistakes.json"
	want, got := map[string]mistake{}, map[string]mistake{}
	if text, err := os.ReadFile(golden); err == nil {
		testcheck.Must(t, json.Unmarshal(text, &want))
	}
	results := make(chan map[string]mistake, len(list))
	t.Run("all", func(t *testing.T) {
		for _, row := range list {
			t.Run(row.ID, func(t *testing.T) {
				t.Parallel()
				var m mistake
				if sockets.MatchString(row.ID) {
					m = blunder(t, row.ID)
				} else {
					synctest.Test(t, func(t *testing.T) { m = blunder(t, row.ID) })
				}
				results <- map[string]mistake{row.ID: m}
				if !*update && m != want[row.ID] {
					t.Errorf("%s:\n got %+v\nwant %+v", row.Mistake, m, want[row.ID])
				}
			})
		}
	})
	close(results)
	for m := range results {
		for id := range m {
			got[id] = m[id]
		}
	}
	for id := range want {
		if _, ok := got[id]; !ok && !*update {
			t.Errorf("%s has a row for %s, which is no mistake", golden, id)
		}
	}
	if *update {
		var out bytes.Buffer
		encoder := json.NewEncoder(&out)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "\t")
		testcheck.Must(t, encoder.Encode(got))
		testcheck.Must(t, os.WriteFile(golden, out.Bytes(), 0o644))
	}
}

// blunder makes a mistake.
func blunder(t *testing.T, id string) mistake {
	if why := impossible[id]; why != "" {
		return mistake{Impossible: why}
	}
	if mistakes[id] == nil {
		t.Fatal("nobody makes it")
	}
	edge := edgetest.New(t, edgetest.Region("EU"), edgetest.Drain(pubsub.MinDrain),
		edgetest.History("chats", history.Limits{Messages: 2}, "chat.#"), edgetest.Presence("rooms", 0, "room.*"),
		edgetest.Quota(tokenstore.Quota{MaxTokens: 3}),
		edgetest.Limits(func(l *pubsub.Limits) { l.MaxPayload, l.MaxSubscriptions = 64<<10, 5 }))
	err := mistakes[id](&blunderer{t, edge, make(chan string, 100)})
	if err == nil {
		t.Fatal("nothing is wrong")
	}
	text := varying.ReplaceAllString(err.Error(), "…")
	if secrets.MatchString(text) {
		t.Errorf("a secret in %s", text)
	}
	if w := warning(""); errors.As(err, &w) {
		return mistake{Said: text}
	}
	m := mistake{Text: text}
	if e := (*client.Error)(nil); errors.As(err, &e) {
		m.Code = string(e.Code)
	} else {
		t.Errorf("%v has no code", err)
	}
	return m
}
