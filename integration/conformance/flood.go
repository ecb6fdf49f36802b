package conformance

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/gorilla/websocket"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/wire"
)

// Unthrottled is an edge whose caps do not slow a flood down.
var Unthrottled = strings.ReplaceAll(harness.DefaultCaddyfile, "16384", "1048576")

// floodLines are what a flooding client sends again and again: commands, each
// of which asks for an answer about as long as itself.
var floodLines = []string{
	"PING",
	"SUB:paint.room:" + strings.Repeat("p", 200),
	"UNSUB:paint.room:" + strings.Repeat("p", 200),
	"SUB:other:" + strings.Repeat("p", 200), // refused
}

// webSocketFlooder is a WebSocket whose cycle has a ping frame, too.
func webSocketFlooder(c *harness.Stage, token string) *harness.Flooder {
	c.T.Helper()
	_, conn, reader := c.Connect(harness.Upgrade{Header: []string{harness.Bearer(token)}})
	cycle := appendClientFrame(nil, websocket.PingMessage, strings.Repeat("x", 125))
	for _, line := range floodLines {
		cycle = appendClientFrame(cycle, websocket.TextMessage, line)
	}
	return &harness.Flooder{Conn: conn, Cycle: cycle, Asks: len(floodLines) + 1, Skip: func() error { return skipFrame(reader) }}
}

// webTransportFlooder is the bidirectional stream of a session, from which
// nobody reads.
func webTransportFlooder(c *harness.Stage, token string) *harness.Flooder {
	c.T.Helper()
	session, refused := c.OpenSession(c.DialQUIC(nil), harness.Handshake{Token: token})
	if session == nil {
		c.T.Fatalf("the handshake was refused: %d %s", refused.Status, refused.Body)
	}
	stream := c.OpenStream(session)
	var cycle []byte
	for _, line := range floodLines {
		cycle = wire.AppendMessage(cycle, []byte(line))
	}
	reader := bufio.NewReader(stream)
	return &harness.Flooder{Conn: stream, Cycle: cycle, Asks: len(floodLines), Skip: func() error {
		answer, err := harness.ReadMessage(reader)
		if err == nil && wire.IsFrame(answer) {
			return fmt.Errorf("got a frame of %d bytes", len(answer))
		}
		return err
	}}
}

// appendClientFrame appends a frame of RFC 6455 whose mask changes nothing.
func appendClientFrame(dst []byte, opcode byte, payload string) []byte {
	dst = append(dst, 0x80|opcode)
	if len(payload) < 126 {
		dst = append(dst, 0x80|byte(len(payload)))
	} else {
		dst = append(dst, 0x80|126, byte(len(payload)>>8), byte(len(payload)))
	}
	return append(append(dst, 0, 0, 0, 0), payload...)
}

// Clients send commands without end and never read the answers: the edge stops reading
// from them, so its memory does not grow and other clients do not suffer. A client that
// finally reads gets every answer.
func floodWithoutReading(c *harness.Stage) {
	token := c.Room()
	bystander := c.Dial(token)
	bystander.Subscribe("paint.room", "#")
	before := c.ResidentMiB()

	const clients = 4
	flooders := make([]*harness.Flooder, clients)
	stalled := make(chan error, clients)
	for i := range flooders {
		flooders[i] = c.Flooder(c, token)
		go func() { stalled <- flooders[i].Flood() }() // ends with the stall or its error
	}
	for range clients {
		bystander.Ping()
		if err := <-stalled; err != nil {
			c.T.Fatal(err)
		}
	}
	total := 0
	for _, f := range flooders {
		total += f.Sent
	}
	if grown := c.ResidentMiB() - before; grown > 96 {
		c.T.Errorf("the edge's memory grew by %d MiB in a flood of %d MiB by %d clients", grown, total>>20, clients)
	} else {
		c.T.Logf("the edge's memory grew by %d MiB (to %d) in a flood of %d MiB", grown, c.ResidentMiB(), total>>20)
	}
	bystander.Publish("paint.room", "x", "still here")
	bystander.ExpectDeliver("paint.room", "x", "still here", "#")

	if err := readAnswers(flooders[0]); err != nil {
		c.T.Error(err)
	}
}

// readAnswers finishes the current cycle and requires one answer to each message.
func readAnswers(f *harness.Flooder) error {
	deadline := time.Now().Add(harness.WaitTimeout)
	if err := f.Conn.SetDeadline(deadline); err != nil {
		return err
	}
	rest := f.Cycle[f.Sent%len(f.Cycle):]
	finished := make(chan error, 1)
	go func() { // ends with the write, at the deadline at the latest
		_, err := f.Conn.Write(rest)
		finished <- err
	}()
	want := (f.Sent + len(rest)) / len(f.Cycle) * f.Asks
	for i := range want {
		if err := f.Skip(); err != nil {
			return fmt.Errorf("after %d answers of %d: %w", i, want, err)
		}
	}
	return <-finished
}

// skipFrame reads one unmasked frame. The edge's own pings do not count: it sends the first
// one after 25 s.
func skipFrame(reader *bufio.Reader) error {
	var header [2]byte
	if _, err := io.ReadFull(reader, header[:]); err != nil {
		return err
	}
	length := int(header[1])
	switch opcode := header[0] & 0x0F; {
	case opcode != websocket.TextMessage && opcode != websocket.PongMessage:
		return fmt.Errorf("got a frame with opcode %d", opcode)
	case length == 126:
		var long [2]byte
		if _, err := io.ReadFull(reader, long[:]); err != nil {
			return err
		}
		length = int(long[0])<<8 | int(long[1])
	case length > 126:
		return fmt.Errorf("got a frame of 64 KiB or more")
	}
	_, err := reader.Discard(length)
	return err
}
