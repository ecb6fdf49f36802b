package peer

import (
	"context"
	"errors"

	"github.com/millrace/millrace/integration/bench/floor"
	"github.com/millrace/millrace/internal/loadgen"
)

// Floor returns a driver for the floor server, whose deliveries begin with
// prefix(channel) bytes that are not the payload; nil: none.
func Floor(a Address, prefix func(channel string) int) loadgen.Driver {
	return floorDriver{a, prefix}
}

type floorDriver struct {
	address Address
	prefix  func(channel string) int
}

type floorConn struct {
	*socket
	prefix func(channel string) int
	skip   int // bytes before each payload
}

func (d floorDriver) Dial(ctx context.Context) (loadgen.Conn, error) {
	s, err := dial(ctx, d.address, "")
	if err != nil {
		return nil, err
	}
	return &floorConn{socket: s, prefix: d.prefix}, nil
}

// Subscribe waits for the empty message that confirms it.
func (c *floorConn) Subscribe(channel string) error {
	defer c.hurry()()
	if c.prefix != nil {
		c.skip = c.prefix(channel)
	}
	if err := c.Write(appendFrame(nil, opBinary, floor.AppendSubscribe(nil, channel))); err != nil {
		return err
	}
	for confirmed := false; !confirmed; {
		err := c.receive(func(content []byte) error {
			confirmed = confirmed || len(content) == 0
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *floorConn) AppendPublish(dst []byte, channel string, payload []byte) []byte {
	var head [300]byte
	return appendFrame(dst, opBinary, floor.AppendPublishHead(head[:0], channel), payload)
}

func (c *floorConn) Receive(message func(payload []byte)) error {
	return c.receive(func(content []byte) error {
		if len(content) < c.skip {
			return errors.New("the floor sent a message shorter than its prefix")
		}
		message(content[c.skip:])
		return nil
	})
}
