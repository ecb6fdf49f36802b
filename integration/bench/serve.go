package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"os"
	"time"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/hooks/auth"
	"github.com/mochi-mqtt/server/v2/listeners"
	nats "github.com/nats-io/nats-server/v2/server"

	"github.com/millrace/millrace/integration/bench/floor"
)

// The servers that are not Millrace. Each runs in a process of its own, this
// program as "serve NAME", and prints its URL when it listens.
const (
	floorQueue = "floor-queue"
	floorEach  = "floor-each"
	// floorEqual is floorQueue with messages as long as Millrace's.
	floorEqual = "floor-equal"
	natsServer = "nats-server"
	mochiMQTT  = "mochi-mqtt"
	// socketIO runs on Node.
	socketIO = "socket.io"
	// natsPair is two nats-servers with a route between them, in one process. It
	// prints the URL of both.
	natsPair = "nats-pair"
	// natsCore is a nats-server that edges connect to.
	natsCore = "nats-core"
)

// serve runs one server on a loopback port until ctx ends.
func serve(ctx context.Context, name string, secure bool, ready io.Writer) error {
	var config *tls.Config
	if secure {
		cert, err := certificate()
		if err != nil {
			return err
		}
		config = &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{"http/1.1"}}
	}
	switch name {
	case floorQueue, floorEach, floorEqual:
		return serveFloor(ctx, name, config, ready)
	case natsServer:
		return serveNATS(ctx, config, ready, (*nats.Server).WebsocketURL)
	case natsCore:
		return serveNATS(ctx, config, ready, (*nats.Server).ClientURL)
	case natsPair:
		return servePair(ctx, ready)
	case mochiMQTT:
		return serveMQTT(ctx, config, ready)
	}
	return fmt.Errorf("no server is called %q", name)
}

func serveFloor(ctx context.Context, name string, config *tls.Config, ready io.Writer) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	address := l.Addr().String()
	if config != nil {
		l = tls.NewListener(l, config)
	}
	s := &floor.Server{Mode: floor.Queue}
	switch name {
	case floorEach:
		s.Mode = floor.Each
	case floorEqual:
		s.Prefix = deliverHead
	}
	announce(ready, config, address)
	return s.Serve(ctx, l)
}

// deliverHead is how many bytes a deliver frame of Millrace is longer than its payload, for
// a subscription to exactly this channel: docs/protocol.md, Deliver.
func deliverHead(channel string) int {
	return 1 + 2 + len(tenant) + 2 + len(channel) + 4 + 2 + 2 + len(channel)
}

func serveNATS(ctx context.Context, config *tls.Config, ready io.Writer, url func(*nats.Server) string) error {
	s, err := startNATS(&nats.Options{
		Websocket: nats.WebsocketOpts{Host: "127.0.0.1", Port: nats.RANDOM_PORT, NoTLS: config == nil, TLSConfig: config},
	})
	if err != nil {
		return err
	}
	fmt.Fprintln(ready, url(s))
	<-ctx.Done()
	s.Shutdown()
	s.WaitForShutdown()
	return nil
}

func startNATS(o *nats.Options) (*nats.Server, error) {
	o.Host, o.Port, o.NoLog, o.NoSigs = "127.0.0.1", nats.RANDOM_PORT, true, true
	s, err := nats.NewServer(o)
	if err != nil {
		return nil, err
	}
	go s.Start() // Shutdown ends it
	if !s.ReadyForConnections(waitTimeout) {
		return nil, errors.New("nats-server does not listen")
	}
	return s, nil
}

func serveMQTT(ctx context.Context, config *tls.Config, ready io.Writer) error {
	// Its listener does not report its port.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	address := l.Addr().String()
	l.Close()
	s := mqtt.New(&mqtt.Options{Logger: slog.New(slog.DiscardHandler)})
	if err := s.AddHook(new(auth.AllowHook), nil); err != nil {
		return err
	}
	listener := listeners.NewWebsocket(listeners.Config{ID: "ws", Address: address, TLSConfig: config})
	if err := s.AddListener(listener); err != nil {
		return err
	}
	if err := s.Serve(); err != nil {
		return err
	}
	if err := awaitListener(ctx, address); err != nil {
		return err
	}
	announce(ready, config, address)
	<-ctx.Done()
	return s.Close()
}

func announce(ready io.Writer, config *tls.Config, address string) {
	scheme := "ws"
	if config != nil {
		scheme = "wss"
	}
	fmt.Fprintf(ready, "%s://%s/\n", scheme, address)
}

// awaitListener returns when a server listens on a TCP address.
func awaitListener(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, waitTimeout)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("nobody listens: %w", err)
		}
	}
}

// certificate makes a certificate like those of Caddy's own authority (P-256).
func certificate() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		NotBefore:    time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

// untilOrphaned returns a context that ends when standard input does: the
// runner holds its other end, so no server outlives it.
func untilOrphaned(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	go func() { // ends with standard input, at the latest with the process
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	return ctx
}
