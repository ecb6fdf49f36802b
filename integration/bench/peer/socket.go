// Package peer speaks the protocols of the servers that Millrace is measured
// beside, as drivers of the load generator in internal/loadgen.
package peer

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// Address is where a server listens.
type Address struct {
	URL string // ws:// or wss://; certificates are not verified, so loopback only
}

const (
	handshakeTimeout = 30 * time.Second // for one step of a handshake
	readBuffer       = 32 << 10         // bytes; grows up to the longest frame
	longestRead      = 16 << 20         // bytes of a frame; more is an error
)

// socket is the client's end of a WebSocket (RFC 6455) without extensions. One
// goroutine may call receive, any others Write.
type socket struct {
	conn net.Conn
	buf  []byte // buf[:kept] was read and not used yet
	kept int

	stream []byte // of receiveStream: the beginning of what a later frame continues

	mu sync.Mutex // one write at a time: pongs come from the reader
}

// dial connects and upgrades. protocol is the subprotocol to ask for; "": none.
func dial(ctx context.Context, a Address, protocol string) (*socket, error) {
	u, err := url.Parse(a.URL)
	if err != nil {
		return nil, err
	}
	if ip := net.ParseIP(u.Hostname()); !ip.IsLoopback() {
		return nil, fmt.Errorf("%s: must be a loopback address", a.URL)
	}
	var conn net.Conn
	switch u.Scheme {
	case "ws":
		conn, err = new(net.Dialer).DialContext(ctx, "tcp", u.Host)
	case "wss":
		d := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"http/1.1"}}}
		conn, err = d.DialContext(ctx, "tcp", u.Host)
	default:
		err = fmt.Errorf("%s: must begin with ws:// or wss://", a.URL)
	}
	if err != nil {
		return nil, err
	}
	s := &socket{conn: conn, buf: make([]byte, readBuffer)}
	if err := s.upgrade(u, protocol); err != nil {
		conn.Close()
		return nil, err
	}
	return s, nil
}

func (s *socket) upgrade(u *url.URL, protocol string) error {
	defer s.hurry()()
	var nonce [16]byte
	rand.Read(nonce[:]) // never fails
	req := &http.Request{Method: http.MethodGet, URL: u, Host: u.Host, Header: http.Header{
		"Connection": {"Upgrade"}, "Upgrade": {"websocket"},
		"Sec-Websocket-Version": {"13"}, "Sec-Websocket-Key": {base64.StdEncoding.EncodeToString(nonce[:])},
	}}
	if protocol != "" {
		req.Header.Set("Sec-Websocket-Protocol", protocol)
	}
	if err := req.Write(s.conn); err != nil {
		return err
	}
	r := bufio.NewReader(s.conn)
	res, err := http.ReadResponse(r, req)
	if err != nil {
		return err
	}
	res.Body.Close()
	if res.StatusCode != http.StatusSwitchingProtocols {
		return fmt.Errorf("the server answered the upgrade with %s", res.Status)
	}
	// The server may have sent frames already, which r has taken.
	early, err := r.Peek(r.Buffered())
	s.kept = copy(s.buf, early)
	return err
}

// hurry bounds the reads and writes until the function it returns is called.
func (s *socket) hurry() (done func()) {
	_ = s.conn.SetDeadline(time.Now().Add(handshakeTimeout)) // a closed connection fails later, too
	return func() { _ = s.conn.SetDeadline(time.Time{}) }
}

// Write sends whole frames.
func (s *socket) Write(frames []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.conn.Write(frames)
	return err
}

var errClosed = errors.New("the server closed the connection")

// receive reads once, unless frames are waiting, and calls data with the
// content of each data frame that is complete. It answers pings.
func (s *socket) receive(data func(content []byte) error) error {
	if s.kept == 0 || !complete(s.buf[:s.kept]) {
		if s.kept == len(s.buf) {
			if len(s.buf) >= longestRead {
				return fmt.Errorf("a frame of more than %d bytes", longestRead)
			}
			s.buf = append(s.buf, make([]byte, len(s.buf))...)
		}
		n, err := s.conn.Read(s.buf[s.kept:])
		if n == 0 {
			return err
		}
		s.kept += n
	}
	rest := s.buf[:s.kept]
	for {
		f, n := parseFrame(rest)
		if n == 0 {
			s.kept = copy(s.buf, rest)
			return nil
		}
		rest = rest[n:]
		var err error
		switch f.op {
		case opPing:
			err = s.Write(appendFrame(nil, opPong, f.content))
		case opPong:
		case opClose:
			err = errClosed
		default:
			err = data(f.content)
		}
		if err != nil {
			return err
		}
	}
}

// receiveStream is receive for a protocol whose messages are cut into frames
// anywhere: consume takes what is complete, and returns the rest.
func (s *socket) receiveStream(consume func(data []byte) (rest []byte, err error)) error {
	return s.receive(func(content []byte) error {
		if len(s.stream) > 0 {
			s.stream = append(s.stream, content...)
			content = s.stream
		}
		rest, err := consume(content)
		s.stream = append(s.stream[:0], rest...)
		return err
	})
}

// Close ends both directions; a receive that waits fails.
func (s *socket) Close() error { return s.conn.Close() }
