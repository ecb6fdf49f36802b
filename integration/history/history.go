// Package history has what tests of histories share.
package history

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/sdk"
	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/wire"
)

// Caddyfile is an edge with the history chat; options are of that block.
func Caddyfile(store string, options ...string) string {
	return strings.Replace(harness.DefaultCaddyfile, "drain 7s", `drain 7s
		history chat {
			channels chat.#
			`+strings.Join(options, "\n\t\t\t")+`
		}
		history_store `+store, 1)
}

// AllowHistory allows everything, the past included, in each of the tenants.
func AllowHistory(tenants ...string) harness.Object {
	g := harness.AllowAll(tenants...)
	g["allow_channels_history"] = []string{"#"}
	return g
}

// PauseRandomly waits for up to n ms, or until stop is closed, and then reports false.
func PauseRandomly(random *rand.Rand, n int, stop <-chan struct{}) bool {
	select {
	case <-stop:
		return false
	case <-time.After(time.Duration(random.IntN(n)) * time.Millisecond):
		return true
	}
}

// The tenants of what follows; messages of the second one show that an edge stores.
const (
	KeptTenant  = "paint.a"
	BeginTenant = "paint.b"
)

// AwaitHistory returns when an edge stores.
func AwaitHistory(o *harness.Overlay, at int) {
	o.T.Helper()
	o.Edges[at].Poll("a message to be stored", func() bool {
		s, _, err := o.Edges[at].TryOpen(harness.Handshake{Token: o.Token})
		if err != nil || s == nil {
			return false
		}
		defer func() { _ = s.Cut() }()
		if s.Write(harness.AsFrame, Confirmed(1, BeginTenant, "chat.begin", harness.RandomHex())) != nil {
			return false
		}
		_, message, err := s.Read()
		return err == nil && strings.HasPrefix(string(message), "OK:PUB:1:")
	})
}

// Confirmed is a publish that is to be answered.
func Confirmed(id uint32, tenant, channel, payload string) []byte {
	return wire.AppendPublish(nil, wire.Publish{
		Confirm: true, ID: id, Tenant: []byte(tenant), Channel: []byte(channel), Payload: []byte(payload),
	})
}

// Store publishes messages to a channel, and returns the position of each.
func Store(s *harness.Socket, channel string, payloads ...string) (list []wire.Position) {
	s.T.Helper()
	for i, payload := range payloads {
		s.SendFrame(Confirmed(uint32(i), KeptTenant, channel, payload))
		_, text, err := s.Read()
		s.Must(err)
		line, err := wire.ParseServerLine(text)
		if err != nil || line.Kind != wire.KindOKPub || line.ID != uint32(i) || line.Position == (wire.Position{}) {
			s.T.Fatalf("%s=%s: got %q (%v)", channel, payload, text, err)
		}
		list = append(list, line.Position)
	}
	return list
}

// Resume sends an RSUB, and reads until it has caught up, and on until it has what it wants: an edge
// that has not got the newest messages yet sends them afterwards. It wants "complete", or "gap" if
// one was told, and then each message as channel=payload.
func Resume(s *harness.Socket, pattern, from, want string) {
	s.T.Helper()
	s.SendLine("RSUB:" + KeptTenant + ":" + pattern + ":" + from)
	got, messages, caughtUp := "complete", "", false
	for !caughtUp || got+messages != want {
		kind, message, err := s.Read()
		s.Must(err)
		if kind == harness.AsFrame {
			d, err := wire.DecodeDeliver(message)
			s.Must(err)
			if messages += fmt.Sprintf(" %s=%s", d.Channel, d.Payload); !strings.HasPrefix(want, got+messages) {
				s.T.Fatalf("got %s%s, want %s", got, messages, want)
			}
			continue
		}
		line, err := wire.ParseServerLine(message)
		s.Must(err)
		switch line.Kind {
		case wire.KindGap:
			got = "gap"
		case wire.KindOKRsub:
			if caughtUp = true; !strings.HasPrefix(want, got+messages) || line.Complete != (got == "complete") {
				s.T.Fatalf("got %s%s and %q, want %s", got, messages, message, want)
			}
		default:
			s.T.Fatalf("got %q after RSUB", message)
		}
	}
}

// Linked starts edges with one certificate authority, each with links of its own to all of so many
// NATS servers.
func Linked(
	t *testing.T, caddyfile string, nodes, edges int, option harness.Option,
) (o *harness.Overlay, links [][]*natstest.Proxy) {
	t.Helper()
	o = &harness.Overlay{T: t}
	if nodes > 0 {
		// A server that told edges of the others would show them ways around the links.
		o.Nodes = harness.StartNATS(t, nodes, ", no_advertise: true")
	}
	urls := make([]string, edges)
	for at := range edges {
		links = append(links, nil)
		for _, node := range o.Nodes {
			link := node.StartProxy(t)
			links[at], urls[at] = append(links[at], link), urls[at]+link.URL()+" "
		}
	}
	joins := harness.JoiningBy(urls, nodes, "")
	for at, join := range joins {
		joins[at] = func(e *harness.Edge) {
			for _, set := range []harness.Option{join, harness.ForBrowsers, option} {
				set(e)
			}
		}
	}
	o.StartEdges(caddyfile, joins)
	return o, links
}

// Clients is how clients of the SDK for Go connect to edges with one authority, and notice in time
// what is wrong.
func Clients(o *harness.Overlay, token string) (addresses []string, options client.Options) {
	o.T.Helper()
	for _, e := range o.Edges {
		addresses = append(addresses, e.HttpsURL(""))
	}
	roots, err := o.Edges[0].TlsConfig()
	o.Edges[0].Must(err)
	return addresses, client.Options{Token: token, TLS: roots, KeepAlive: time.Second, MaxBackOff: 500 * time.Millisecond}
}

// Last and After are forms of the option history of SDKs.
type (
	Last struct {
		Last int `json:"last"`
	}
	After struct {
		After string `json:"after"`
	}
)

// ClientName is the name of the client of MILLRACE_CLIENT among the SDKs.
const ClientName = "client"

// SdkLacks reports whether that client lacks a feature.
func SdkLacks(feature string) bool {
	p := sdk.Programs[ClientName]
	return p != nil && slices.Contains(p.Lacks, feature)
}
