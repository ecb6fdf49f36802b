package webtransport

import (
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/wire"
)

func loopback(ip netip.Addr) bool { return ip == netip.MustParseAddr("127.0.0.1") }

// Every message asks whether the client may send from its address.
func TestPeerIsChecked(t *testing.T) {
	for name, send := range map[string]func(*client){
		"a message":                  func(c *client) { c.send("PING") },
		"a line":                     func(c *client) { c.uni().write([]byte("SUB:D:t:a\n")) },
		"a frame":                    func(c *client) { c.send(publish("a", nil)) },
		"a stream without any lines": func(c *client) { c.lines("") },
	} {
		run(t, name, func(t *testing.T) {
			var moved atomic.Bool
			e := newEdge(t, setup{allow: func(ip netip.Addr) bool {
				if !loopback(ip) {
					t.Errorf("asked for %v", ip)
				}
				return !moved.Load()
			}})
			c := e.connect("/serve")
			c.subscribe("a")
			moved.Store(true)
			send(c)
			c.expect("ERR:forbidden:ip", "FIN")
			c.expectEnd(wire.CloseForbidden)
		})
	}
}

// And so does the edge, if there is no message.
func TestSilentPeerIsChecked(t *testing.T) {
	for path, first := range map[string]string{"/serve": "PING", "/await": "AUTH:good"} {
		run(t, path, func(t *testing.T) {
			var moved atomic.Bool
			e := newEdge(t, setup{allow: func(netip.Addr) bool { return !moved.Load() }})
			c := e.connect(path)
			start := time.Now()
			c.send(first)
			c.main.read()
			moved.Store(true)
			c.expect("ERR:forbidden:ip", "FIN")
			c.expectEnd(wire.CloseForbidden)
			if took := time.Since(start); took < peerCheckEvery-2*tickEvery || took > peerCheckEvery+2*tickEvery {
				t.Errorf("took %v", took)
			}
		})
	}
}

// Also if it has not opened its stream yet; it gets the code alone.
func TestPeerWithoutStreamIsChecked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEdge(t, setup{allow: func(netip.Addr) bool { return false }})
		e.dial("/serve").expectEnd(wire.CloseForbidden)
	})
}

// A fault in a session harms it alone.
func TestFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var once sync.Once
		e := newEdge(t, setup{allow: func(netip.Addr) bool {
			once.Do(func() { panic("a fault") })
			return true
		}})
		c := e.connect("/serve")
		c.send("PING")
		c.expect("ERR:internal", "FIN")
		c.expectEnd(wire.CloseInternal)
		c = e.connect("/serve")
		c.subscribe("a")
	})
}

func TestMigration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen sync.Map
		e := newEdge(t, setup{allow: func(ip netip.Addr) bool {
			seen.Store(ip.String(), true)
			return loopback(ip) || ip == netip.MustParseAddr("127.0.0.2")
		}})
		c := e.connect("/serve")
		c.subscribe("a")
		e.network.move(c.socket, "127.0.0.2") // allowed
		for end := time.Now().Add(eventTimeout); ; {
			if _, there := seen.Load("127.0.0.2"); there {
				break
			} else if time.Now().After(end) {
				t.Fatal("the edge does not see that the client has moved")
			}
			c.send("PING")
			c.expect("PONG")
		}
		c.subscribe("b")
		e.network.move(c.socket, "127.0.0.3")
		for got := "PONG"; got != "ERR:forbidden:ip"; got = c.main.read() { // QUIC moves with one of the next packets
			if got != "PONG" {
				t.Fatalf("got %q", got)
			}
			c.send("PING")
		}
		c.expect("FIN")
		c.expectEnd(wire.CloseForbidden)
	})
}
