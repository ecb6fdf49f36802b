package integration

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// unthrottled is an edge whose caps do not slow a flood down.
var unthrottled = strings.ReplaceAll(defaultCaddyfile, "16384", "1048576")

// floodCycle is what a flooding client sends again and again: commands, each of
// which asks for an answer about as long as itself.
var floodCycle = func() (frames []byte) {
	pattern := strings.Repeat("p", 200)
	for _, m := range []struct {
		opcode  byte
		payload string
	}{
		{websocket.TextMessage, "PING"},
		{websocket.TextMessage, "SUB:paint.room:" + pattern},
		{websocket.TextMessage, "UNSUB:paint.room:" + pattern},
		{websocket.PingMessage, strings.Repeat("x", 125)},
		{websocket.TextMessage, "SUB:other:" + pattern}, // refused
	} {
		frames = appendClientFrame(frames, m.opcode, m.payload)
	}
	return frames
}()

const floodMessages = 5 // in a cycle

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

// Clients that send commands without end and never read the answers: the edge
// stops reading from them, so neither its memory grows nor do others suffer. A
// client that reads at last finds every answer.
func TestFloodWithoutReading(t *testing.T) {
	t.Parallel()
	e := startEdge(t, unthrottled)
	token := e.issue(allowAll("room")).Token
	bystander := e.dial(token)
	bystander.subscribe("paint.room", "#")
	before := e.residentMiB()

	const clients = 4
	flooders := make([]*flooder, clients)
	stalled := make(chan error, clients)
	for i := range flooders {
		_, conn, reader := e.connect(upgrade{Header: []string{bearer(token)}})
		flooders[i] = &flooder{conn: conn, reader: reader}
		go func() { stalled <- flooders[i].flood() }() // ends with the stall or its error
	}
	for range clients {
		bystander.ping()
		if err := <-stalled; err != nil {
			t.Fatal(err)
		}
	}
	total := 0
	for _, f := range flooders {
		total += f.sent
	}
	if grown := e.residentMiB() - before; grown > 96 {
		t.Errorf("the edge's memory grew by %d MiB in a flood of %d MiB by %d clients", grown, total>>20, clients)
	} else {
		t.Logf("the edge's memory grew by %d MiB (to %d) in a flood of %d MiB", grown, e.residentMiB(), total>>20)
	}
	bystander.publish("paint.room", "x", "still here")
	bystander.expectDeliver("paint.room", "x", "still here", "#")

	if err := flooders[0].readAnswers(); err != nil {
		t.Error(err)
	}
}

type flooder struct {
	conn   net.Conn
	reader *bufio.Reader
	sent   int // bytes
}

// flood sends until nothing more is taken.
func (f *flooder) flood() error {
	const (
		enough = 96 << 20 // far more than all buffers between client and edge hold
		stall  = 1500 * time.Millisecond
	)
	chunk := bytes.Repeat(floodCycle, 64)
	for f.sent < enough {
		if err := f.conn.SetWriteDeadline(time.Now().Add(stall)); err != nil {
			return err
		}
		n, err := f.conn.Write(chunk[f.sent%len(floodCycle):])
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

// readAnswers finishes the cycle under way and requires one answer to each
// message.
func (f *flooder) readAnswers() error {
	deadline := time.Now().Add(patience)
	if err := f.conn.SetDeadline(deadline); err != nil {
		return err
	}
	rest := floodCycle[f.sent%len(floodCycle):]
	finished := make(chan error, 1)
	go func() { // ends with the write, at the deadline at the latest
		_, err := f.conn.Write(rest)
		finished <- err
	}()
	want := (f.sent + len(rest)) / len(floodCycle) * floodMessages
	for i := range want {
		if err := f.skipFrame(); err != nil {
			return fmt.Errorf("after %d answers of %d: %w", i, want, err)
		}
	}
	return <-finished
}

// skipFrame reads one unmasked frame. The edge's own pings do not come into the
// count: it sends the first after 25 s.
func (f *flooder) skipFrame() error {
	var header [2]byte
	if _, err := io.ReadFull(f.reader, header[:]); err != nil {
		return err
	}
	length := int(header[1])
	switch opcode := header[0] & 0x0F; {
	case opcode != websocket.TextMessage && opcode != websocket.PongMessage:
		return fmt.Errorf("got a frame with opcode %d", opcode)
	case length == 126:
		var long [2]byte
		if _, err := io.ReadFull(f.reader, long[:]); err != nil {
			return err
		}
		length = int(long[0])<<8 | int(long[1])
	case length > 126:
		return fmt.Errorf("got a frame of 64 KiB or more")
	}
	_, err := f.reader.Discard(length)
	return err
}

// residentMiB is how much memory the edge has.
func (e *edge) residentMiB() int {
	e.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", e.cmd.Process.Pid))
	if err != nil {
		e.t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.Atoi(strings.Fields(value)[0])
			if err != nil {
				e.t.Fatal(err)
			}
			return kib >> 10
		}
	}
	e.t.Fatal("no VmRSS in the edge's status")
	return 0
}
