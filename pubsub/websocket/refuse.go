package websocket

import (
	"io"
	"net"
	"time"

	"github.com/millrace/millrace/wire"
)

// A connection that is refused has refuseTime for all of its end, and refuseBytes for what it still sends.
const (
	refuseTime  = 2 * time.Second
	refuseBytes = 64 << 10
)

// Refuse tells a client in a message why it gets no session, and closes conn, whose handshake is done. It
// blocks, for 2 s at most.
func Refuse(conn net.Conn, line []byte, code wire.CloseCode) {
	defer conn.Close()
	if conn.SetDeadline(time.Now().Add(refuseTime)) != nil { // it is closed
		return
	}
	if _, err := conn.Write(appendClose(appendFrame(nil, opText, line), uint16(code), "")); err != nil {
		return
	}
	// Firefox, which reads the end of the connection before it has opened the WebSocket, tells a page nothing of
	// the message. So the end waits for the client's close.
	if _, err := conn.Read(make([]byte, 1)); err != nil {
		return
	}
	endWriting(conn)
	// To close with something unread would reset it, and the client might never see why.
	_, _ = io.CopyN(io.Discard, conn, refuseBytes) // until it closes, too
}
