package integration

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/webtransport-go"
)

// crowdNoise is what the edge's memory may hold beside what is counted for each
// member of the crowd, in KiB: buffers in use, and garbage of the moment.
const crowdNoise = 64 << 10

// dialAmongCrowd tries again, except in soaks, if an edge with the race detector, on a
// busy machine, takes longer than the 5 s that a handshake has.
func (e *edge) dialAmongCrowd(token string) *socket {
	for {
		s, a, err := e.tryWebTransport(handshake{Token: token})
		var late *quic.IdleTimeoutError
		switch {
		case s != nil:
			return s
		case soaking || !errors.As(err, &late):
			e.t.Fatalf("a client is not served: %v %d %s", err, a.Status, a.Body)
		}
	}
}

// A crowd that never authenticates, in all ways at once: half handshakes, requests
// a byte at a time, silent WebTransport sessions, packets of garbage, headers that
// a table repeats, replays. Clients that keep the rules get in all the while, and
// lose nothing.
func TestHostileCrowd(t *testing.T) {
	t.Parallel()
	e := startEdge(t, loggedCaddyfile)
	calm := e.startCalm()
	token := e.issue(allowAll("room")).Token
	replayed := e.captureEarlyData(token)
	before, usedBefore := e.memory(), e.cpuTime()

	begin, length := time.Now(), soakFor(t, 8*time.Second, 10*time.Minute)
	ctx, cancel := context.WithTimeout(context.Background(), length)
	defer cancel()
	crowd := []*crowdPart{
		{name: "half TLS handshakes", members: 400, act: e.halfHandshake},
		{name: "requests a byte at a time", members: 200, act: e.slowRequest},
		{name: "silent WebTransport sessions", members: 100, act: e.silentSession},
		{name: "garbage QUIC packets", members: 2, act: e.garbagePackets},
		{name: "header bombs", members: 4, act: e.headerBombs},
		{name: "replays of early data", members: 2, act: func(ctx context.Context, _ int) (int, error) { return e.replays(ctx, replayed) }},
	}
	var all sync.WaitGroup
	members := 0
	for _, part := range crowd {
		members += part.members
		for i := range part.members {
			all.Go(func() { part.run(ctx, i) })
		}
	}

	var took []time.Duration
	most := 0
	for ctx.Err() == nil {
		for _, open := range []func() *socket{
			func() *socket {
				return e.mustOpen(handshake{URL: fmt.Sprintf("wss://localhost:%d/ws", e.HTTPS), Token: token})
			},
			func() *socket { return e.dialAmongCrowd(token) },
		} {
			start := time.Now()
			s := open()
			s.subscribe("paint.room", "x")
			s.publish("paint.room", "x", "hello")
			s.expectDeliver("paint.room", "x", "hello", "x")
			took = append(took, time.Since(start))
			// Its close code may get lost over WebTransport, on a busy machine.
			s.must(s.leave())
			if err := s.untilEnd(); errors.Is(err, errWaitTimeout) {
				t.Error("a session does not end: ", err)
			}
		}
		most = max(most, e.residentMiB())
		select {
		case <-time.After(200 * time.Millisecond): // between two clients
		case <-ctx.Done():
		}
	}
	used := e.cpuTime() - usedBefore
	e.checkGrowth(before, members*connectionCost+crowdNoise, "the crowd")
	all.Wait()
	for _, part := range crowd {
		t.Logf("%-30s %d members, %d times; %d errors, the last: %v", part.name, part.members, part.times.Load(), part.failed.Load(), part.last.Load())
		if part.times.Load() == 0 {
			t.Errorf("%s: none was made", part.name)
		}
	}
	slices.Sort(took)
	worst := took[len(took)-1]
	t.Logf("%d legitimate clients connected, subscribed and got a message: median %v, p99 %v, longest %v",
		len(took), took[len(took)/2], took[len(took)*99/100], worst)
	t.Logf("the edge used %.2f cores and at most %d MiB", used.Seconds()/time.Since(begin).Seconds(), most)
	if soaking && worst > time.Second {
		t.Errorf("a legitimate client took %v, want less than a second", worst)
	}
	calm.check()
}

// crowdPart is those of the crowd that do the same. act does it once, until ctx
// ends at the latest, and says how often; an error is the edge's refusal.
type crowdPart struct {
	name          string
	members       int
	act           func(ctx context.Context, member int) (int, error)
	times, failed atomic.Int64
	last          atomic.Value
}

func (p *crowdPart) run(ctx context.Context, member int) {
	for ctx.Err() == nil {
		n, err := p.act(ctx, member)
		p.times.Add(int64(n))
		if err != nil && ctx.Err() == nil {
			p.failed.Add(1)
			p.last.Store(err.Error())
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond): // a refusal is not asked for without end
			}
		}
	}
}

// cpuTime is what the edge has used of the processors.
func (e *edge) cpuTime() time.Duration {
	e.t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", e.cmd.Process.Pid))
	if err != nil {
		e.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	total := 0
	for _, field := range strings.Fields(rest)[11:13] { // utime and stime, in hundredths of a second
		n, err := strconv.Atoi(field)
		if err != nil {
			e.t.Fatal(err)
		}
		total += n
	}
	return time.Duration(total) * 10 * time.Millisecond
}

func (e *edge) crowdDial(ctx context.Context, port int) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { conn.Close() })
	return conn, nil
}

// halfHandshake begins one of TLS and waits for the edge to lose waitTimeout, or for
// some seconds.
func (e *edge) halfHandshake(ctx context.Context, _ int) (int, error) {
	conn, err := e.crowdDial(ctx, e.HTTPS)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	hello := []byte{0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03} // of a ClientHello of 512 bytes
	if _, err := conn.Write(hello); err != nil {
		return 0, err
	}
	return 1, waitForEnd(conn, 20*time.Second)
}

// waitForEnd reads until the peer ends the connection, for so long.
func waitForEnd(conn net.Conn, d time.Duration) error {
	if err := conn.SetReadDeadline(time.Now().Add(d)); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, conn)
	if os.IsTimeout(err) {
		return nil
	}
	return err
}

// slowRequest sends a request to the WebSocket, a byte at a time.
func (e *edge) slowRequest(ctx context.Context, _ int) (int, error) {
	conn, err := e.crowdDial(ctx, e.HTTP)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	request := "GET /ws HTTP/1.1\r\nHost: localhost\r\nX-Slow: " + strings.Repeat("a", 4096)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for i := range len(request) {
		if _, err := conn.Write([]byte{request[i]}); err != nil {
			return 1, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return 1, nil
		}
	}
	return 1, nil
}

// silentSession opens a WebTransport session from an address of its own, and says
// nothing.
func (e *edge) silentSession(ctx context.Context, member int) (int, error) {
	config, err := e.tlsConfig()
	if err != nil {
		return 0, err
	}
	config.ServerName, config.NextProtos = "localhost", []string{http3.NextProtoH3}
	socket, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 2, byte(member+1))})
	if err != nil {
		return 0, err
	}
	defer socket.Close()
	transport := &quic.Transport{Conn: socket}
	defer transport.Close()
	conn, err := transport.Dial(ctx, e.udpAddress(), config, earlySettings)
	if err != nil {
		return 0, err
	}
	defer closeQUIC(conn)
	sessions := &webtransport.Transport{}
	defer sessions.Close()
	client, err := sessions.NewClientConn(conn)
	if err != nil {
		return 0, err
	}
	session, refused, err := dialSession(client, handshake{URL: e.httpsURL("/wt")})
	if err != nil {
		return 0, err
	}
	if session == nil {
		return 0, fmt.Errorf("refused: %d", refused.Status)
	}
	select {
	case <-session.Context().Done():
	case <-ctx.Done():
	}
	return 1, nil
}

// garbagePackets sends random datagrams for a second, of which half look like the
// first packets of a QUIC connection.
func (e *edge) garbagePackets(ctx context.Context, _ int) (int, error) {
	conn, err := net.DialUDP("udp4", nil, e.udpAddress())
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	packet := make([]byte, 1252)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for n := range 1000 {
		rand.Read(packet) // never fails
		if n%2 == 0 {     // a long header, version 1, with connection IDs of 8 bytes
			packet[0] = packet[0]&0x0f | 0xc0
			binary.BigEndian.PutUint32(packet[1:], 1)
			packet[5], packet[14] = 8, 8
		}
		_, _ = conn.Write(packet) // refused, when the edge is behind: then it is lost
		select {
		case <-tick.C:
		case <-ctx.Done():
			return n, nil
		}
	}
	return 1000, nil
}

// headerBombs sends HTTP/2 requests whose headers are a byte each on the wire: the
// table of the connection has the value, which looks as much like an encoded token
// as a value can.
func (e *edge) headerBombs(ctx context.Context, _ int) (int, error) {
	config, err := e.tlsConfig()
	if err != nil {
		return 0, err
	}
	plain, err := e.crowdDial(ctx, e.HTTPS)
	if err != nil {
		return 0, err
	}
	config.ServerName, config.NextProtos = "localhost", []string{"h2"}
	conn := tls.Client(plain, config)
	defer conn.Close()
	done := make(chan struct{})
	go func() { // ends with the connection
		defer close(done)
		_, _ = io.Copy(io.Discard, conn)
	}()
	defer func() {
		conn.Close()
		<-done
	}()

	value := strings.Repeat("a", 3900) + "_%2525zz"
	fields := append([]byte{0x82, 0x87, 0x84, 0x01, 9}, "localhost"...)                    // GET, https, /, :authority
	fields = append(append(fields, 0x40, 3), "x-a"...)                                     // a new field, into the table
	fields = append(fields, 0x7f, byte((len(value)-127)&0x7f|0x80))                        // its length, in 7 bits and more
	fields = append(append(fields, byte((len(value)-127)>>7)), value...)                   // which are two bytes here
	again := append([]byte{0x82, 0x87, 0x84, 0x01, 9}, "localhost"...)                     // and from the table
	again = append(again, bytes.Repeat([]byte{0xbe}, 3)...)                                // three times, 12 KiB
	hello := append([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 0, 0, 0, 4, 0, 0, 0, 0, 0) // and empty SETTINGS
	if _, err := conn.Write(append(hello, headersFrame(1, fields)...)); err != nil {
		return 0, err
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return n, nil
		case <-done:
			return n, fmt.Errorf("the edge has closed the connection")
		}
		if _, err := conn.Write(headersFrame(uint32(2*n+1), again)); err != nil {
			return n, err
		}
	}
}

// headersFrame is a request without a body (RFC 9113, section 6.2).
func headersFrame(stream uint32, fields []byte) []byte {
	frame := []byte{byte(len(fields) >> 16), byte(len(fields) >> 8), byte(len(fields)), 1, 0x5}
	return append(binary.BigEndian.AppendUint32(frame, stream), fields...)
}

// captureEarlyData returns the datagrams of a client that resumes a connection and
// sends a handshake as early data.
func (e *edge) captureEarlyData(token string) [][]byte {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*waitTimeout)
	defer cancel()
	config := e.resumption(ctx)
	r := e.startRelay()
	r.holdBack()
	conn, client := r.dialEarly(ctx, e, config)
	defer closeQUIC(conn)
	request := early{method: http.MethodConnect, path: "/wt", proto: "webtransport-h3", token: token}
	stream, err := request.send(e, client)
	if err != nil {
		e.t.Fatal(err)
	}
	e.poll("the answer to early data", func() bool { return strings.Contains(e.output(), `"status":425`) })
	captured := r.release()
	if res, err := stream.ReadResponse(); err != nil || res.StatusCode != http.StatusTooEarly {
		e.t.Fatalf("early data: got %v, %v; want 425", res, err)
	}
	return captured
}

// replays sends what a client has sent as early data, from a port of its own, for a
// second.
func (e *edge) replays(ctx context.Context, captured [][]byte) (int, error) {
	for n := range 50 {
		conn, err := net.DialUDP("udp4", nil, e.udpAddress())
		if err != nil {
			return n, err
		}
		for _, datagram := range captured {
			_, _ = conn.Write(datagram) // may be lost
		}
		conn.Close()
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return n, nil
		}
	}
	return 50, nil
}
