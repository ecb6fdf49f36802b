package peer

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"

	"github.com/millrace/millrace/internal/loadgen"
)

// SocketIO returns a driver for Socket.IO 4 over WebSocket, with the events of
// integration/clients/socketio_server.mjs: https://socket.io/docs/v4/socket-io-protocol/
//
// A payload goes as text that is as long, as an application would send it: binary ones take a frame more. Of it, the
// stamp is hexadecimal, so the payload that arrives has that much alone.
func SocketIO(a Address) loadgen.Driver { return socketIODriver{a} }

type socketIODriver struct{ address Address }

type socketIOConn struct {
	*socket
	stamp [loadgen.MinPayload]byte
	acks  int // ACK packets seen
}

func (d socketIODriver) Dial(ctx context.Context) (loadgen.Conn, error) {
	s, err := dial(ctx, Address{d.address.URL + "socket.io/?EIO=4&transport=websocket"}, "")
	if err != nil {
		return nil, err
	}
	c := &socketIOConn{socket: s}
	if err := c.ask("40"); err != nil {
		s.Close()
		return nil, err
	}
	return c, nil
}

func (c *socketIOConn) Subscribe(channel string) error {
	return c.ask(fmt.Sprintf("420[%q,%q]", "subscribe", channel))
}

// ask sends a packet, and waits until the server has answered.
func (c *socketIOConn) ask(packet string) error {
	defer c.hurry()()
	if err := c.Write(appendFrame(nil, opText, []byte(packet))); err != nil {
		return err
	}
	for want := c.acks + 1; c.acks < want; {
		if err := c.Receive(func([]byte) {}); err != nil {
			return err
		}
	}
	return nil
}

func (c *socketIOConn) AppendPublish(dst []byte, channel string, payload []byte) []byte {
	var text [2 * loadgen.MinPayload]byte
	hex.Encode(text[:], payload[:loadgen.MinPayload])
	rest := bytes.Repeat([]byte{'.'}, max(len(payload)-len(text), 0))
	return appendFrame(dst, opText, []byte(`42["publish","`), []byte(channel), []byte(`","`), text[:], rest, []byte(`"]`))
}

var delivery = []byte(`42["message","`)

func (c *socketIOConn) Receive(message func(payload []byte)) error {
	return c.receive(func(packet []byte) error {
		text, isDelivery := bytes.CutPrefix(packet, delivery)
		switch {
		case isDelivery && len(text) > 2*len(c.stamp):
			if _, err := hex.Decode(c.stamp[:], text[:2*len(c.stamp)]); err != nil {
				return err
			}
			message(c.stamp[:])
		case bytes.HasPrefix(packet, []byte("0")): // Engine.IO's handshake
		case bytes.HasPrefix(packet, []byte("40")), bytes.HasPrefix(packet, []byte("430")):
			c.acks++
		case string(packet) == "2":
			return c.Write(appendFrame(nil, opText, []byte("3")))
		default:
			return fmt.Errorf("the server sent %q", packet)
		}
		return nil
	})
}
