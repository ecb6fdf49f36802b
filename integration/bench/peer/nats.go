package peer

import (
	"bytes"
	"context"
	"fmt"
	"strconv"

	"github.com/millrace/millrace/internal/loadgen"
)

// NATS returns a driver for the client protocol of NATS over WebSocket, without
// authentication: https://docs.nats.io/reference/reference-protocols/nats-protocol
func NATS(a Address) loadgen.Driver { return natsDriver{a} }

type natsDriver struct{ address Address }

// natsConn is one client. The server sends a stream of lines and payloads, cut
// into frames anywhere.
type natsConn struct {
	*socket
	pongs int // PONG lines seen
	sids  int // subscriptions made
}

func (d natsDriver) Dial(ctx context.Context) (loadgen.Conn, error) {
	s, err := dial(ctx, d.address, "")
	if err != nil {
		return nil, err
	}
	c := &natsConn{socket: s}
	if err := c.ask(`CONNECT {"verbose":false,"pedantic":false,"echo":true,"lang":"go","version":"1.0.0","protocol":1,"headers":false}`); err != nil {
		s.Close()
		return nil, err
	}
	return c, nil
}

func (c *natsConn) Subscribe(channel string) error {
	c.sids++
	return c.ask(fmt.Sprintf("SUB %s %d", channel, c.sids))
}

// ask sends a line and waits until the server is past it, which a PONG says.
func (c *natsConn) ask(line string) error {
	defer c.hurry()()
	if err := c.Write(appendFrame(nil, opBinary, []byte(line+"\r\nPING\r\n"))); err != nil {
		return err
	}
	for want := c.pongs + 1; c.pongs < want; {
		if err := c.Receive(func([]byte) {}); err != nil {
			return err
		}
	}
	return nil
}

func (c *natsConn) AppendPublish(dst []byte, channel string, payload []byte) []byte {
	var line [300]byte
	head := append(append(append(line[:0], "PUB "...), channel...), ' ')
	head = append(strconv.AppendInt(head, int64(len(payload)), 10), "\r\n"...)
	return appendFrame(dst, opBinary, head, payload, head[len(head)-2:])
}

func (c *natsConn) Receive(message func(payload []byte)) error {
	return c.receiveStream(func(data []byte) ([]byte, error) { return c.consume(data, message) })
}

// consume handles what is complete in data, and returns the rest. A message is
// "MSG subject sid [reply-to] bytes", CR LF, the payload, CR LF.
func (c *natsConn) consume(data []byte, message func(payload []byte)) (rest []byte, err error) {
	for {
		end := bytes.IndexByte(data, '\n')
		if end < 1 {
			return data, nil
		}
		line := data[:end-1]
		switch {
		case bytes.HasPrefix(line, []byte("MSG ")):
			size, ok := decimal(line[bytes.LastIndexByte(line, ' ')+1:])
			if !ok {
				return nil, fmt.Errorf("the server sent %q", line)
			}
			if len(data) < end+1+size+2 {
				return data, nil
			}
			message(data[end+1 : end+1+size])
			end += size + 2
		case string(line) == "PONG":
			c.pongs++
		case string(line) == "PING":
			err = c.Write(appendFrame(nil, opBinary, []byte("PONG\r\n")))
		case bytes.HasPrefix(line, []byte("-ERR")):
			err = fmt.Errorf("the server answered %q", line)
		}
		if err != nil {
			return nil, err
		}
		data = data[end+1:]
	}
}

func decimal(digits []byte) (n int, ok bool) {
	for _, d := range digits {
		if d < '0' || d > '9' || n > longestRead {
			return 0, false
		}
		n = n*10 + int(d-'0')
	}
	return n, len(digits) > 0
}
