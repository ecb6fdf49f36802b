package embedded

import (
	"fmt"
	"strings"

	"github.com/nats-io/nats-server/v2/server"
	nats "github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
	"go.uber.org/zap"

	"github.com/millrace/millrace/caddymodule/guest"
)

// running is a server that runs.
type running struct {
	*server.Server
	inside  nats.Option // connects to it inside the process
	storage *storage
}

// start starts a server with the options that a function makes, which is called again
// when its storage begins again. guarded: its clients are this process alone, whoever
// finds its port.
func start(options func() (*server.Options, error), guarded bool) (*running, error) {
	o, err := options()
	if err != nil {
		return nil, err
	}
	r := new(running)
	var key nkeys.KeyPair
	if guarded {
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
	log := guest.LiveLog("pubsub.nats")
	if o.JetStream {
		r.storage = newStorage(s, func() (*server.Options, error) {
			again, err := options()
			if err == nil && guarded {
				again.Nkeys = o.Nkeys
			}
			return again, err
		}, log)
	}
	s.SetLogger(logger{log.WithOptions(zap.AddCallerSkip(1)).Sugar(), r.storage}, false, false)
	s.Start()
	if !s.ReadyForConnections(startTime) {
		s.Shutdown()
		s.WaitForShutdown()
		return nil, fmt.Errorf("it does not start within %v; its log says why", startTime)
	}
	r.storage.begin()
	return r, nil
}

// Destruct implements [caddy.Destructor].
func (r *running) Destruct() error {
	r.storage.end()
	r.Shutdown()
	r.WaitForShutdown()
	return nil
}

// logger writes what the server logs to Caddy's log.
type logger struct {
	to      *zap.SugaredLogger
	storage *storage // hears of errors
}

func (l logger) Noticef(format string, v ...any) { l.to.Debugf(format, v...) }

// Warnf leaves out what is meant: an edge may be set to take large messages.
func (l logger) Warnf(format string, v ...any) {
	if !strings.HasPrefix(format, "Maximum payloads over") {
		l.to.Warnf(format, v...)
	}
}
func (l logger) Errorf(format string, v ...any) {
	l.to.Errorf(format, v...)
	l.storage.hear(format, v)
}
func (l logger) Debugf(format string, v ...any) { l.to.Debugf(format, v...) }
func (l logger) Tracef(format string, v ...any) { l.to.Debugf(format, v...) }

// Fatalf is Errorf: the server may not end the process.
func (l logger) Fatalf(format string, v ...any) { l.to.Errorf(format, v...) }
