package sdks

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/conformance"
	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/sdk"
	"github.com/millrace/millrace/wire"
)

// The cases of the table conformance that speak of what an SDK shows, with its
// clients in place of sessions.
func TestConformanceThroughSDKs(t *testing.T) {
	t.Parallel()
	lab := &sdk.Lab{Browsers: startSDKBrowsers(t)}
	for _, kind := range sdk.Kinds {
		// QUIC in Python takes much time of the processors: in a soak.
		if !harness.Soaking && kind == (sdk.Kind{Where: "python", Transport: "webtransport"}) {
			continue
		}
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			cases := slices.DeleteFunc(slices.Clone(conformance.Cases), func(row conformance.Case) bool {
				return row.Sdk == conformance.None || row.Sdk == conformance.Told && kind.Blind()
			})
			shared := harness.StartEdge(t, harness.DefaultCaddyfile, harness.ForBrowsers)
			conformance.PlayShared(transport(lab, t, kind, shared), t, cases, func(t *testing.T) (near, far *harness.Edge) { return shared.With(t), nil })
			for _, row := range cases {
				if row.Shared {
					continue
				}
				t.Run(row.Name, func(t *testing.T) {
					t.Parallel()
					e := harness.StartEdge(t, row.EdgeFile(), append(row.Options, harness.ForBrowsers)...)
					row.Run(&harness.Stage{T: t, Edge: e, Transport: transport(lab, t, kind, e), Far: nil})
				})
			}
		})
	}
}

// transport opens "sessions" that are clients of an SDK, in a host that lives as long as
// the test. They belong to the test of the edge at which they are opened, which may be a
// part of it.
func transport(l *sdk.Lab, t *testing.T, kind sdk.Kind, e *harness.Edge) harness.Transport {
	s := l.Stage(t, kind, e)
	other := map[string]string{"websocket": "webtransport", "webtransport": "websocket"}[kind.Transport]
	return harness.Transport{Name: kind.Transport, Other: other, Crowd: 3, Reloads: 4, TryOpen: func(e *harness.Edge, h harness.Handshake) (*harness.Socket, harness.Answer, error) {
		token := h.Token
		for _, p := range h.Protocols {
			if at, ok := strings.CutPrefix(p, "at."); ok && token == "" {
				token = at
			}
		}
		c := s.Client()
		c.T = e.T
		if _, err := c.Try(s.Connecting(kind, sdk.Options{Token: token})); err != nil {
			return nil, sdkRefusal(err), nil
		}
		k := &sdkLink{
			c: c, calls: make(chan func(), 4096), subs: map[string]*sdk.Sub{}, out: sdk.NewMailbox(),
			answers: map[int]func(sdk.Report){}, quit: make(chan struct{}),
		}
		c.Hear(k.accept)
		done := make(chan struct{})
		go func() { // ends with the test
			defer close(done)
			k.work()
		}()
		e.T.Cleanup(func() {
			_ = k.Leave()
			close(k.quit)
			<-done
		})
		return &harness.Socket{T: e.T, Link: k}, harness.Answer{}, nil
	}}
}

// sdkRefusal is the refusal that an error tells of, as the edge gave it: REST and
// WebSocket have a document, an AUTH line of WebTransport has a code.
func sdkRefusal(e *sdk.Error) harness.Answer {
	status := e.Status
	if status == 0 {
		switch e.Code {
		case "unauthorized":
			status = http.StatusUnauthorized
		case "ip_not_allowed", "origin_not_allowed", "region_not_allowed", "protocol_not_allowed":
			status = http.StatusForbidden
		default:
			status = http.StatusServiceUnavailable
		}
	}
	body, _ := json.Marshal(harness.Problem{Type: "about:blank", Title: http.StatusText(status), Detail: e.Text, Code: e.Code, Status: status}) // it can be encoded
	return harness.Answer{Status: status, Header: http.Header{"Content-Type": {"application/problem+json"}}, Body: body}
}

// sdkLink is a link that translates: lines and publish frames to calls of the SDK,
// and what the client reports to lines and deliver frames.
type sdkLink struct {
	c     *sdk.Client
	calls chan func()         // made one after the other, by work
	subs  map[string]*sdk.Sub // by tenant and pattern; of work
	out   *sdk.Mailbox        // what read returns: reports with Event "line" or "frame", and the end
	quit  chan struct{}

	mu      sync.Mutex
	answers map[int]func(sdk.Report) // what to do with those to come
}

func (k *sdkLink) work() {
	for {
		select {
		case call := <-k.calls:
			call()
		case <-k.quit:
			return
		}
	}
}

func (k *sdkLink) Write(kind int, message []byte) error {
	call := func() { k.Publish(message) }
	if kind == harness.AsText {
		verb, rest, _ := strings.Cut(string(message), ":")
		tenant, pattern, _ := strings.Cut(rest, ":")
		if tenant == "" {
			tenant = wire.DefaultTenant
		}
		pair := tenant + ":" + pattern
		switch {
		case verb == "SUB":
			call = func() { k.Subscribe(rest[:strings.IndexByte(rest, ':')], tenant, pattern) }
		case verb == "UNSUB" && tenant == "fence":
			call = func() { k.Fence(pair) }
		case verb == "UNSUB":
			call = func() { k.unsubscribe(pair) }
		case verb == "PING":
			call = func() { k.Await(sdk.Command{Cmd: "flush"}, "PONG", "") }
		default:
			return fmt.Errorf("%q means nothing to an SDK", message)
		}
	}
	select {
	case k.calls <- call:
		return nil
	default:
		return errors.New("too many messages wait")
	}
}

func (k *sdkLink) Publish(frame []byte) {
	p, err := wire.DecodePublish(frame)
	if err != nil {
		k.line("ERR:bad_frame")
		return
	}
	command := sdk.Command{Cmd: "publish", Tenant: string(p.Tenant), Channel: string(p.Channel), Payload: p.Payload}
	if p.Tagged {
		command.Delivery = []string{"broadcast", "one-nearest", "one-random"}[p.Delivery]
	}
	k.Tell(command, func(r sdk.Report) {
		if r.Error != nil {
			k.line("ERR:" + r.Error.Code)
		}
	})
}

// Subscribe subscribes to what is given as tenant, which may be short for another.
func (k *sdkLink) Subscribe(given, tenant, pattern string) {
	s, command := k.c.Subscription("iterate", given, pattern, nil)
	k.subs[tenant+":"+pattern] = s
	k.Await(command, "OK:SUB:"+tenant+":"+pattern, ":SUB:"+tenant+":"+pattern)
}

func (k *sdkLink) unsubscribe(pair string) {
	s := k.subs[pair]
	if s == nil {
		k.Await(sdk.Command{Cmd: "flush"}, "OK:UNSUB:"+pair, "")
		return
	}
	delete(k.subs, pair)
	k.Await(sdk.Command{Cmd: "unsubscribe", Sub: s.Name}, "OK:UNSUB:"+pair, "")
}

// Fence acknowledges what an SDK has no call for. Only the answer to a
// subscription keeps its place among deliveries: a subscriber gets another one.
// What its subscriptions still have in their queues is seen at the next fence.
func (k *sdkLink) Fence(pair string) {
	for known := range k.subs {
		tenant, _, _ := strings.Cut(known, ":")
		s, command := k.c.Subscription("iterate", tenant, strings.Replace(pair, ":", ".", 1), nil)
		if r := k.silent(command); r.Error == nil {
			k.silent(sdk.Command{Cmd: "unsubscribe", Sub: s.Name})
		}
		break
	}
	k.Await(sdk.Command{Cmd: "flush"}, "OK:UNSUB:"+pair, "")
}

// Tell gives a command. The function is called when the answer comes, between what
// the client reports before and after it.
func (k *sdkLink) Tell(command sdk.Command, then func(sdk.Report)) {
	command.ID, command.Client = int(k.c.Ids.Add(1)), k.c.Name
	k.mu.Lock()
	k.answers[command.ID] = then
	k.mu.Unlock()
	if err := k.c.Host.Send(command); err != nil {
		k.line("the host: " + err.Error())
	}
}

// silent carries out a command.
func (k *sdkLink) silent(command sdk.Command) sdk.Report {
	answered := make(chan sdk.Report, 1)
	k.Tell(command, func(r sdk.Report) { answered <- r })
	select {
	case r := <-answered:
		return r
	case <-time.After(harness.WaitTimeout):
		return sdk.Report{Error: &sdk.Error{Code: "no answer", Text: command.Cmd}}
	case <-k.quit:
		return sdk.Report{Error: &sdk.Error{Code: "the test has ended"}}
	}
}

// Await carries out a command, of which success is a line, and a failure one
// with the context.
func (k *sdkLink) Await(command sdk.Command, success, context string) {
	done := make(chan struct{})
	k.Tell(command, func(r sdk.Report) {
		switch {
		case r.Error == nil:
			k.line(success)
		case r.Error.Code != "closed" && r.Error.Code != "token_revoked" && r.Error.Code != "token_expired": // the end says it
			k.line("ERR:" + r.Error.Code + context)
		}
		close(done)
	})
	select {
	case <-done:
	case <-k.quit:
	}
}

func (k *sdkLink) line(text string) { k.out.Put(sdk.Report{Event: "line", Detail: text}) }

// accept translates what the client reports.
func (k *sdkLink) accept(r sdk.Report) {
	switch r.Event {
	case "answer":
		k.mu.Lock()
		then := k.answers[r.ID]
		delete(k.answers, r.ID)
		k.mu.Unlock()
		if then != nil {
			then(r)
		}
	case "message": // of which each subscription that matches gets one
		if len(r.Patterns) > 0 && r.Pattern == r.Patterns[0] {
			r.Event = "frame"
			k.out.Put(r)
		}
	case "publishError":
		k.line("ERR:" + r.Code + ":PUB:" + r.Tenant + ":" + r.Channel)
	case "slowConsumer":
		k.line(fmt.Sprintf("ERR:slow_consumer:%d", r.Dropped))
	case "egressLimited":
		k.line(fmt.Sprintf("ERR:egress_limited:%d", int(r.Delay/1000)))
	case "edgeError":
		k.line("ERR:" + r.Code)
	case "ended":
		if r.Error != nil {
			k.line("ERR:" + r.Error.Code)
		}
		k.out.Put(r)
	case "connected", "closed", "roundTrip", "subscriptionEnded":
	case "suspect": // the machine is busy: what waits is for when the connection has recovered
	case "recovered":
		if r.Away > 0 { // by another connection, on which the suite does not count
			k.line("the client reports " + r.String())
		}
	default:
		k.line("the client reports " + r.String())
	}
}

func (k *sdkLink) Read() (kind int, message []byte, err error) {
	r, ok := k.out.Take(func(sdk.Report) bool { return true })
	switch {
	case !ok:
		return 0, nil, harness.ErrWaitTimeout
	case r.Event == "line":
		return harness.AsText, []byte(r.Detail), nil
	case r.Event == "ended":
		if r.Error == nil {
			return 0, nil, &harness.Closed{Code: wire.CloseNormal}
		}
		return 0, nil, &harness.Closed{Code: wire.CloseCode(r.Error.CloseCode), Reason: r.Error.Text}
	}
	return harness.AsFrame, wire.AppendDeliver(nil, []byte(r.Tenant), []byte(r.Channel), r.Payload, r.Patterns), nil
}

func (k *sdkLink) Leave() error {
	k.Tell(sdk.Command{Cmd: "close"}, func(sdk.Report) {})
	return nil
}

func (k *sdkLink) Cut() error { return errors.New("an SDK cuts nothing") }
