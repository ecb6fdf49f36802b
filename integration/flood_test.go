package integration

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/gorilla/websocket"

	"github.com/millrace/millrace/wire"
)

// unthrottled is an edge whose caps do not slow a flood down.
var unthrottled = strings.ReplaceAll(defaultCaddyfile, "16384", "1048576")

// floodLines are what a flooding client sends again and again: commands, each
// of which asks for an answer about as long as itself.
var floodLines = []string{
	"PING",
	"SUB:paint.room:" + strings.Repeat("p", 200),
	"UNSUB:paint.room:" + strings.Repeat("p", 200),
	"SUB:other:" + strings.Repeat("p", 200), // refused
}

// webSocketFlooder is a WebSocket whose cycle has a ping frame, too.
func webSocketFlooder(c *stage, token string) *flooder {
	c.t.Helper()
	_, conn, reader := c.connect(upgrade{Header: []string{bearer(token)}})
	cycle := appendClientFrame(nil, websocket.PingMessage, strings.Repeat("x", 125))
	for _, line := range floodLines {
		cycle = appendClientFrame(cycle, websocket.TextMessage, line)
	}
	return &flooder{conn: conn, cycle: cycle, asks: len(floodLines) + 1, skip: func() error { return skipFrame(reader) }}
}

// webTransportFlooder is the bidirectional stream of a session, from which
// nobody reads.
func webTransportFlooder(c *stage, token string) *flooder {
	c.t.Helper()
	session, refused := c.openSession(c.dialQUIC(nil), handshake{Token: token})
	if session == nil {
		c.t.Fatalf("the handshake was refused: %d %s", refused.Status, refused.Body)
	}
	stream := c.openStream(session)
	var cycle []byte
	for _, line := range floodLines {
		cycle = wire.AppendMessage(cycle, []byte(line))
	}
	reader := bufio.NewReader(stream)
	return &flooder{conn: stream, cycle: cycle, asks: len(floodLines), skip: func() error {
		answer, err := readMessage(reader)
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
func floodWithoutReading(c *stage) {
	token := c.room()
	bystander := c.dial(token)
	bystander.subscribe("paint.room", "#")
	before := c.residentMiB()

	const clients = 4
	flooders := make([]*flooder, clients)
	stalled := make(chan error, clients)
	for i := range flooders {
		flooders[i] = c.flooder(c, token)
		go func() { stalled <- flooders[i].flood() }() // ends with the stall or its error
	}
	for range clients {
		bystander.ping()
		if err := <-stalled; err != nil {
			c.t.Fatal(err)
		}
	}
	total := 0
	for _, f := range flooders {
		total += f.sent
	}
	if grown := c.residentMiB() - before; grown > 96 {
		c.t.Errorf("the edge's memory grew by %d MiB in a flood of %d MiB by %d clients", grown, total>>20, clients)
	} else {
		c.t.Logf("the edge's memory grew by %d MiB (to %d) in a flood of %d MiB", grown, c.residentMiB(), total>>20)
	}
	bystander.publish("paint.room", "x", "still here")
	bystander.expectDeliver("paint.room", "x", "still here", "#")

	if err := flooders[0].readAnswers(); err != nil {
		c.t.Error(err)
	}
}

// flooder is a client that sends a cycle of messages again and again.
type flooder struct {
	conn interface {
		io.Writer
		SetDeadline(time.Time) error
		SetWriteDeadline(time.Time) error
	}
	cycle []byte
	asks  int          // answers to a cycle
	skip  func() error // reads one answer
	sent  int          // bytes
}

// flood sends until the edge stops reading.
func (f *flooder) flood() error {
	const (
		enough = 96 << 20 // far more than all buffers between client and edge hold
		stall  = 1500 * time.Millisecond
	)
	chunk := bytes.Repeat(f.cycle, 64)
	for f.sent < enough {
		if err := f.conn.SetWriteDeadline(time.Now().Add(stall)); err != nil {
			return err
		}
		n, err := f.conn.Write(chunk[f.sent%len(f.cycle):])
		f.sent += n
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("after %d MiB: %w", f.sent>>20, err)
		}
	}
	return fmt.Errorf("the edge took %d MiB from a client that never reads", f.sent>>20)
}

// readAnswers finishes the current cycle and requires one answer to each message.
func (f *flooder) readAnswers() error {
	deadline := time.Now().Add(waitTimeout)
	if err := f.conn.SetDeadline(deadline); err != nil {
		return err
	}
	rest := f.cycle[f.sent%len(f.cycle):]
	finished := make(chan error, 1)
	go func() { // ends with the write, at the deadline at the latest
		_, err := f.conn.Write(rest)
		finished <- err
	}()
	want := (f.sent + len(rest)) / len(f.cycle) * f.asks
	for i := range want {
		if err := f.skip(); err != nil {
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
