package embedded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/nats-io/nats-server/v2/server"
	nats "github.com/nats-io/nats.go"

	"github.com/millrace/millrace/caddymodule/guest"
)

const (
	// reachPatience is how long a server of a cluster has to take a connection.
	reachPatience = 5 * time.Second
	// joinPatience is how long the members have to appear, with a leader.
	joinPatience = time.Minute
)

// Shrink removes the members of a cluster whose names are the prefix and a number from size
// on, also those that run. It joins the cluster for that, as a server without JetStream: the
// options are those of the cluster, with a route to a name that has the addresses of all
// members. It does nothing where no server takes a connection, since there is no cluster yet
// or any more. tell is called with what happens.
func (s *Server) Shrink(ctx context.Context, prefix string, size int, tell func(string)) error {
	if s.Cluster == nil || len(s.Cluster.Routes) != 1 {
		return errors.New("cluster: needs one route, to all members")
	}
	routes, err := reachable(ctx, s.Cluster.Routes[0])
	if err != nil {
		return err
	}
	if len(routes) == 0 {
		tell("No NATS server of the cluster runs: nothing is removed.")
		return nil
	}
	s.Cluster.Routes = routes
	if err := s.Provision(caddy.Context{}); err != nil {
		return err
	}
	o, err := s.options()
	if err != nil {
		return err
	}
	o.JetStream = false
	return s.joined(ctx, o, func(m *members) error {
		return m.shrink(ctx, prefix, size, tell)
	})
}

// joined calls f while a server runs with these options.
func (s *Server) joined(ctx context.Context, o *server.Options, f func(*members) error) error {
	user, login, err := newLogin()
	if err != nil {
		return err
	}
	user.Account = systemAccount(o, true)
	o.Nkeys = []*server.NkeyUser{user}
	r, err := start(func() (*server.Options, error) { return o, nil }, false)
	if err != nil {
		return err
	}
	defer func() { _ = r.Destruct() }() // returns nil
	conn, err := nats.Connect("", login, nats.InProcessServer(r.Server), nats.Name("millrace shrink"))
	if err != nil {
		return err
	}
	m := newMembers(r.Server, conn, r.log.faults)
	defer m.stop()
	return f(m)
}

// reachable returns routes to the addresses of a route's host where a server takes connections.
// It is an error if there may be servers that do not answer.
func reachable(ctx context.Context, route string) (routes []string, err error) {
	host, port, err := net.SplitHostPort(strings.TrimPrefix(route, "nats://"))
	if err != nil {
		return nil, fmt.Errorf("route %s: must be nats://host:port", route)
	}
	ctx, cancel := context.WithTimeout(ctx, 2*reachPatience)
	defer cancel()
	addresses, err := net.DefaultResolver.LookupHost(ctx, host)
	var unknown *net.DNSError
	if errors.As(err, &unknown) && unknown.IsNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var silent error
	for _, address := range addresses {
		target := net.JoinHostPort(address, port)
		conn, err := (&net.Dialer{Timeout: reachPatience}).DialContext(ctx, "tcp", target)
		switch {
		case err == nil:
			conn.Close()
			routes = append(routes, "nats://"+target)
		case !errors.Is(err, syscall.ECONNREFUSED):
			silent = err
		}
	}
	if len(routes) == 0 && silent != nil {
		return nil, fmt.Errorf("no server of the cluster can be reached: %w (does a network policy allow it?)", silent)
	}
	return routes, nil
}

// shrink removes the members whose names are the prefix and a number from size on: those that
// are offline first, and of the others the one with the highest number.
func (m *members) shrink(ctx context.Context, prefix string, size int, tell func(string)) error {
	extra := func(q guest.Quorum) (list []guest.Member) {
		number := func(member guest.Member) int {
			n, err := strconv.Atoi(strings.TrimPrefix(member.Name, prefix))
			if err != nil || !strings.HasPrefix(member.Name, prefix) {
				return -1
			}
			return n
		}
		for _, member := range q.Members {
			if number(member) >= size {
				list = append(list, member)
			}
		}
		slices.SortFunc(list, func(a, b guest.Member) int {
			runs := func(m guest.Member) int {
				if m.State == guest.MemberOffline {
					return 0
				}
				return 1
			}
			return cmp.Or(runs(a)-runs(b), number(b)-number(a))
		})
		return list
	}
	var q guest.Quorum
	for end := time.Now().Add(joinPatience); !q.Up(); {
		m.look(ctx)
		q, _ = m.quorum()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case time.Now().Before(end):
		case len(q.Members) == 0:
			return errors.New("the servers of the cluster say nothing: do they run, and with this name of the cluster, user and password?")
		case len(extra(q)) > 0:
			return fmt.Errorf("the cluster has no quorum, so no member can be removed: %d of its %d members run, and %d must. Start those that are offline first (%s)",
				q.Running, len(q.Members), q.Needed, strings.Join(q.Offline(), ", "))
		default:
			return nil
		}
		if !q.Up() {
			time.Sleep(removalInterval)
		}
	}
	for list := extra(q); len(list) > 0; list = extra(q) {
		name, told := list[0].Name, ""
		for done := (guest.Removal{}); !done.Done(); {
			var err error
			if done, err = m.remove(ctx, name, guest.RemoveOptions{Running: true}); err != nil {
				return err
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if now := strings.Join(done.Moving, "; "); now != told && now != "" {
				tell(name + ": " + now)
				told = now
			}
		}
		tell(name + " is removed.")
		q, _ = m.quorum()
	}
	names := make([]string, len(q.Members))
	for i, member := range q.Members {
		names[i] = member.Name
	}
	tell("The members of the cluster are " + strings.Join(names, ", ") + ".")
	return nil
}
