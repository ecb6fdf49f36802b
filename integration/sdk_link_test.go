package integration

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

	"github.com/millrace/millrace/wire"
)

// The cases of the table conformance that speak of what an SDK shows, with its
// clients in place of sessions.
func TestConformanceThroughSDKs(t *testing.T) {
	t.Parallel()
	lab := &sdkLab{browsers: startSDKBrowsers(t)}
	for _, kind := range sdkKinds {
		// QUIC in Python takes much time of the processors: in a soak.
		if !soaking && kind == (sdkKind{"python", "webtransport"}) {
			continue
		}
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			cases := slices.DeleteFunc(slices.Clone(conformance), func(row conformanceCase) bool {
				return row.sdk == none || row.sdk == told && kind.blind()
			})
			shared := startEdge(t, defaultCaddyfile, forBrowsers)
			lab.transport(t, kind, shared).playShared(t, cases, func(t *testing.T) (near, far *edge) { return shared.with(t), nil })
			for _, row := range cases {
				if row.shared {
					continue
				}
				t.Run(row.name, func(t *testing.T) {
					t.Parallel()
					e := startEdge(t, row.edgeFile(), append(row.options, forBrowsers)...)
					row.run(&stage{t, e, lab.transport(t, kind, e), nil})
				})
			}
		})
	}
}

// throughSDKs says for which clients of SDKs a case of the table conformance holds.
type throughSDKs int

const (
	none throughSDKs = iota
	all
	told // those that are told why a handshake is refused
)

// transport opens "sessions" that are clients of an SDK, in a host that lives as long as
// the test. They belong to the test of the edge at which they are opened, which may be a
// part of it.
func (l *sdkLab) transport(t *testing.T, kind sdkKind, e *edge) transport {
	s := l.stage(t, kind, e)
	other := map[string]string{"websocket": "webtransport", "webtransport": "websocket"}[kind.transport]
	return transport{name: kind.transport, other: other, crowd: 3, reloads: 4, tryOpen: func(e *edge, h handshake) (*socket, answer, error) {
		token := h.Token
		for _, p := range h.Protocols {
			if at, ok := strings.CutPrefix(p, "at."); ok && token == "" {
				token = at
			}
		}
		c := s.client()
		c.t = e.t
		if _, err := c.try(s.connecting(kind, sdkOptions{Token: token})); err != nil {
			return nil, sdkRefusal(err), nil
		}
		k := &sdkLink{
			c: c, calls: make(chan func(), 4096), subs: map[string]*sdkSub{}, out: newMailbox(),
			answers: map[int]func(sdkReport){}, quit: make(chan struct{}),
		}
		c.hear(k.accept)
		done := make(chan struct{})
		go func() { // ends with the test
			defer close(done)
			k.work()
		}()
		e.t.Cleanup(func() {
			_ = k.leave()
			close(k.quit)
			<-done
		})
		return &socket{t: e.t, link: k}, answer{}, nil
	}}
}

// sdkRefusal is the refusal that an error tells of, as the edge gave it: REST and
// WebSocket have a document, an AUTH line of WebTransport has a code.
func sdkRefusal(e *sdkError) answer {
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
	body, _ := json.Marshal(problem{"about:blank", http.StatusText(status), e.Text, e.Code, status}) // it can be encoded
	return answer{Status: status, Header: http.Header{"Content-Type": {"application/problem+json"}}, Body: body}
}

// sdkLink is a link that translates: lines and publish frames to calls of the SDK,
// and what the client reports to lines and deliver frames.
type sdkLink struct {
	c     *sdkClient
	calls chan func()        // made one after the other, by work
	subs  map[string]*sdkSub // by tenant and pattern; of work
	out   *mailbox           // what read returns: reports with Event "line" or "frame", and the end
	quit  chan struct{}

	mu      sync.Mutex
	answers map[int]func(sdkReport) // what to do with those to come
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

func (k *sdkLink) write(kind int, message []byte) error {
	call := func() { k.publish(message) }
	if kind == asText {
		verb, rest, _ := strings.Cut(string(message), ":")
		tenant, pattern, _ := strings.Cut(rest, ":")
		if tenant == "" {
			tenant = wire.DefaultTenant
		}
		pair := tenant + ":" + pattern
		switch {
		case verb == "SUB":
			call = func() { k.subscribe(rest[:strings.IndexByte(rest, ':')], tenant, pattern) }
		case verb == "UNSUB" && tenant == "fence":
			call = func() { k.fence(pair) }
		case verb == "UNSUB":
			call = func() { k.unsubscribe(pair) }
		case verb == "PING":
			call = func() { k.await(sdkCommand{Cmd: "flush"}, "PONG", "") }
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

func (k *sdkLink) publish(frame []byte) {
	p, err := wire.DecodePublish(frame)
	if err != nil {
		k.line("ERR:bad_frame")
		return
	}
	command := sdkCommand{Cmd: "publish", Tenant: string(p.Tenant), Channel: string(p.Channel), Payload: p.Payload}
	if p.Tagged {
		command.Delivery = []string{"broadcast", "one-nearest", "one-random"}[p.Delivery]
	}
	k.tell(command, func(r sdkReport) {
		if r.Error != nil {
			k.line("ERR:" + r.Error.Code)
		}
	})
}

// subscribe subscribes to what is given as tenant, which may be short for another.
func (k *sdkLink) subscribe(given, tenant, pattern string) {
	s, command := k.c.subscription("iterate", given, pattern, nil)
	k.subs[tenant+":"+pattern] = s
	k.await(command, "OK:SUB:"+tenant+":"+pattern, ":SUB:"+tenant+":"+pattern)
}

func (k *sdkLink) unsubscribe(pair string) {
	s := k.subs[pair]
	if s == nil {
		k.await(sdkCommand{Cmd: "flush"}, "OK:UNSUB:"+pair, "")
		return
	}
	delete(k.subs, pair)
	k.await(sdkCommand{Cmd: "unsubscribe", Sub: s.name}, "OK:UNSUB:"+pair, "")
}

// fence acknowledges what an SDK has no call for. Only the answer to a
// subscription keeps its place among deliveries: a subscriber gets another one.
// What its subscriptions still have in their queues is seen at the next fence.
func (k *sdkLink) fence(pair string) {
	for known := range k.subs {
		tenant, _, _ := strings.Cut(known, ":")
		s, command := k.c.subscription("iterate", tenant, strings.Replace(pair, ":", ".", 1), nil)
		if r := k.silent(command); r.Error == nil {
			k.silent(sdkCommand{Cmd: "unsubscribe", Sub: s.name})
		}
		break
	}
	k.await(sdkCommand{Cmd: "flush"}, "OK:UNSUB:"+pair, "")
}

// tell gives a command. The function is called when the answer comes, between what
// the client reports before and after it.
func (k *sdkLink) tell(command sdkCommand, then func(sdkReport)) {
	command.ID, command.Client = int(k.c.ids.Add(1)), k.c.name
	k.mu.Lock()
	k.answers[command.ID] = then
	k.mu.Unlock()
	if err := k.c.host.send(command); err != nil {
		k.line("the host: " + err.Error())
	}
}

// silent carries out a command.
func (k *sdkLink) silent(command sdkCommand) sdkReport {
	answered := make(chan sdkReport, 1)
	k.tell(command, func(r sdkReport) { answered <- r })
	select {
	case r := <-answered:
		return r
	case <-time.After(waitTimeout):
		return sdkReport{Error: &sdkError{Code: "no answer", Text: command.Cmd}}
	case <-k.quit:
		return sdkReport{Error: &sdkError{Code: "the test has ended"}}
	}
}

// await carries out a command, of which success is a line, and a failure one
// with the context.
func (k *sdkLink) await(command sdkCommand, success, context string) {
	done := make(chan struct{})
	k.tell(command, func(r sdkReport) {
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

func (k *sdkLink) line(text string) { k.out.put(sdkReport{Event: "line", Detail: text}) }

// accept translates what the client reports.
func (k *sdkLink) accept(r sdkReport) {
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
			k.out.put(r)
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
		k.out.put(r)
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

func (k *sdkLink) read() (kind int, message []byte, err error) {
	r, ok := k.out.take(func(sdkReport) bool { return true })
	switch {
	case !ok:
		return 0, nil, errWaitTimeout
	case r.Event == "line":
		return asText, []byte(r.Detail), nil
	case r.Event == "ended":
		if r.Error == nil {
			return 0, nil, &closed{code: wire.CloseNormal}
		}
		return 0, nil, &closed{code: wire.CloseCode(r.Error.CloseCode), reason: r.Error.Text}
	}
	return asFrame, wire.AppendDeliver(nil, []byte(r.Tenant), []byte(r.Channel), r.Payload, r.Patterns), nil
}

func (k *sdkLink) leave() error {
	k.tell(sdkCommand{Cmd: "close"}, func(sdkReport) {})
	return nil
}

func (k *sdkLink) cut() error { return errors.New("an SDK cuts nothing") }
