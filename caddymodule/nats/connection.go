package nats

import (
	"errors"
	"math/rand/v2"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	nats "github.com/nats-io/nats.go"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/millrace/millrace/caddymodule/guest"
	"github.com/millrace/millrace/internal/outage"
)

// connection is a connection of a guest to NATS. It knows, and logs, why NATS cannot be
// reached: at the start, where NATS's client says nothing, and later. Its methods may be
// called concurrently.
type connection struct {
	options []nats.Option
	release func() error // of the embedded server
	servers string
	wait    time.Duration // between two attempts, and half of it more at random
	hide    *strings.Replacer

	faults *outage.Log
	conn   atomic.Pointer[nats.Conn]
	now    atomic.Pointer[guest.LinkTrouble] // nil: it is connected, or has not tried yet

	// For nextServer, which NATS's client calls with its lock held.
	last  string // the URL of the server that was tried last
	tried int    // servers since the last pause

	running sync.WaitGroup // of goroutines that end at once
}

// serverPause is the pause between attempts at two servers. NATS's client makes none, and then
// nobody can see why the first one failed.
const serverPause = 10 * time.Millisecond

// connectionFault is the key of the only fault of a connection.
const connectionFault = "connection"

// newConnection prepares a connection, whose name ends with purpose. The caller calls close.
func (l *Link) newConnection(purpose string, log *zap.Logger) (*connection, error) {
	options, release, err := l.options(purpose)
	if err != nil {
		return nil, err
	}
	c := &connection{
		options: options, release: release, wait: time.Duration(l.ReconnectWait), hide: l.resolved.hide(),
		faults: outage.New(log, 0), servers: l.resolved.servers,
	}
	if l.server != nil {
		c.servers = "" // it is in this process
	}
	return c, nil
}

// connect opens the connection with these options added. It returns one also while no server
// can be reached.
func (c *connection) connect(more ...nats.Option) (*nats.Conn, error) {
	conn, err := nats.Connect(c.servers, append(append(c.options[:len(c.options):len(c.options)], more...), c.watch)...)
	if err != nil {
		return nil, errors.New(c.hide.Replace(err.Error()))
	}
	c.conn.Store(conn)
	return conn, nil
}

// close ends what belongs to the connection, which is closed.
func (c *connection) close() error {
	c.running.Wait()
	c.faults.Close()
	return c.release()
}

// watch is an option that notes what becomes of the connection, before the handlers that
// other options have set. NATS's client reports a failed dial to the handler of failed
// reconnects. A login or a TLS handshake that failed is only its last error, until the end of
// the next attempt; so it is looked at in the pause before that.
func (c *connection) watch(o *nats.Options) error {
	connected, reconnected, disconnected := o.ConnectedCB, o.ReconnectedCB, o.DisconnectedErrCB
	o.ConnectedCB = func(conn *nats.Conn) { c.connected(conn, connected) }
	o.ReconnectedCB = func(conn *nats.Conn) { c.connected(conn, reconnected) }
	o.DisconnectedErrCB = func(conn *nats.Conn, err error) {
		if err != nil && !conn.IsClosed() {
			c.note("disconnected from NATS", zap.WarnLevel, err)
		}
		if disconnected != nil {
			disconnected(conn, err)
		}
	}
	o.ReconnectErrCB = func(_ *nats.Conn, err error) { c.failed(err) }
	o.ReconnectToServerCB = func(pool []nats.Server, _ nats.ServerInfo) (*nats.Server, time.Duration) { return c.nextServer(pool) }
	return nil
}

// nextServer chooses the server of the next attempt, one after the other, and the pause before
// it, a long one when all were tried.
func (c *connection) nextServer(pool []nats.Server) (*nats.Server, time.Duration) {
	next := &pool[(slices.IndexFunc(pool, func(s nats.Server) bool { return s.URL.String() == c.last })+1)%len(pool)]
	c.last = next.URL.String()
	if conn := c.conn.Load(); conn != nil {
		c.running.Go(func() { c.failed(conn.LastError()) })
	}
	if c.tried+1 < len(pool) {
		c.tried++
		return next, serverPause
	}
	c.tried = 0
	return next, c.wait + rand.N(c.wait/2+1)
}

func (c *connection) connected(conn *nats.Conn, then nats.ConnHandler) {
	if conn.IsConnected() {
		c.now.Store(nil)
		c.faults.End(connectionFault)
	}
	if then != nil {
		then(conn)
	}
}

// failed notes that NATS could not be reached. That no server is left to try says nothing:
// the next attempt has the reason.
func (c *connection) failed(err error) {
	if err != nil && !errors.Is(err, nats.ErrNoServers) {
		c.note("cannot connect to NATS", zap.ErrorLevel, err)
	}
}

func (c *connection) note(what string, level zapcore.Level, err error) {
	trouble := troubleOf(err)
	trouble.Error = c.hide.Replace(err.Error())
	trouble.Since = time.Now()
	if before := c.now.Load(); before != nil {
		trouble.Since = before.Since
	}
	c.now.Store(&trouble)
	line := outage.Line{
		Level: level, Message: what, Over: "connected to NATS again",
		Why: []zap.Field{zap.String("code", trouble.Code), zap.String("reason", trouble.Reason), zap.String("error", trouble.Error)},
	}
	if c.servers != "" {
		line.Fields = []zap.Field{zap.String("servers", c.hide.Replace(c.servers))}
	}
	c.faults.Note(connectionFault, trouble.Code, line)
}

// state is how the connection is, or else what its user says, if that is not nil.
func (c *connection) state(of string, since time.Time, user error) guest.LinkState {
	s := guest.LinkState{Of: of}
	if conn := c.conn.Load(); conn != nil {
		s.Connected = conn.IsConnected()
	}
	switch now := c.now.Load(); {
	case now != nil:
		s.Trouble = now
	case user != nil:
		trouble := troubleOf(user)
		trouble.Error, trouble.Since = c.hide.Replace(user.Error()), since
		s.Trouble = &trouble
	}
	return s
}

var userinfo = regexp.MustCompile(`//[^/@\s"]*@`)

// hide returns what takes secrets out of a text: those of the options, and the user and
// password of URLs.
func (r *resolvedLink) hide() *strings.Replacer {
	const hidden = "REDACTED"
	var pairs []string
	for _, secret := range []string{r.password, r.token} {
		if secret != "" {
			pairs = append(pairs, secret, hidden)
		}
	}
	for server := range strings.SplitSeq(r.servers, ",") {
		u, err := url.Parse(server)
		if err != nil || u.User == nil {
			continue
		}
		pairs = append(pairs, userinfo.FindString(server), "//"+hidden+"@", u.User.String(), hidden)
		if password, has := u.User.Password(); has && password != "" {
			pairs = append(pairs, password, hidden)
		} else if name := u.User.Username(); name != "" { // alone it is a token
			pairs = append(pairs, name, hidden)
		}
	}
	return strings.NewReplacer(pairs...)
}
