package networks

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/sdk"
	"github.com/millrace/millrace/internal/netlab"
	"github.com/millrace/millrace/internal/testcheck"
)

// givenUp is far more than a timeout of a second needs, and less than a lookup takes at a name
// server that does not answer: 10 s.
const givenUp = 6 * time.Second

// namedKinds are the SDKs that look names up, and their codes if no name server answers.
var namedKinds = map[string]string{"go": "unreachable", "node": "timeout", "python": "timeout"}

// silentNameServer is a name server in machine 0 that answers no questions. asked awaits the first one
// for a name; it gets the first label.
func (l *lab) silentNameServer() (asked func(label string), resolvConf string) {
	l.Helper()
	ip := l.network.Machine(0).IP
	socket, err := net.ListenPacket("udp", ip+":53")
	testcheck.Must(l.T, err)
	questions, ended := make(chan []byte, 100), make(chan struct{})
	go func() { // ends when the socket is closed
		defer close(ended)
		for buf := make([]byte, 1500); ; {
			n, _, err := socket.ReadFrom(buf)
			if err != nil {
				return
			}
			select {
			case questions <- bytes.Clone(buf[:n]):
			default: // a repetition follows
			}
		}
	}()
	l.Cleanup(func() {
		socket.Close()
		<-ended
	})
	var all []byte
	return func(label string) {
		for !bytes.Contains(all, append([]byte{byte(len(label))}, label...)) {
			all = append(all, <-questions...)
		}
	}, "nameserver " + ip + "\n"
}

// oneEdge is a lab with one edge.
func oneEdge(t *testing.T, options ...harness.Option) *lab {
	t.Helper()
	l := newLab(t)
	l.near = startEdge(t, l.network.Machine(nearMachine), options...)
	l.issue()
	return l
}

func (l *lab) connect(k sdk.Kind, name string, timeout time.Duration) sdk.Command {
	return sdk.Command{
		Cmd: "connect", Addresses: []string{fmt.Sprintf("https://%s:%d", name, l.near.HTTPS)},
		Options: &sdk.Options{Token: l.token, Transports: []string{k.Transport}, ConnectTimeout: int(timeout.Milliseconds()), KeepAlive: 1000, PongTimeout: 1000},
	}
}

// takesAtMost requires that something is given up in time.
func takesAtMost(t *testing.T, what string, f func()) {
	t.Helper()
	begin := time.Now()
	f()
	t.Logf("%s took %v", what, time.Since(begin))
	if time.Since(begin) > givenUp {
		t.Errorf("%s took %v, want less than %v", what, time.Since(begin), givenUp)
	}
}

// The timeouts of a client hold where the name server does not answer, also when it is closed.
func TestSilentNameServer(t *testing.T) {
	t.Parallel()
	l := oneEdge(t)
	asked, resolvConf := l.silentNameServer()
	machine := l.network.Machine(clientMachine)
	testcheck.Must(t, machine.SetFile("resolv.conf", resolvConf))
	kinds := slices.DeleteFunc(slices.Clone(sdk.Kinds), func(k sdk.Kind) bool { return namedKinds[k.Where] == "" })
	for _, k := range kinds {
		takesAtMost(t, "to connect", func() { l.driver(k).Refused(l.connect(k, "nowhere.test", time.Second), namedKinds[k.Where]) })
	}
	label := func(k sdk.Kind) string { return k.Where + "-" + k.Transport }
	hosts := l.near.IP
	for _, k := range kinds {
		hosts += " " + label(k) + "." + edgeName
	}
	testcheck.Must(t, machine.SetFile("hosts", hosts+"\n"))
	var clients []*sdk.Client // drivers that have not read the file before
	for _, k := range kinds {
		c := l.driver(k)
		c.Must(l.connect(k, label(k)+"."+edgeName, 10*time.Second))
		clients = append(clients, c)
	}
	testcheck.Must(t, machine.SetFile("hosts", ""))
	l.near.Kill()
	for _, c := range clients {
		c.Event("disconnected")
		asked(label(c.Kind)) // it connects again
		takesAtMost(t, "to close", func() { c.Must(sdk.Command{Cmd: "close"}) })
	}
}

// A name has several addresses, of both kinds, and nobody answers at the first ones. The client has
// no other transport to fall back to.
func TestAddresses(t *testing.T) {
	t.Parallel()
	const edge6, nobody6 = "2001:db8:77::1", "2001:db8:77::99"
	l := newLab(t)
	near := l.network.Machine(nearMachine)
	testcheck.Must(t, near.AddIPv6(edge6))
	testcheck.Must(t, l.network.Machine(clientMachine).AddIPv6("2001:db8:77::3"))
	nobody := near.IP[:strings.LastIndex(near.IP, ".")] + ".99"
	hosts := ""
	names := map[string]string{"v4": nobody + " " + near.IP, "v6": nobody6 + " " + near.IP, "only6": nobody + " " + nobody6 + " " + edge6}
	for name, addresses := range names {
		for address := range strings.FieldsSeq(addresses) {
			hosts += address + " " + name + "." + edgeName + "\n"
		}
	}
	testcheck.Must(t, l.network.Machine(clientMachine).SetFile("hosts", hosts))
	l.near = startEdge(t, near, func(e *harness.Edge) { e.Bind += " " + edge6 })
	l.issue()
	for _, k := range sdk.Kinds {
		if namedKinds[k.Where] == "" {
			continue
		}
		for name := range names {
			t.Run(k.String()+"/"+name, func(t *testing.T) {
				c := l.driver(k)
				c.Must(l.connect(k, name+"."+edgeName, sdk.Limit))
				if r := c.Event("connected"); r.Transport != k.Transport {
					t.Errorf("connected over %s", r.Transport)
				}
			})
		}
	}
}

// The client is behind a tunnel that takes 1,280 bytes, as those of WireGuard: its device refuses
// more, and what is longer on its way to the client is lost, which nobody reports. WebTransport
// opens nevertheless, before WebSocket is tried, and long messages pass.
func TestTunnel(t *testing.T) {
	t.Parallel()
	l := oneEdge(t)
	testcheck.Must(t, l.network.Machine(clientMachine).SetMTU(1280))
	l.treat(netlab.Treatment{MTU: 1280, Silent: true})
	for _, k := range sdk.Kinds {
		if k.Where != "go" && !harness.Soaking {
			continue
		}
		t.Run(k.String(), func(t *testing.T) {
			l := &lab{T: t, network: l.network, near: l.near, token: l.token}
			sub := l.subscriber(k, l.near)
			long := strings.Repeat("x", 5000)
			sub.C.Publish(tenant, channel, long)
			if r := sub.Next(); string(r.Payload) != long {
				t.Errorf("got %d bytes", len(r.Payload))
			}
			sub.C.Never("disconnected")
		})
	}
}

// An edge whose NATS servers have a name, and whose name server does not answer, stops in time.
func TestEdgeWithoutNames(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	asked, resolvConf := l.silentNameServer()
	machine := l.network.Machine(nearMachine)
	testcheck.Must(t, machine.SetFile("resolv.conf", resolvConf))
	e := launchEdge(t, machine, func(e *harness.Edge) { e.Broker = "nats nats://broker.names.test:4222" })
	e.Poll("an answer", func() bool { return e.readiness() == http.StatusServiceUnavailable })
	asked("broker")
	takesAtMost(t, "to stop", e.Stop)
}
