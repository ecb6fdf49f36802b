//go:build !unix

package websocket

import (
	"errors"

	"github.com/millrace/millrace/pubsub"
)

// openRaw does nothing: sockets are used through their own Read and Write.
func (*connection) openRaw() {}

func (c *connection) transport() pubsub.Transport { return c }

func readSocket(uintptr, []byte) (int, error) { return 0, errors.ErrUnsupported }
