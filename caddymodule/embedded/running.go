package embedded

import (
	"fmt"
	"strings"

	"github.com/millrace/millrace/caddymodule"
	"github.com/nats-io/nats-server/v2/server"
	nats "github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
	"go.uber.org/zap"
)

// running is a server that runs.
type running struct {
	*server.Server
	inside nats.Option // connects to it inside the process
}

// start starts a server. guarded: its clients are this process alone, whoever
// finds its port.
func start(o *server.Options, guarded bool) (*running, error) {
	r := new(running)
	var key nkeys.KeyPair
	if guarded {
		var err error
		var public string
		if key, err = nkeys.CreateUser(); err == nil {
			public, err = key.PublicKey()
		}
		if err != nil {
			return nil, err
		}
		o.Nkeys = []*server.NkeyUser{{Nkey: public}}
		r.inside = nats.Nkey(public, key.Sign)
	}
	s, err := server.NewServer(o)
	if err != nil {
		return nil, err
	}
	r.Server = s
	authenticate := r.inside
	r.inside = func(o *nats.Options) error {
		if authenticate != nil {
			if err := authenticate(o); err != nil {
				return err
			}
		}
		return nats.InProcessServer(s)(o)
	}
	s.SetLogger(logger{caddymodule.LiveLog("pubsub.nats").WithOptions(zap.AddCallerSkip(1)).Sugar()}, false, false)
	s.Start()
	if !s.ReadyForConnections(startTime) {
		s.Shutdown()
		s.WaitForShutdown()
		return nil, fmt.Errorf("it does not start within %v; its log says why", startTime)
	}
	return r, nil
}

// Destruct implements [caddy.Destructor].
func (r *running) Destruct() error {
	r.Shutdown()
	r.WaitForShutdown()
	return nil
}

// logger writes what the server logs to Caddy's log.
type logger struct{ to *zap.SugaredLogger }

func (l logger) Noticef(format string, v ...any) { l.to.Debugf(format, v...) }

// Warnf leaves out what is meant: an edge may be set to take large messages.
func (l logger) Warnf(format string, v ...any) {
	if !strings.HasPrefix(format, "Maximum payloads over") {
		l.to.Warnf(format, v...)
	}
}
func (l logger) Errorf(format string, v ...any) { l.to.Errorf(format, v...) }
func (l logger) Debugf(format string, v ...any) { l.to.Debugf(format, v...) }
func (l logger) Tracef(format string, v ...any) { l.to.Debugf(format, v...) }

// Fatalf is Errorf: the server may not end the process.
func (l logger) Fatalf(format string, v ...any) { l.to.Errorf(format, v...) }
