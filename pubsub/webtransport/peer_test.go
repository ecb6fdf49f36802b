package webtransport

import (
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
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
		var moved atomic.Bool
		allow := func(ip netip.Addr) bool {
			if !loopback(ip) {
				t.Errorf("asked for %v", ip)
			}
			return !moved.Load()
		}
		run(t, name, setup{allow: allow}, func(t *testing.T, e *edge) {
			c := e.subscriber("a")
			moved.Store(true)
			send(c)
			c.ends(wire.CloseForbidden, "ERR:forbidden:ip")
		})
	}
}

// And so does the edge, if there is no message.
func TestSilentPeerIsChecked(t *testing.T) {
	for path, first := range map[string]string{"/serve": "PING", "/await": "AUTH:good"} {
		var moved atomic.Bool
		allow := func(netip.Addr) bool { return !moved.Load() }
		run(t, path, setup{allow: allow}, func(t *testing.T, e *edge) {
			c := e.connect(path)
			start := time.Now()
			c.send(first)
			c.main.read()
			moved.Store(true)
			c.ends(wire.CloseForbidden, "ERR:forbidden:ip")
			if took := time.Since(start); took < peerCheckEvery-2*tickEvery || took > peerCheckEvery+2*tickEvery {
				t.Errorf("took %v", took)
			}
		})
	}
}

// Also if it has not opened its stream yet; it gets the code alone.
func TestPeerWithoutStreamIsChecked(t *testing.T) {
	inBubble(t, setup{allow: func(netip.Addr) bool { return false }}, func(t *testing.T, e *edge) {
		e.dial("/serve").expectEnd(wire.CloseForbidden)
	})
}

// A fault in a session harms it alone.
func TestFault(t *testing.T) {
	var once sync.Once
	allow := func(netip.Addr) bool {
		once.Do(func() { panic("a fault") })
		return true
	}
	inBubble(t, setup{allow: allow}, func(t *testing.T, e *edge) {
		c := e.connect("/serve")
		c.send("PING")
		c.ends(wire.CloseInternal, "ERR:internal")
		e.subscriber("a") // others are served
	})
}

func TestMigration(t *testing.T) {
	var seen sync.Map
	allow := func(ip netip.Addr) bool {
		seen.Store(ip.String(), true)
		return loopback(ip) || ip == netip.MustParseAddr("127.0.0.2")
	}
	inBubble(t, setup{allow: allow}, func(t *testing.T, e *edge) {
		c := e.subscriber("a")
		c.socket.to(e.listen("127.0.0.2"))                              // allowed
		for there := false; !there; _, there = seen.Load("127.0.0.2") { // with one of the next packets
			c.send("PING")
			c.expect("PONG")
		}
		c.subscribe("b")
		c.socket.to(e.listen("127.0.0.3"))
		for got := "PONG"; got != "ERR:forbidden:ip"; got = c.main.read() {
			if got != "PONG" {
				t.Fatalf("got %q", got)
			}
			c.send("PING")
		}
		c.ends(wire.CloseForbidden)
	})
}
