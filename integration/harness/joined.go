package harness

import (
	"fmt"
	"strings"
	"testing"

	"github.com/millrace/millrace/internal/loopback"
	"github.com/millrace/millrace/internal/natstest"
)

// StartJoined starts edges with NATS inside that are one cluster and have one token store, with a
// folder for each server. Each edge has two links, one to each other edge, which they share.
func StartJoined(t *testing.T, caddyfile string, dirs []string, options ...Option) (o *Overlay, links [][]*natstest.Proxy) {
	t.Helper()
	o, links = &Overlay{T: t}, make([][]*natstest.Proxy, len(dirs))
	listens := make([]string, len(dirs))
	for at := range listens {
		listens[at] = fmt.Sprintf("127.0.0.1:%d", loopback.FreePort(t))
	}
	var joins []Option
	for at, listen := range listens {
		var routes []string
		for other := range listens {
			if other != at {
				link := natstest.ProxyTo(t, listens[other])
				links[at], links[other] = append(links[at], link), append(links[other], link)
				routes = append(routes, link.URL())
			}
		}
		joins = append(joins, func(e *Edge) {
			for _, set := range options {
				set(e)
			}
			e.Store = fmt.Sprintf("nats {\nreplicas %d\n}", min(3, len(dirs)))
			e.Broker = fmt.Sprintf("nats {\nembedded {\nname edge-%d\ndir %s\ncluster edges {\nlisten %s\nroutes %s\nuser edge\npassword {env.MILLRACE_MASTER_TOKEN}\n}\n}\n}",
				at, dirs[at], listen, strings.Join(routes, " "))
		})
	}
	o.StartEdges(caddyfile, joins)
	return o, links
}
