package load

import (
	"crypto/rand"
	"net"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
)

// More first packets in a second than an edge answers without asking: it asks
// clients to prove their address then, and those who can are served.
func TestHostileFirstPackets(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	calm := e.StartCalm()
	token := e.Issue(harness.AllowAll("room")).Token
	before := e.Memory()

	const (
		handshakes = 1000 // a second, without a question (caddymodule/takeover)
		retries    = 200  // enough of them
		enough     = 20 * handshakes
		// unfinishedCost is what a connection takes whose handshake does not go on, in
		// KiB, for the 5 s that it has; about 20 as measured, and 50 with the race detector.
		unfinishedCost = 64
	)
	socket := e.SocketAt("127.0.0.5")
	if err := socket.SetReadDeadline(time.Now().Add(harness.WaitTimeout)); err != nil {
		t.Fatal(err)
	}
	asked := make(chan error, 1)
	go func() { // ends with the packets that it waits for, or the deadline
		asked <- readRetries(socket, retries)
	}()
	begin, sent, err := time.Now(), 0, error(nil)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for going := true; going; {
		for range 8 { // the edge's socket does not hold many
			if _, err := socket.WriteToUDP(firstPacket(), e.UdpAddress()); err != nil {
				t.Fatal(err)
			}
			sent++
		}
		select {
		case err = <-asked:
			going = false
		case <-tick.C:
			if going = sent < enough; !going {
				if err := socket.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
					t.Fatal(err)
				}
				err = <-asked
			}
		}
	}
	if err != nil {
		t.Fatalf("%d first packets were answered with less than %d Retry packets: %v", sent, retries, err)
	}
	t.Logf("%d first packets: %v", sent, err)

	// It is asked, and answers.
	e.Poll("a client to be served", func() bool {
		s, a, err := e.TryWebTransport(harness.Handshake{Token: token})
		switch {
		case s != nil:
			s.Ping()
		case err == nil:
			t.Fatalf("a client is not served: %v %d %s", err, a.Status, a.Body)
		}
		return s != nil
	})
	seconds := int(time.Since(begin)/time.Second) + 2 // one is in the bucket from the start
	e.CheckGrowth(before, harness.EdgeNoise+harness.ConnectionCost+seconds*handshakes*unfinishedCost, "first packets")
	calm.Check()
	e.CheckRelease(before, seconds*handshakes)
}

// readRetries reads Retry packets.
func readRetries(socket *net.UDPConn, n int) error {
	buffer := make([]byte, 1<<16)
	for n > 0 {
		size, err := socket.Read(buffer)
		if err != nil {
			return err
		}
		if size > 5 && buffer[0]&0xf0 == 0xf0 && string(buffer[1:5]) == version1 {
			n--
		}
	}
	return nil
}

// version1 is that of RFC 9000.
const version1 = "\x00\x00\x00\x01"

// firstPacket is an Initial packet with random connection IDs. What it has inside
// is nothing, which the edge cannot know before it has made a connection.
func firstPacket() []byte {
	const length = 1200
	packet := make([]byte, length)
	rand.Read(packet) // never fails
	packet[0] = 0xc0 | packet[0]&0x0f
	copy(packet[1:], version1)
	packet[5] = 8  // the length of the destination's ID, which follows
	packet[14] = 8 // likewise of the source's
	packet[23] = 0 // no token
	rest := length - 26
	packet[24], packet[25] = 0x40|byte(rest>>8), byte(rest)
	return packet
}
