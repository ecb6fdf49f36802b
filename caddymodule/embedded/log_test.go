package embedded

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/millrace/millrace/internal/loopback"
)

// dialCounter counts the peers that a server could not dial.
type dialCounter struct {
	logger
	n atomic.Int32
}

func (c *dialCounter) Errorf(format string, v ...any) {
	if strings.HasPrefix(format, routeError) {
		c.n.Add(1)
	}
	c.logger.Errorf(format, v...)
}

// The server of an edge says once, and then once a minute, that a peer is away, and once that
// it is back, by whatever text the server has for it.
func TestPeerAway(t *testing.T) {
	t.Parallel()
	var list [2]string
	for i := range list {
		list[i] = fmt.Sprintf("127.0.0.1:%d", loopback.FreePort(t))
	}
	routes := []string{"nats://" + list[0], "nats://" + list[1]}
	one := member(t, &Cluster{Name: "edges", Listen: list[0], Routes: routes})
	core, logs := observer.New(zap.InfoLevel)
	log := newLogger(zap.New(core), one.storage)
	defer log.faults.Close()
	dials := &dialCounter{logger: log}
	one.SetLogger(dials, false, false)
	away := func() *observer.ObservedLogs {
		return logs.FilterMessage("cannot connect to the NATS server of another edge").FilterField(zap.String("peer", list[1]))
	}
	await(t, "word that the other one is away", func() bool { return away().Len() > 0 })
	two := member(t, &Cluster{Name: "edges", Listen: list[1], Routes: routes})
	await(t, "the cluster", func() bool { return one.NumRoutes() > 0 && two.NumRoutes() > 0 })
	must(t, two.Destruct()) // a server has several routes to it, which it dials each second
	await(t, "the end of the routes", func() bool { return one.NumRoutes() == 0 })
	before := dials.n.Load()
	await(t, "more attempts", func() bool { return dials.n.Load() >= before+8 })
	member(t, &Cluster{Name: "edges", Listen: list[1], Routes: routes})
	await(t, "word that it is back", func() bool {
		return logs.FilterMessage("connected to the NATS server of another edge again").Len() > 0
	})
	if n := away().Len(); n > 2 {
		t.Errorf("%d lines: %v", n, away().All())
	}
	for _, line := range logs.All() {
		if strings.Contains(line.Message, routeError) {
			t.Errorf("the server's own line %q", line.Message)
		}
	}
}

// Lines of the server that differ in numbers alone are about one fault, those of two peers are
// not.
func TestServerLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zap.InfoLevel)
		log := newLogger(zap.New(core), nil)
		defer log.faults.Close()
		for i := range 100 {
			for _, ip := range []string{"10.0.0.1", "10.0.0.2"} {
				log.Errorf(routeError+" (attempt %v): %v", i, &net.OpError{Op: "dial", Addr: &net.TCPAddr{IP: net.ParseIP(ip), Port: 6222}, Err: errors.New("refused")})
				log.Warnf(fmt.Sprintf("%s:%d - rid:%d - ", ip, 40000+i, i) + "authentication error")
			}
			log.Errorf(routeError+" (attempt %v): %v", i, &net.DNSError{Name: "edge-3.internal", Err: "no such host"})
			log.Errorf("another error %d", i)
			time.Sleep(time.Second / 4)
		}
		if n := logs.Len(); n != 6 {
			t.Errorf("%d lines: %v", n, logs.All())
		}
		time.Sleep(2 * faultSilence)
		if n := logs.Len(); n != 12 {
			t.Errorf("%d lines after the end: %v", n, logs.All())
		}
		if peer := logs.FilterField(zap.String("peer", "edge-3.internal")).Len(); peer != 2 {
			t.Errorf("%d lines about a name", peer)
		}
	})
}
