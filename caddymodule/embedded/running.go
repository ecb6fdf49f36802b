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

// running is a running server.
type running struct {
	*server.Server
	connect nats.Option // connects to it inside the process
	storage *storage
}

// start starts a server with the options that a function returns; the function is called
// again when JetStream restarts. With private, the server accepts only this process as a
// client, even if others find its port.
func start(options func() (*server.Options, error), private bool) (*running, error) {
	o, err := options()
	if err != nil {
		return nil, err
	}
	r := new(running)
	var key nkeys.KeyPair
	if private {
		var public string
		if key, err = nkeys.CreateUser(); err == nil {
			public, err = key.PublicKey()
		}
		if err != nil {
			return nil, err
		}
		o.Nkeys = []*server.NkeyUser{{Nkey: public}}
		r.connect = nats.Nkey(public, key.Sign)
	}
	s, err := server.NewServer(o)
	if err != nil {
		return nil, err
	}
	r.Server = s
	authenticate := r.connect
	r.connect = func(o *nats.Options) error {
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
			fresh, err := options()
			if err == nil && private {
				fresh.Nkeys = o.Nkeys
			}
			return fresh, err
		}, log)
	}
	s.SetLogger(logger{log.WithOptions(zap.AddCallerSkip(1)).Sugar(), r.storage}, false, false)
	s.Start()
	if !s.ReadyForConnections(startTimeout) {
		s.Shutdown()
		s.WaitForShutdown()
		return nil, fmt.Errorf("it does not start within %v; its log says why", startTimeout)
	}
	r.storage.start()
	return r, nil
}

// Destruct implements [caddy.Destructor].
func (r *running) Destruct() error {
	r.storage.stop()
	r.Shutdown()
	r.WaitForShutdown()
	return nil
}

// logger passes the server's log to Caddy's.
type logger struct {
	to      *zap.SugaredLogger
	storage *storage // gets the errors, too
}

func (l logger) Noticef(format string, v ...any) { l.to.Debugf(format, v...) }

// Warnf drops a warning of what is intended: an edge may be configured to accept large messages.
func (l logger) Warnf(format string, v ...any) {
	if !strings.HasPrefix(format, "Maximum payloads over") {
		l.to.Warnf(format, v...)
	}
}
func (l logger) Errorf(format string, v ...any) {
	l.to.Errorf(format, v...)
	l.storage.noteError(format, v)
}
func (l logger) Debugf(format string, v ...any) { l.to.Debugf(format, v...) }
func (l logger) Tracef(format string, v ...any) { l.to.Debugf(format, v...) }

// Fatalf logs an error: the server must not end the process.
func (l logger) Fatalf(format string, v ...any) { l.to.Errorf(format, v...) }
