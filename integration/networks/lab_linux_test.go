package networks

import (
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/internal/netlab"
)

// waitTimeout bounds every wait for what is not measured.
const waitTimeout = time.Minute

// The machines of a lab. This process is machine 0, and has the NATS server.
const (
	nearMachine   = 1 // to which the client goes
	farMachine    = 2 // where the publisher is, as a rule
	clientMachine = 3
)

// lab is two edges and a machine for a client.
type lab struct {
	*testing.T
	network   *netlab.Network
	near, far *edge
	cert      *certificate
	token     string
}

func startLab(t *testing.T) *lab {
	t.Helper()
	n, err := netlab.New(3)
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{T: t, network: n}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	nats := natstest.Server(t, func(o *server.Options) { o.Host = n.Machine(0).IP })
	l.cert = newCertificate(t, n.Machine(nearMachine).IP, n.Machine(farMachine).IP)
	for number, e := range map[int]**edge{nearMachine: &l.near, farMachine: &l.far} {
		*e = &edge{t: t, machine: n.Machine(number), dir: t.TempDir()}
		(*e).config(nats.ClientURL(), l.cert)
		(*e).start()
		t.Cleanup(func() {
			(*e).signal(syscall.SIGCONT)
			(*e).kill()
		})
	}
	l.near.awaitReady()
	l.far.awaitReady()
	l.token = l.far.issue()
	return l
}

// treat treats packets between the client and the near edge so.
func (l *lab) treat(how netlab.Treatment) { l.network.Set(clientMachine, nearMachine, how) }

// farther is what makes the other edge the second choice of the client, as long as it chooses.
var farther = netlab.Treatment{Delay: 250 * time.Millisecond}

// heal mends the network.
func (l *lab) heal() {
	l.Helper()
	l.probeMTUs(false)
	l.treat(netlab.Treatment{})
	l.network.Set(clientMachine, farMachine, netlab.Treatment{})
	if err := l.network.ForgetMTUs(); err != nil {
		l.Fatal(err)
	}
}

// probeMTUs has the machines of the edges find out by themselves how much passes over TCP, or
// not, as is Linux's default.
func (l *lab) probeMTUs(on bool) {
	l.Helper()
	for _, e := range []*edge{l.near, l.far} {
		value := map[bool]string{false: "0", true: "1"}[on]
		if out, err := e.machine.Command("sh", "-c", "echo "+value+" >/proc/sys/net/ipv4/tcp_mtu_probing").CombinedOutput(); err != nil {
			l.Fatalf("%v: %s", err, out)
		}
	}
}
