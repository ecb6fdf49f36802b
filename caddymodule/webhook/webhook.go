// Package webhook is the hook `webhook`: it tells a backend of an edge's connections,
// subscriptions and members by POST, and may ask it before it allows the first two.
//
// The requests follow the Standard Webhooks specification: the headers webhook-id,
// webhook-timestamp and webhook-signature, an HMAC-SHA256 of these and the body.
package webhook

import (
	"context"
	"encoding/json"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/millrace/millrace/caddymodule/guest"
	"github.com/millrace/millrace/pubsub/hook"
)

func init() { caddy.RegisterModule(new(Webhook)) }

// Webhook sends events to a backend, in batches: `connect`, `disconnect`, `subscribe` and
// `unsubscribe` of connections, and `join` and `leave` of members of a presence. A batch
// that the backend does not take is sent again, with pauses that grow. Events that find the queue full are lost; the next batch says
// how many. With Ask, the edge asks the backend before it lets a client connect or
// subscribe, and waits for the answer.
type Webhook struct {
	// URL of the backend, https. It holds no user and password: the secret signs.
	URL string `json:"url"`

	// Secret with which requests are signed, as `{env.NAME}` or `{file./path}`: `whsec_`
	// and base64, as in the Standard Webhooks specification, or any text. From 16 to 256
	// bytes. Required.
	Secret string `json:"secret" placeholders:"kept"`

	// Events that are sent, of `connect`, `disconnect`, `subscribe`, `unsubscribe`, `join`,
	// `leave`. Default: all of them. `none` alone: no events, as for a hook that is only asked.
	Events []string `json:"events,omitempty"`

	// BatchSize is how many events a request has at most, from 1 to 1000. Default, and
	// zero: 100.
	BatchSize int `json:"batch_size,omitempty"`

	// BatchDelay is how long an event waits for others, up to 1m. Default, and zero:
	// 500ms.
	BatchDelay caddy.Duration `json:"batch_delay,omitempty"`

	// Queue is how many events wait at most, those on their way included, up to 1000000.
	// Those of one token, and joins and leaves of one subject, take half of it at most.
	// Default, and zero: 10000, some 5 MB.
	Queue int `json:"queue,omitempty"`

	// Timeout of a request with events, from 100ms to 1m. Default, and zero: 5s.
	Timeout caddy.Duration `json:"timeout,omitempty"`

	// RetryFor is how long a batch is sent again before its events count as lost, up to
	// 24h. Default, and zero: 10m.
	RetryFor caddy.Duration `json:"retry_for,omitempty"`

	// CA is a file of certificates (PEM) that the backend's certificate is checked with,
	// in place of the system's. Default: none, the system's.
	CA string `json:"ca,omitempty"`

	// Ask has the backend asked before a client connects or subscribes. Default: none, it
	// is not asked.
	Ask *Ask `json:"ask,omitempty"`

	key    string // of the worker, in the pool of all
	shown  string // the host of the URL, for logs
	worker *worker
}

// Ask is what a backend is asked.
type Ask struct {
	// Before is what it is asked before: `connect`, `subscribe`, or both. Required.
	Before []string `json:"before"`

	// OnSilence is what it means when the backend was asked and does not answer as it should in
	// time: `allow`, or `refuse`, which the client sees as `try_later`. What it could not be
	// asked about, as too many questions are under way, or as it answers 429, is refused with
	// `try_later` in any case. Required.
	OnSilence string `json:"on_silence"`

	// Timeout of the answer, from 10ms to 4s, from when the question is sent. Default, and
	// zero: 2s.
	Timeout caddy.Duration `json:"timeout,omitempty"`

	// MaxInFlight is how many questions are asked at the same time, up to 10000; the others
	// wait, and tokens take turns. What has waited until less than Timeout is left of
	// hook.AskTimeout is not asked. Those of one token take half of it at most, and
	// so do those of one issuer, where there are several. Default, and
	// zero: 64.
	MaxInFlight int `json:"max_in_flight,omitempty"`
}

// CaddyModule implements [caddy.Module].
func (*Webhook) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "pubsub.hooks.webhook", New: func() caddy.Module { return new(Webhook) }}
}

// workers are shared by all configurations with the same options, so that a reload
// neither loses what waits nor sends it twice.
var workers = caddy.NewUsagePool() // Webhook.key → *worker

// Provision implements [caddy.Provisioner]. It sends nothing: the first event does.
func (h *Webhook) Provision(ctx caddy.Context) error {
	o, err := h.options()
	if err != nil {
		return err
	}
	if err := registerMetrics(ctx); err != nil {
		return err
	}
	shared, _, err := workers.LoadOrNew(h.key, func() (caddy.Destructor, error) {
		return newWorker(o, guest.LiveLog("pubsub.hooks.webhook").With(zap.String("host", h.shown))), nil
	})
	if err != nil {
		return err
	}
	h.worker = shared.(*worker)
	return nil
}

// Cleanup implements [caddy.CleanerUpper]. The last configuration that uses the worker
// sends what waits, for the time of one request.
func (h *Webhook) Cleanup() error {
	if h.worker == nil {
		return nil
	}
	_, err := workers.Delete(h.key)
	return err
}

// Connected implements [hook.ConnectObserver].
func (h *Webhook) Connected(c hook.Client) {
	if h.worker.sends(eventConnect) {
		h.worker.add(newEvent(eventConnect, c))
	}
}

// Disconnected implements [hook.DisconnectObserver].
func (h *Webhook) Disconnected(c hook.Client, d hook.Disconnection) {
	if h.worker.sends(eventDisconnect) {
		e := newEvent(eventDisconnect, c)
		e.CloseCode, e.Reason, e.Seconds = uint16(d.Code), d.Reason, d.After.Seconds()
		h.worker.add(e)
	}
}

// Subscribed implements [hook.SubscribeObserver].
func (h *Webhook) Subscribed(c hook.Client, s hook.Subscription) {
	if h.worker.sends(eventSubscribe) {
		h.worker.add(newEvent(eventSubscribe, c).about(s))
	}
}

// Unsubscribed implements [hook.UnsubscribeObserver].
func (h *Webhook) Unsubscribed(c hook.Client, s hook.Subscription) {
	if h.worker.sends(eventUnsubscribe) {
		h.worker.add(newEvent(eventUnsubscribe, c).about(s))
	}
}

// Joined implements [hook.JoinObserver].
func (h *Webhook) Joined(m hook.Member) {
	if h.worker.sends(eventJoin) {
		h.worker.add(newMemberEvent(eventJoin, m))
	}
}

// Left implements [hook.LeaveObserver].
func (h *Webhook) Left(m hook.Member) {
	if h.worker.sends(eventLeave) {
		h.worker.add(newMemberEvent(eventLeave, m))
	}
}

// Asked implements [hook.Selector].
func (h *Webhook) Asked() (connect, subscribe, publish bool) {
	return h.worker.asksBefore(eventConnect), h.worker.asksBefore(eventSubscribe), false
}

// AuthorizeConnect implements [hook.ConnectAuthorizer].
func (h *Webhook) AuthorizeConnect(ctx context.Context, c hook.Client) error {
	return h.worker.authorize(ctx, newEvent(eventConnect, c))
}

// AuthorizeSubscribe implements [hook.SubscribeAuthorizer].
func (h *Webhook) AuthorizeSubscribe(ctx context.Context, c hook.Client, s hook.Subscription) error {
	return h.worker.authorize(ctx, newEvent(eventSubscribe, c).about(s))
}

// The names of events.
const (
	eventConnect     = "connect"
	eventDisconnect  = "disconnect"
	eventSubscribe   = "subscribe"
	eventUnsubscribe = "unsubscribe"
	eventJoin        = "join"
	eventLeave       = "leave"
)

// event is what a backend is told, or asked.
type event struct {
	Event   string          `json:"event"`
	Time    time.Time       `json:"time"`
	Subject string          `json:"subject,omitempty"` // whose token it is
	Info    json.RawMessage `json:"info,omitempty"`    // of the token, a JSON object; of connect and join

	// Of connections: all events but join and leave, which concern no single one.
	Connection uint64   `json:"connection,omitempty"` // unique with the edge of the request; from 1 on
	TokenID    string   `json:"token_id,omitempty"`
	Tenants    []string `json:"tenants,omitempty"` // that the token names; of connect
	IP         string   `json:"ip,omitempty"`      // empty: not known
	Transport  string   `json:"transport,omitempty"`

	Tenant string `json:"tenant,omitempty"` // of all but connect and disconnect

	// Of subscribe and unsubscribe.
	Pattern   string `json:"pattern,omitempty"`
	OwnStream bool   `json:"own_stream,omitempty"`
	Presence  bool   `json:"presence,omitempty"`

	Channel string `json:"channel,omitempty"` // of join and leave

	// Of disconnect.
	CloseCode uint16  `json:"close_code,omitempty"`
	Reason    string  `json:"reason,omitempty"`
	Seconds   float64 `json:"seconds,omitempty"` // that the connection lived

	issuer string // see hook.Client; the backend is not told
}

func newEvent(name string, c hook.Client) event {
	e := event{
		Event: name, Time: time.Now().UTC(), Connection: c.ID, TokenID: c.TokenID, Subject: c.Subject, Transport: c.Transport,
		issuer: c.Issuer,
	}
	if name == eventConnect {
		e.Tenants, e.Info = c.Tenants, c.Info
	}
	if c.IP.IsValid() {
		e.IP = c.IP.String()
	}
	return e
}

func (e event) about(s hook.Subscription) event {
	e.Tenant, e.Pattern, e.OwnStream, e.Presence = s.Tenant, s.Pattern, s.OwnStream, s.Presence
	return e
}

func newMemberEvent(name string, m hook.Member) event {
	return event{Event: name, Time: time.Now().UTC(), Subject: m.Subject, Info: m.Info, Tenant: m.Tenant, Channel: m.Channel, issuer: m.Issuer}
}

// cause is who causes an event: a token, or a subject of a tenant.
func (e *event) cause() string {
	if e.TokenID == "" {
		return e.Tenant + ":" + e.Subject // no ID of a token has a colon
	}
	return e.TokenID
}

var (
	_ caddy.Provisioner        = (*Webhook)(nil)
	_ caddy.CleanerUpper       = (*Webhook)(nil)
	_ hook.ConnectObserver     = (*Webhook)(nil)
	_ hook.DisconnectObserver  = (*Webhook)(nil)
	_ hook.SubscribeObserver   = (*Webhook)(nil)
	_ hook.UnsubscribeObserver = (*Webhook)(nil)
	_ hook.JoinObserver        = (*Webhook)(nil)
	_ hook.LeaveObserver       = (*Webhook)(nil)
	_ hook.ConnectAuthorizer   = (*Webhook)(nil)
	_ hook.SubscribeAuthorizer = (*Webhook)(nil)
	_ hook.Selector            = (*Webhook)(nil)
)
