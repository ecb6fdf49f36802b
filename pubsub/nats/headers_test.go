package nats

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub/internal/natssubject"
)

// Malformed headers, which NATS servers pass on as they came, do not end an edge: the
// client library of versions before 1.55 panics on a status line that is too short.
func TestUntrustedHeaders(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	b, q := startBroker(t, natstest.Connect(s))
	confirmed := make(chan struct{})
	b.Subscribe("t", "#", func() { close(confirmed) })
	<-confirmed

	conn, err := net.Dial("tcp", strings.TrimPrefix(s.ClientURL(), "nats://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "CONNECT {\"headers\":true,\"verbose\":false,\"protocol\":1}\r\n")
	sent := 0
	for _, header := range []string{
		"NATS/1.0", "NATS/1.0 ", "NATS/1.0S", "NATS/1.0 5", "NATS/1.0 50", "NATS/1.0 503", "NATS/1.0 5033", "NATS/1.0\r\n:", "NATS/1.0\r\nx", "NATS/1.", "", "\xff",
	} {
		header += "\r\n\r\n"
		for _, subject := range []string{"p.a", "p.b.t.c" + natssubject.ChannelEnd, "p." + direct(b.id) + "t.c" + natssubject.ChannelEnd} {
			sent++
			data := appendBroadcast(nil, 9, uint64(sent), body{payload: []byte("x")})
			fmt.Fprintf(conn, "HPUB %s %d %d\r\n%s%s\r\n", subject, len(header), len(header)+len(data), header, data)
		}
	}
	mark := appendBroadcast(nil, 9, uint64(sent)+1, body{payload: []byte("mark")})
	fmt.Fprintf(conn, "PUB p.b.t.c%s %d\r\n%s\r\nPING\r\n", natssubject.ChannelEnd, len(mark), mark)
	for r := bufio.NewReader(conn); ; {
		line, err := r.ReadString('\n')
		if err != nil || strings.HasPrefix(line, "-ERR") {
			t.Fatalf("the server says %q, %v", line, err)
		}
		if strings.HasPrefix(line, "PONG") {
			break
		}
	}
	await(t, "a message after all of them", func() bool {
		list := q.payloads()
		return len(list) > 0 && list[len(list)-1] == "mark"
	})
}
