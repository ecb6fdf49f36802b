package embedded

import (
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/nats-io/jwt/v2"
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
	members *members
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
	var logins []*server.NkeyUser
	if private {
		user, login, err := newLogin()
		if err != nil {
			return nil, err
		}
		logins, r.connect = append(logins, user), login
	}
	var operator nats.Option
	if sys := systemAccount(o, private); sys != nil {
		user, login, err := newLogin()
		if err != nil {
			return nil, err
		}
		user.Account = sys
		logins, operator = append(logins, user), login
	}
	o.Nkeys = append(o.Nkeys, logins...)
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
			if err == nil {
				fresh.Nkeys, fresh.Users, fresh.NoAuthUser, fresh.Accounts, fresh.SystemAccount = o.Nkeys, o.Users, o.NoAuthUser, o.Accounts, o.SystemAccount
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
	if o.Cluster.Port == 0 || !o.JetStream {
		return r, nil
	}
	var conn *nats.Conn
	if operator != nil {
		conn, err = nats.Connect("", operator, nats.InProcessServer(s), nats.Name("millrace members"), nats.MaxReconnects(-1), nats.RetryOnFailedConnect(true))
		if err != nil {
			return nil, errors.Join(fmt.Errorf("the system account: %w", err), r.Destruct())
		}
	}
	r.members = newMembers(s, conn, r.log.faults)
	if private {
		r.members.login = r.connect
	}
	r.members.start()
	return r, nil
}

// newLogin makes a user of the server, and the option with which a client is that user.
func newLogin() (*server.NkeyUser, nats.Option, error) {
	key, err := nkeys.CreateUser()
	if err != nil {
		return nil, nil, err
	}
	public, err := key.PublicKey()
	if err != nil {
		return nil, nil, err
	}
	return &server.NkeyUser{Nkey: public}, nats.Nkey(public, key.Sign), nil
}

// systemAccount returns the system account of a server in a cluster, to which a user can be
// added: with private, or where users are listed. Elsewhere it is nil: a user more would make
// others log in, or is not possible with an operator.
func systemAccount(o *server.Options, private bool) *server.Account {
	if o.Cluster.Port == 0 || !private && (len(o.Users)+len(o.Nkeys) == 0 || len(o.TrustedOperators)+len(o.TrustedKeys) > 0) {
		return nil
	}
	if o.SystemAccount == "" {
		o.SystemAccount = server.DEFAULT_SYSTEM_ACCOUNT
	}
	for _, account := range o.Accounts {
		if account.Name == o.SystemAccount {
			return account
		}
	}
	account := server.NewAccount(o.SystemAccount)
	o.Accounts = append(o.Accounts, account)
	if private {
		// With these two accounts alone, nats-server would let in everybody who shows nothing, unless
		// it is told as whom (configureAccounts in server.go): as one who cannot connect here.
		nobody := &server.User{
			Username: "nobody", Password: rand.Text(),
			AllowedConnectionTypes: map[string]struct{}{jwt.ConnectionTypeMqtt: {}},
		}
		o.Users, o.NoAuthUser = append(o.Users, nobody), nobody.Username
	}
	return account
}

// Destruct implements [caddy.Destructor].
func (r *running) Destruct() error {
	r.members.stop()
	r.storage.stop()
	r.Shutdown()
	r.WaitForShutdown()
	r.log.faults.Close()
	return nil
}
