package webhook

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/millrace/millrace/caddymodule/args"
	"github.com/millrace/millrace/caddymodule/guest"
)

// options are those of a worker.
type options struct {
	url                           string
	key                           []byte // that signs
	tls                           *tls.Config
	events                        []string
	batchSize, queue              int
	batchDelay, timeout, retryFor time.Duration
	ask                           askOptions
}

type askOptions struct {
	before      []string // empty: nothing is asked
	allow       bool     // what silence means
	timeout     time.Duration
	maxInFlight int
}

var allEvents = []string{eventConnect, eventDisconnect, eventSubscribe, eventUnsubscribe, eventJoin, eventLeave}

const (
	minSecret = 16
	maxSecret = 256
)

// options checks the configuration, and gives the key under which the worker is shared.
func (h *Webhook) options() (o options, err error) {
	if err := args.Resolve(h); err != nil {
		return o, err
	}
	o = options{
		url: h.URL, events: h.Events, batchSize: h.BatchSize, queue: h.Queue,
		batchDelay: time.Duration(h.BatchDelay), timeout: time.Duration(h.Timeout), retryFor: time.Duration(h.RetryFor),
	}
	u, err := url.Parse(h.URL) // its error quotes the URL
	if err != nil || u.Scheme != "https" || u.Host == "" || u.Fragment != "" {
		return o, errors.New("url: must be an https URL, like https://backend.example.com/millrace")
	}
	if u.User != nil {
		return o, errors.New("url: must hold no user and no password; requests are signed with the secret")
	}
	h.shown = u.Host
	if o.key, err = secretKey(h.Secret); err != nil {
		return o, err
	}
	switch {
	case len(o.events) == 0:
		o.events = allEvents
	case slices.Equal(o.events, []string{"none"}):
		o.events = nil
	}
	for _, name := range o.events {
		if !slices.Contains(allEvents, name) {
			return o, fmt.Errorf("events: unknown event %s; allowed: %s, or none alone", name, strings.Join(allEvents, ", "))
		}
	}
	if err := h.askOptions(&o.ask); err != nil {
		return o, fmt.Errorf("ask: %w", err)
	}
	if len(o.events) == 0 && len(o.ask.before) == 0 {
		return o, errors.New("no events and nothing to ask, so the hook does nothing: set `events` or one of the questions")
	}
	if err := errors.Join(
		within("batch_size", &o.batchSize, 100, 1, 1000),
		within("queue", &o.queue, 10_000, 1, 1_000_000),
		within("batch_delay", &o.batchDelay, 500*time.Millisecond, time.Millisecond, time.Minute),
		within("timeout", &o.timeout, 5*time.Second, 100*time.Millisecond, time.Minute),
		within("retry_for", &o.retryFor, 10*time.Minute, time.Second, 24*time.Hour),
	); err != nil {
		return o, err
	}
	var ca []byte
	if h.CA != "" {
		if ca, err = os.ReadFile(h.CA); err != nil {
			return o, fmt.Errorf("ca: %w", err)
		}
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM(ca) {
			return o, fmt.Errorf("ca: %s holds no certificate in PEM form", h.CA)
		}
		o.tls = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	}
	all, err := json.Marshal(h)
	h.key = guest.KeyedHash(string(all), string(o.key), string(ca))
	return o, err
}

func (h *Webhook) askOptions(o *askOptions) error {
	if h.Ask == nil {
		return nil
	}
	*o = askOptions{
		before: h.Ask.Before, allow: h.Ask.OnSilence == "allow",
		timeout: time.Duration(h.Ask.Timeout), maxInFlight: h.Ask.MaxInFlight,
	}
	if len(o.before) == 0 {
		return errors.New("before: must be connect, subscribe, or both")
	}
	for _, name := range o.before {
		if name != eventConnect && name != eventSubscribe {
			return fmt.Errorf("before: must be connect, subscribe, or both, not %s", name)
		}
	}
	if !o.allow && h.Ask.OnSilence != "refuse" {
		return errors.New("on_silence: must be allow or refuse: what it means when the backend does not answer")
	}
	return errors.Join(
		within("timeout", &o.timeout, 2*time.Second, 10*time.Millisecond, 4*time.Second),
		within("max_in_flight", &o.maxInFlight, 64, 1, 10_000),
	)
}

// within gives an option its default in place of zero, and checks its bounds.
func within[T int | time.Duration](name string, value *T, byDefault, least, most T) error {
	if *value == 0 {
		*value = byDefault
	}
	if *value < least || *value > most {
		return fmt.Errorf("%s: must be from %v to %v", name, least, most)
	}
	return nil
}

// secretKey reads the secret. No error repeats it.
func secretKey(placeholder string) ([]byte, error) {
	if !args.Placeholder.MatchString(placeholder) {
		return nil, errors.New("secret: must be a placeholder like {env.NAME} or {file./run/secrets/name}, not the secret itself")
	}
	text, err := args.Replace(placeholder)
	if err != nil {
		return nil, fmt.Errorf("secret: %w", err)
	}
	key := []byte(text)
	if encoded, ok := strings.CutPrefix(string(key), "whsec_"); ok {
		if key, err = base64.StdEncoding.DecodeString(encoded); err != nil {
			return nil, errors.New("secret: behind whsec_ must stand base64")
		}
	}
	if len(key) < minSecret || len(key) > maxSecret {
		return nil, fmt.Errorf("secret: must have from %d to %d bytes", minSecret, maxSecret)
	}
	return key, nil
}

// UnmarshalCaddyfile sets up the hook from Caddyfile tokens. Syntax:
//
//	hook webhook <url> {
//		secret      {env.NAME}|{file./path}
//		events      connect|disconnect|subscribe|unsubscribe|join|leave ... | none
//		batch_size  <count>
//		batch_delay <duration>
//		queue       <count>
//		timeout     <duration>
//		retry_for   <duration>
//		ca          <file>
//		ask connect|subscribe ... {
//			on_silence    allow|refuse
//			timeout       <duration>
//			max_in_flight <count>
//		}
//	}
func (h *Webhook) UnmarshalCaddyfile(d *caddyfile.Dispenser) (err error) {
	d.Next() // consume the hook's name
	if h.URL, err = args.One(d); err != nil {
		return err
	}
	seen := map[string]bool{}
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		option := d.Val()
		if seen[option] {
			return d.Errf("%s is given twice", option)
		}
		seen[option] = true
		switch option {
		case "secret":
			h.Secret, err = args.Secret(d)
		case "events":
			if h.Events = d.RemainingArgs(); len(h.Events) == 0 {
				err = d.ArgErr()
			}
		case "batch_size":
			h.BatchSize, err = args.Number(d, args.Count)
		case "batch_delay":
			h.BatchDelay, err = args.Duration(d)
		case "queue":
			h.Queue, err = args.Number(d, args.Count)
		case "timeout":
			h.Timeout, err = args.Duration(d)
		case "retry_for":
			h.RetryFor, err = args.Duration(d)
		case "ca":
			h.CA, err = args.One(d)
		case "ask":
			h.Ask, err = unmarshalAsk(d)
		default:
			err = d.Errf("unknown option %s of hook webhook; allowed: secret, events, batch_size, batch_delay, queue, timeout, retry_for, ca, ask", option)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func unmarshalAsk(d *caddyfile.Dispenser) (*Ask, error) {
	ask := &Ask{Before: d.RemainingArgs()}
	if len(ask.Before) == 0 {
		return nil, d.ArgErr()
	}
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		var err error
		switch option := d.Val(); option {
		case "on_silence":
			ask.OnSilence, err = args.One(d)
		case "timeout":
			ask.Timeout, err = args.Duration(d)
		case "max_in_flight":
			ask.MaxInFlight, err = args.Number(d, args.Count)
		default:
			err = d.Errf("unknown option %s of ask; allowed: on_silence, timeout, max_in_flight", option)
		}
		if err != nil {
			return nil, err
		}
	}
	return ask, nil
}

var _ caddyfile.Unmarshaler = (*Webhook)(nil)
