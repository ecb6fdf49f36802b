package websocket

import (
	"encoding/binary"
	"unicode/utf8"

	"github.com/millrace/millrace/wire"
)

func (c *connection) handle(h header, payload []byte) bool {
	if h.opcode == opBinary && h.fin && c.opcode == 0 { // nearly all
		c.markActive()
		c.session.HandleFrame(payload)
		return true
	}
	switch h.opcode {
	case opPing:
		c.markActive()
		c.session.HandlePing(payload)
	case opPong:
	case opClose:
		return c.handleClose(payload)
	case opText, opBinary:
		if c.opcode != 0 {
			return c.close(statusProtocolError, "a new message within a fragmented one")
		}
		if h.fin {
			return c.handleMessage(h.opcode, payload)
		}
		c.opcode = h.opcode
		return c.handleFragment(payload)
	case opContinuation:
		if c.opcode == 0 {
			return c.close(statusProtocolError, "a continuation of nothing")
		}
		if !c.handleFragment(payload) {
			return false
		}
		if h.fin {
			opcode, message := c.opcode, c.message
			c.opcode, c.message = 0, nil
			return c.handleMessage(opcode, message)
		}
	}
	return true
}

const notUTF8 = "text is not UTF-8"

// handleFragment keeps a fragment for its message.
func (c *connection) handleFragment(payload []byte) bool {
	c.message = append(c.message, payload...)
	if c.opcode == opText && !c.text.fragment(payload) {
		return c.close(wire.CloseInvalidUTF8, notUTF8)
	}
	return true
}

// isText reports whether a frame with this opcode is text, or a part of one.
func (c *connection) isText(opcode byte) bool {
	return opcode == opText && c.opcode == 0 || opcode == opContinuation && c.opcode == opText
}

func (c *connection) handleMessage(opcode byte, message []byte) bool {
	c.markActive()
	if opcode == opBinary {
		c.session.HandleFrame(message)
		return true
	}
	c.text = textCheck{}
	if !utf8.Valid(message) {
		return c.close(wire.CloseInvalidUTF8, notUTF8)
	}
	c.session.HandleLine(message)
	return true
}

// handleClose takes the client's close frame (RFC 6455, section 5.5.1); the
// answer carries the same code.
func (c *connection) handleClose(payload []byte) bool {
	c.closeReceived.Store(true)
	code := uint16(statusNone)
	switch {
	case len(payload) == 1:
		return c.close(statusProtocolError, "a close frame of one byte")
	case len(payload) >= 2:
		code = binary.BigEndian.Uint16(payload)
		if !validClose(code) {
			return c.close(statusProtocolError, "close code out of range")
		}
		if !utf8.Valid(payload[2:]) {
			return c.close(wire.CloseInvalidUTF8, "close reason is not UTF-8")
		}
	}
	return c.close(wire.CloseCode(code), "")
}
