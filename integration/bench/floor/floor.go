// Package floor is a publish/subscribe server with no protocol: no rights, no
// flow control, no bound on any queue. It reads messages and writes them to the
// members of a channel, so no Go server on net.Conn that writes in the same way
// can be cheaper. It trusts its clients: use it only on loopback, for measurements.
//
// It speaks WebSocket (RFC 6455), in binary messages, one in each frame:
//
//	client  'S' channel                          subscribe; confirmed by an empty message
//	client  'P' u8 channel length, channel, payload
//	server  prefix, payload                      the prefix may be empty
package floor

import (
	"bufio"
	"context"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
)

// A Mode says who writes to the members.
type Mode string

const (
	// Queue: every member has a queue of shared frames, and a goroutine that
	// copies what is queued into one buffer and writes it at once.
	Queue Mode = "queue"
	// Each: the publisher's goroutine writes the frame to the members one after another.
	Each Mode = "each"
)

// A Server is a floor. Set its fields before Serve.
type Server struct {
	Mode Mode
	// Prefix returns how many bytes to put before a delivered payload, so that messages
	// are as long as those of a server with longer frames; nil: none.
	Prefix func(channel string) int

	mu       sync.Mutex
	channels map[string]*channel
	conns    map[net.Conn]struct{}
	group    sync.WaitGroup // of the connections
}

// Serve accepts connections until ctx ends, then closes all, waits for their
// goroutines and returns nil.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	if s.Mode != Queue && s.Mode != Each {
		return fmt.Errorf("mode %q: must be %q or %q", s.Mode, Queue, Each)
	}
	s.channels, s.conns = map[string]*channel{}, map[net.Conn]struct{}{}
	stop := context.AfterFunc(ctx, func() { l.Close() })
	defer stop()
	for {
		conn, err := l.Accept()
		if err != nil {
			s.mu.Lock()
			for conn := range s.conns {
				conn.Close()
			}
			s.mu.Unlock()
			s.group.Wait()
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		s.mu.Lock()
		s.conns[conn] = struct{}{}
		s.mu.Unlock()
		s.group.Go(func() { // ends with the connection, which Serve closes
			_ = s.serve(conn) // a client that violates the protocol is disconnected
			conn.Close()
			s.mu.Lock()
			delete(s.conns, conn)
			s.mu.Unlock()
		})
	}
}

func (s *Server) channel(name []byte) *channel {
	s.mu.Lock()
	defer s.mu.Unlock()
	ch := s.channels[string(name)]
	if ch == nil {
		ch = new(channel)
		if s.Prefix != nil {
			ch.prefix = s.Prefix(string(name))
		}
		s.channels[string(name)] = ch
	}
	return ch
}

const (
	memberBuffer    = 512      // bytes to read with, of a connection that is idle
	publisherBuffer = 64 << 10 // of one that publishes
)

// serve is one connection's reader.
func (s *Server) serve(conn net.Conn) error {
	if err := accept(conn); err != nil {
		return err
	}
	self := &member{conn: conn}
	defer self.leave()
	var (
		buf  = make([]byte, memberBuffer)
		kept int
		last []byte // name of ch
		ch   *channel
	)
	for {
		n, err := conn.Read(buf[kept:])
		if err != nil {
			return err
		}
		rest := buf[:kept+n]
		for {
			op, content, n, err := parseFrame(rest)
			if err != nil {
				return err
			}
			if n == 0 {
				break
			}
			rest = rest[n:]
			switch {
			case op == opClose:
				return nil
			case op != opBinary:
			case len(content) > 1 && content[0] == 'S':
				self.join(s.channel(content[1:]), s.Mode)
				if _, err := conn.Write(appendHeader(nil, 0)); err != nil {
					return err
				}
			case len(content) > 2 && content[0] == 'P' && len(content) >= 2+int(content[1]):
				end := 2 + int(content[1])
				name, payload := content[2:end], content[end:]
				if string(name) != string(last) {
					last, ch = append(last[:0], name...), s.channel(name)
				}
				ch.publish(payload, s.Mode)
			default:
				return errors.New("not a message of the floor")
			}
		}
		if len(buf) < publisherBuffer && (ch != nil || len(rest) == len(buf)) {
			buf = make([]byte, publisherBuffer)
		} else if len(rest) == len(buf) {
			return errors.New("a message over 64 KiB")
		}
		kept = copy(buf, rest)
	}
}

// accept does the server's half of the opening handshake.
func accept(conn net.Conn) error {
	r := bufio.NewReaderSize(conn, 1024)
	req, err := http.ReadRequest(r)
	if err != nil {
		return err
	}
	if r.Buffered() > 0 {
		return errors.New("the client does not wait for the answer")
	}
	sum := sha1.Sum([]byte(req.Header.Get("Sec-Websocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	_, err = fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+
		"Sec-WebSocket-Accept: %s\r\n\r\n", base64.StdEncoding.EncodeToString(sum[:]))
	return err
}

// AppendSubscribe appends the message that subscribes to a channel.
func AppendSubscribe(dst []byte, channel string) []byte {
	return append(append(dst, 'S'), channel...)
}

// AppendPublishHead appends what stands before the payload of a message that
// publishes to a channel of at most 255 bytes.
func AppendPublishHead(dst []byte, channel string) []byte {
	return append(append(dst, 'P', byte(len(channel))), channel...)
}

// Opcodes, RFC 6455 section 5.2.
const (
	opBinary = 0x2
	opClose  = 0x8
)

// parseFrame returns the first frame of data, whose content it unmasks in
// place, and its length; 0: it is not complete.
func parseFrame(data []byte) (op byte, content []byte, n int, err error) {
	if len(data) < 6 {
		return 0, nil, 0, nil
	}
	op = data[0] & 0x0f
	head, length := 2, int(data[1]&0x7f)
	switch length {
	case 126:
		head, length = 4, int(binary.BigEndian.Uint16(data[2:]))
	case 127:
		return 0, nil, 0, errors.New("a message over 64 KiB")
	}
	if data[1]&0x80 == 0 {
		return 0, nil, 0, errors.New("a frame without mask")
	}
	n = head + 4 + length
	if len(data) < n {
		return 0, nil, 0, nil
	}
	mask := data[head : head+4]
	content = data[head+4 : n]
	for i := range content {
		content[i] ^= mask[i&3]
	}
	return op, content, n, nil
}

// appendHeader appends the header of a frame of the server.
func appendHeader(dst []byte, length int) []byte {
	dst = append(dst, 0x80|opBinary)
	switch {
	case length < 126:
		return append(dst, byte(length))
	case length < 1<<16:
		return binary.BigEndian.AppendUint16(append(dst, 126), uint16(length))
	}
	return binary.BigEndian.AppendUint64(append(dst, 127), uint64(length))
}
