package networks

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"sync"
	"time"

	sdk "github.com/millrace/millrace/client"
)

// rootEnv names the file with the certificate that the process of a client trusts.
const rootEnv = "MILLRACE_NETWORKS_ROOT"

// runHost is the process of a client, until its stdin ends. It takes commands, one a line,
// and says what the client does.
func runHost(kind string) error {
	switch kind {
	case "go":
		return runGo()
	case "latency":
		return runLatency()
	}
	return runBrowser(kind)
}

// goHost runs a client of the SDK in Go.
type goHost struct {
	tls    *tls.Config
	client *sdk.Client

	mu  sync.Mutex
	out *json.Encoder
}

func runGo() error {
	root, err := os.ReadFile(os.Getenv(rootEnv))
	if err != nil {
		return err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(root)
	h := &goHost{tls: &tls.Config{RootCAs: pool}, out: json.NewEncoder(os.Stdout)}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var c command
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			return err
		}
		answer := report{Event: "answer", ID: c.ID}
		if err := h.carryOut(c); err != nil {
			answer.Error = &failed{Text: err.Error()}
		}
		h.say(answer)
	}
	if h.client != nil {
		_ = h.client.Close()
	}
	return lines.Err()
}

func (h *goHost) say(r report) {
	h.mu.Lock()
	defer h.mu.Unlock()
	_ = h.out.Encode(r) // who reads may be gone
}

func (h *goHost) carryOut(c command) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	switch c.Cmd {
	case "connect":
		o := sdk.Options{Token: c.Options.Token, KeepAlive: time.Duration(c.Options.KeepAlive) * time.Millisecond, TLS: h.tls, OnEvent: h.event}
		for _, t := range c.Options.Transports {
			o.Transports = append(o.Transports, sdk.Transport(t))
		}
		h.client, err = sdk.Connect(ctx, c.Addresses, o)
		return err
	case "subscribe":
		_, err = h.client.SubscribeFunc(ctx, c.Tenant, c.Pattern, func(m sdk.Message) {
			h.say(report{Event: "message", Payload: m.Payload, Late: m.Late})
		})
		return err
	}
	return fmt.Errorf("unknown command %s", c.Cmd)
}

// event says an event by its type's name and those of its fields that are of interest.
func (h *goHost) event(e sdk.Event) {
	value := reflect.ValueOf(e)
	name := value.Type().Name()
	r := report{Event: strings.ToLower(name[:1]) + name[1:]}
	for field, to := range map[string]*string{"Edge": &r.Edge, "Transport": &r.Transport, "Reason": &r.Reason} {
		if f := value.FieldByName(field); f.IsValid() {
			*to = f.String()
		}
	}
	if f := value.FieldByName("Away"); f.IsValid() {
		r.Away = float64(f.Int()) / float64(time.Millisecond)
	}
	if f := value.FieldByName("Err"); f.IsValid() && !f.IsNil() {
		r.Error = &failed{Text: fmt.Sprint(f.Interface())}
	}
	h.say(r)
}
