package networks

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gorilla/websocket"
	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/webtransport-go"

	"github.com/millrace/millrace/wire"
)

// arrival is when a message came, and how old it was.
type arrival struct {
	at  time.Time
	age time.Duration
}

// runLatency is the process of a client of [lab.latencies].
func runLatency() error {
	var m measurement
	if err := json.NewDecoder(os.Stdin).Decode(&m); err != nil {
		return err
	}
	root, err := os.ReadFile(os.Getenv(rootEnv))
	if err != nil {
		return err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(root)
	arrivals := make(chan arrival, 1024)
	failed := make(chan error, len(latencyChannels)+1)
	begin := map[int]func(measurement, *tls.Config, chan<- arrival, chan<- error) error{0: overWebSocket, 1: overOne, 2: overOwn}[m.Way]
	if err := begin(m, &tls.Config{RootCAs: pool}, arrivals, failed); err != nil {
		return err
	}
	warm := time.Now().Add(warmUp)
	end := time.After(warmUp + m.For)
	var all []arrival
	for {
		select {
		case a := <-arrivals:
			if a.at.After(warm) {
				all = append(all, a)
			}
		case err := <-failed:
			return err
		case <-end:
			return json.NewEncoder(os.Stdout).Encode(measure(all)) // what reads ends with the process
		}
	}
}

func measure(all []arrival) (m measured) {
	if m.Messages = len(all); m.Messages == 0 {
		return m
	}
	slices.SortFunc(all, func(a, b arrival) int { return a.at.Compare(b.at) })
	ages := make([]time.Duration, len(all))
	var silence time.Duration
	for i, a := range all {
		ages[i] = a.age
		if i > 0 {
			silence = max(silence, a.at.Sub(all[i-1].at))
		}
	}
	slices.Sort(ages)
	inMS := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	return measured{m.Messages, inMS(ages[len(ages)/2]), inMS(ages[len(ages)*99/100]), inMS(silence)}
}

// arrive notes a message, unless it is a line.
func arrive(message []byte, arrivals chan<- arrival) error {
	now := time.Now()
	if !wire.IsFrame(message) {
		if bytes.HasPrefix(message, []byte("ERR")) {
			return fmt.Errorf("the edge says %s", message)
		}
		return nil
	}
	d, err := wire.DecodeDeliver(message)
	if err != nil {
		return err
	}
	digits, _, _ := bytes.Cut(d.Payload, []byte(" "))
	sent, err := strconv.ParseInt(string(digits), 10, 64)
	if err != nil {
		return err
	}
	arrivals <- arrival{now, now.Sub(time.Unix(0, sent))}
	return nil
}

func overWebSocket(m measurement, trust *tls.Config, arrivals chan<- arrival, failed chan<- error) error {
	dialer := websocket.Dialer{TLSClientConfig: trust}
	conn, _, err := dialer.Dial("wss"+strings.TrimPrefix(m.Edge, "https")+"/ws", http.Header{"Authorization": {"Bearer " + m.Token}})
	if err != nil {
		return err
	}
	for _, channel := range latencyChannels {
		if err := conn.WriteMessage(websocket.TextMessage, []byte("SUB:"+tenant+":"+channel)); err != nil {
			return err
		}
	}
	go follow(func() ([]byte, error) { _, message, err := conn.ReadMessage(); return message, err }, arrivals, failed)
	return nil
}

// follow reads messages until the process ends.
func follow(next func() ([]byte, error), arrivals chan<- arrival, failed chan<- error) {
	for {
		message, err := next()
		if err == nil {
			err = arrive(message, arrivals)
		}
		if err != nil {
			failed <- err
			return
		}
	}
}

// openSession opens a session with a stream, as the SDK does.
func openSession(m measurement, trust *tls.Config) (*webtransport.Session, *webtransport.Stream, error) {
	trust.NextProtos = []string{http3.NextProtoH3}
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	address := strings.TrimPrefix(m.Edge, "https://")
	trust.ServerName, _, _ = strings.Cut(address, ":")
	conn, err := quic.DialAddr(ctx, address, trust, &quic.Config{
		EnableDatagrams: true, EnableStreamResetPartialDelivery: true, KeepAlivePeriod: 10 * time.Second,
	})
	if err != nil {
		return nil, nil, err
	}
	transport := &webtransport.Transport{ApplicationProtocols: []string{wire.Subprotocol}}
	client, err := transport.NewClientConn(conn)
	if err != nil {
		return nil, nil, err
	}
	_, session, err := client.Dial(ctx, m.Edge+"/wt", http.Header{"Authorization": {"Bearer " + m.Token}})
	if err != nil {
		return nil, nil, err
	}
	stream, err := session.OpenStreamSync(ctx)
	return session, stream, err
}

func overOne(m measurement, trust *tls.Config, arrivals chan<- arrival, failed chan<- error) error {
	_, stream, err := openSession(m, trust)
	if err != nil {
		return err
	}
	for _, channel := range latencyChannels {
		if _, err := stream.Write(wire.AppendMessage(nil, []byte("SUB:"+tenant+":"+channel))); err != nil {
			return err
		}
	}
	go follow(messagesOf(stream), arrivals, failed)
	return nil
}

func overOwn(m measurement, trust *tls.Config, arrivals chan<- arrival, failed chan<- error) error {
	session, stream, err := openSession(m, trust)
	if err != nil {
		return err
	}
	if _, err := stream.Write(wire.AppendMessage(nil, []byte("PING"))); err != nil { // else the edge does not hear of it
		return err
	}
	go follow(messagesOf(stream), arrivals, failed)
	lines, err := session.OpenUniStream()
	if err != nil {
		return err
	}
	for _, channel := range latencyChannels {
		if _, err := io.WriteString(lines, "SUB:U:"+tenant+":"+channel+"\n"); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), waitTimeout)
	defer cancel()
	for range latencyChannels {
		own, err := session.AcceptUniStream(ctx)
		if err != nil {
			return err
		}
		go follow(messagesOf(own), arrivals, failed)
	}
	return nil
}

// messagesOf reads messages behind their lengths.
func messagesOf(stream io.Reader) func() ([]byte, error) {
	reader := bufio.NewReader(stream)
	return func() ([]byte, error) {
		var length [4]byte
		if _, err := io.ReadFull(reader, length[:]); err != nil {
			return nil, err
		}
		size := binary.BigEndian.Uint32(length[:])
		if size > 1<<20 {
			return nil, errors.New("a message is too long")
		}
		message := make([]byte, size)
		_, err := io.ReadFull(reader, message)
		return message, err
	}
}
