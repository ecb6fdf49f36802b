package peer

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync/atomic"

	"github.com/millrace/millrace/internal/loadgen"
)

// MQTT returns a driver for MQTT 3.1.1 over WebSocket (section 6 of its
// specification), QoS 0, anonymous.
func MQTT(a Address) loadgen.Driver { return &mqttDriver{address: a} }

type mqttDriver struct {
	address Address
	clients atomic.Uint32
}

// Packets: their first byte, MQTT 3.1.1 section 2.2.
const (
	mqttConnect    = 0x10
	mqttConnAck    = 0x20
	mqttPublish    = 0x30 // QoS 0
	mqttSubscribe  = 0x82
	mqttSubAck     = 0x90
	mqttDisconnect = 0xe0
)

// mqttConn is one client. The server sends a stream of packets, cut into frames
// anywhere.
type mqttConn struct {
	*socket
	answer []byte // the last packet other than PUBLISH, with its first byte
}

func (d *mqttDriver) Dial(ctx context.Context) (loadgen.Conn, error) {
	s, err := dial(ctx, d.address, "mqtt")
	if err != nil {
		return nil, err
	}
	c := &mqttConn{socket: s}
	body := append(appendMQTTText(nil, "MQTT"), 4, 2, 0, 0) // level 4, clean session, no keep-alive
	body = appendMQTTText(body, fmt.Sprintf("bench-%d", d.clients.Add(1)))
	if err := c.ask(mqttConnect, body, mqttConnAck, 2); err != nil {
		s.Close()
		return nil, err
	}
	return c, nil
}

func (c *mqttConn) Subscribe(channel string) error {
	body := appendMQTTText([]byte{0, 1}, channel) // packet id 1
	return c.ask(mqttSubscribe, append(body, 0), mqttSubAck, 3)
}

// ask sends a packet and waits for an answer of the kind want, whose byte at
// position code is the return code: 0, or the packet refuses.
func (c *mqttConn) ask(kind byte, body []byte, want byte, code int) error {
	defer c.hurry()()
	packet := append(appendMQTTLength([]byte{kind}, len(body)), body...)
	if err := c.Write(appendFrame(nil, opBinary, packet)); err != nil {
		return err
	}
	for c.answer = nil; c.answer == nil; {
		if err := c.Receive(func([]byte) {}); err != nil {
			return err
		}
	}
	if c.answer[0] != want || len(c.answer) <= code || c.answer[code] != 0 {
		return fmt.Errorf("the server answered packet %#x with % x", kind, c.answer)
	}
	return nil
}

func (c *mqttConn) AppendPublish(dst []byte, channel string, payload []byte) []byte {
	var buf [300]byte
	head := appendMQTTLength(append(buf[:0], mqttPublish), 2+len(channel)+len(payload))
	return appendFrame(dst, opBinary, appendMQTTText(head, channel), payload)
}

func (c *mqttConn) Receive(message func(payload []byte)) error {
	return c.receiveStream(func(data []byte) ([]byte, error) { return c.consume(data, message) })
}

// consume handles the packets that are complete, and returns the rest.
func (c *mqttConn) consume(data []byte, message func(payload []byte)) (rest []byte, err error) {
	for {
		body, n := parseMQTT(data)
		if n == 0 {
			return data, nil
		}
		kind := data[0]
		data = data[n:]
		switch {
		case kind&0xf0 == mqttPublish:
			if len(body) < 2 || len(body) < 2+int(binary.BigEndian.Uint16(body)) {
				return nil, fmt.Errorf("the server sent a broken PUBLISH: % x", body)
			}
			message(body[2+int(binary.BigEndian.Uint16(body)):])
		case kind == mqttDisconnect:
			return nil, errClosed
		default:
			c.answer = append([]byte{kind}, body...)
		}
	}
}

// parseMQTT returns the first packet's body and the packet's length; 0: it is
// not complete.
func parseMQTT(data []byte) (body []byte, n int) {
	length := 0
	for i := 1; i < len(data) && i < 5; i++ {
		length |= int(data[i]&0x7f) << (7 * (i - 1))
		if data[i] >= 0x80 {
			continue
		}
		if n = i + 1 + length; len(data) < n {
			return nil, 0
		}
		return data[i+1 : n], n
	}
	return nil, 0
}

func appendMQTTLength(dst []byte, n int) []byte {
	for ; n >= 128; n /= 128 {
		dst = append(dst, byte(n)|0x80)
	}
	return append(dst, byte(n))
}

func appendMQTTText(dst []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint16(dst, uint16(len(s))), s...)
}
