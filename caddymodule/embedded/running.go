package embedded

import (
	"fmt"

	"github.com/nats-io/nats-server/v2/server"
	nats "github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/millrace/millrace/caddymodule/guest"
)

// running is a running server.
type running struct {
	*server.Server
	connect nats.Option // connects to it inside the process
	storage *storage
	log     logger
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
	r.log = newLogger(log, r.storage)
	s.SetLogger(r.log, false, false)
	s.Start()
	if !s.ReadyForConnections(startTimeout) {
		s.Shutdown()
		s.WaitForShutdown()
		r.log.faults.Close()
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
	r.log.faults.Close()
	return nil
}
