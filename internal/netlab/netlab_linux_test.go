package netlab

import (
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) {
	code, again, err := Apart()
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	case again:
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// What networks do to devices is nobody else's business.
func TestApart(t *testing.T) {
	need(t)
	own, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	if len(own) != 1 || own[0].Flags&(net.FlagLoopback|net.FlagUp) != net.FlagLoopback|net.FlagUp {
		t.Errorf("there are %v, want loopback alone", own)
	}
}

// need requires that there can be a network.
func need(t *testing.T) {
	t.Helper()
	if err := Possible(); err != nil {
		t.Skipf("no network namespaces here: %v", err)
	}
}

func newNetwork(t *testing.T, machines int) *Network {
	t.Helper()
	need(t)
	n, err := New(machines)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

// dial makes a connection from within a machine: the socket stays there.
func dial(t *testing.T, m Machine, network, address string) (conn net.Conn) {
	t.Helper()
	if err := inside(m.Namespace, func() (err error) {
		conn, err = net.DialTimeout(network, address, 3*time.Minute) // a literal address: on this thread
		return err
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// listen is a UDP socket on this machine.
func listen(t *testing.T, n *Network) *net.UDPConn {
	t.Helper()
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.ParseIP(n.Machine(0).IP)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// arrives sends datagrams until one of that size arrives, for some time.
func arrives(t *testing.T, from net.Conn, at *net.UDPConn, size int, want bool) bool {
	t.Helper()
	tries := 4
	if want {
		tries = 3600 // of 50 ms: only a broken network is late
	}
	for range tries {
		_, _ = from.Write(make([]byte, size)) // an error is as good as a loss
		_ = at.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
		for {
			got, err := at.Read(make([]byte, 2000))
			if err != nil {
				break
			}
			if got == size {
				return true
			}
		}
	}
	return false
}

func TestTreatments(t *testing.T) {
	n := newNetwork(t, 1)
	at := listen(t, n)
	tcp, err := net.Listen("tcp4", n.Machine(0).IP+":0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	udp := dial(t, n.Machine(1), "udp4", at.LocalAddr().String())
	for i, row := range []struct {
		name         string
		how          Treatment
		small, large bool // datagrams of 1,200 and 1,400 bytes arrive
		tcp          bool
	}{
		{"none", Treatment{}, true, true, true},
		{"some loss", Treatment{Loss: 0.3}, true, true, false}, // TCP may take long
		{"all is lost", Treatment{Loss: 1}, false, false, false},
		{"cut", Treatment{Cut: true}, false, false, false},
		{"UDP cut", Treatment{CutUDP: true}, false, false, true},
		{"delay", Treatment{Delay: 5 * time.Millisecond}, true, true, true},
		{"black hole", Treatment{MTU: 1300, Silent: true}, true, false, false},
		// Behind the black hole, where nobody was told.
		{"MTU", Treatment{MTU: 1300}, true, true, true}, // told, Linux makes fragments
		{"healed", Treatment{}, true, true, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			n.Set(0, 1, row.how)
			for size, want := range map[int]bool{1200 + i: row.small, 1400 + i: row.large} { // none of the row before
				if row.name == "MTU" && size > 1400 {
					continue
				}
				if got := arrives(t, udp, at, size, want); got != want {
					t.Errorf("a datagram of %d bytes arrives: %v, want %v", size, got, want)
				}
			}
			if row.tcp {
				transfer(t, n, tcp)
			}
		})
	}
}

// transfer sends more than a packet over TCP.
func transfer(t *testing.T, n *Network, l net.Listener) {
	t.Helper()
	sent := strings.Repeat("x", 100_000)
	result := make(chan error, 1)
	go func() { // ends with the connection
		conn, err := l.Accept()
		if err == nil {
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(3 * time.Minute))
			var got []byte
			if got, err = io.ReadAll(conn); err == nil && string(got) != sent {
				err = fmt.Errorf("got %d bytes", len(got))
			}
		}
		result <- err
	}()
	conn := dial(t, n.Machine(1), "tcp4", l.Addr().String())
	_, err := io.WriteString(conn, sent)
	_ = conn.Close()
	if err != nil {
		t.Fatal(err)
	}
	if err := <-result; err != nil {
		t.Error(err)
	}
}

func TestReaddress(t *testing.T) {
	n := newNetwork(t, 1)
	at := listen(t, n)
	conn := dial(t, n.Machine(1), "udp4", at.LocalAddr().String())
	if !arrives(t, conn, at, 10, true) {
		t.Fatal("nothing arrives")
	}
	for range 3 {
		old := n.Machine(1).IP
		next, err := n.Readdress(1)
		if err != nil {
			t.Fatal(err)
		}
		if got := n.Machine(1).IP; got != next || got == old {
			t.Fatalf("the machine has %s, which it was told is %s; before %s", got, next, old)
		}
		another := dial(t, n.Machine(1), "udp4", at.LocalAddr().String())
		if host, _, _ := net.SplitHostPort(another.LocalAddr().String()); host != next {
			t.Errorf("a new socket has the address %s, want %s", host, next)
		}
		if !arrives(t, another, at, 20, true) {
			t.Error("nothing arrives from the new address")
		}
	}
}

// freeSubnet returns the first subnet from this one on that no network has, of this
// process or another one.
func freeSubnet(t *testing.T, from int) int {
	t.Helper()
	for i := range subnets {
		number := (from + i) % subnets
		lock, err := os.OpenFile(fmt.Sprintf("/run/netlab-%d.lock", number), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		free := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil
		_ = lock.Close()
		if free {
			return number
		}
	}
	t.Fatal("all subnets are taken")
	return 0
}

// What a run that was killed has left behind goes away, and what lives does not.
func TestLeftBehind(t *testing.T) {
	n := newNetwork(t, 1)
	free := freeSubnet(t, n.subnet.number+1)
	left := fmt.Sprintf("%s%d-%d-1", prefix, 1<<22+1, free)
	if err := ip("netns", "add", left); err != nil {
		t.Fatal(err)
	}
	process := Machine{Namespace: left}.Command("sh", "-c", "echo; exec sleep 60")
	says, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := says.Read(make([]byte, 1)); err != nil { // it is in the namespace
		t.Fatal(err)
	}
	newNetwork(t, 1)
	if err := process.Wait(); err == nil {
		t.Error("a process in it has ended well")
	}
	if _, err := os.Stat("/run/netns/" + left); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
	if _, err := os.Stat("/run/netns/" + n.Machine(1).Namespace); err != nil {
		t.Error(err)
	}
}
