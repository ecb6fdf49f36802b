package edgetest

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"github.com/gorilla/websocket"
	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/webtransport-go"
	"go.uber.org/zap"

	"github.com/millrace/millrace/internal/admission"
	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/hook"
	wsconn "github.com/millrace/millrace/pubsub/websocket"
	wtconn "github.com/millrace/millrace/pubsub/webtransport"
	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/tokenstore/rest"
	"github.com/millrace/millrace/wire"
)

const httpsPort = 443

// serve serves HTTP over streams and packets, until closeServers.
func (e *Edge) serve() (closeServers func(), err error) {
	mux := http.NewServeMux()
	mux.HandleFunc("/ping", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "pong") })
	mux.HandleFunc("/edges", e.serveEdges)
	mux.Handle("/v1/", rest.NewHandler(rest.Options{
		Service:      func() *tokenstore.Service { return e.tokens },
		Authenticate: e.admit.Failures.AuthenticateMaster,
		ClientIP:     func(r *http.Request) (netip.Addr, bool) { ip := addressOf(r); return ip, ip.IsValid() },
		Observe: func(o rest.Operation) {
			e.hub.Operated(hook.Operation{
				Name: o.Name, Actor: o.Master, IP: o.IP, Status: o.Status, Code: string(o.Code),
				TokenID: o.TokenID, Tenants: o.Tenants, ExpiresAt: o.ExpiresAt, Subject: o.Subject, Revoked: o.Revoked,
			})
		},
	}))
	mux.HandleFunc("/ws", e.serveWebSocket)
	at := netip.AddrPortFrom(e.addr, httpsPort)
	listener, err := e.overlay.network.Listen(at)
	if err != nil {
		return nil, err
	}
	server := &http.Server{ //nolint:gosec // no client is hostile
		Handler:   mux,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate()}, MinVersion: tls.VersionTLS13},
		// No HTTP/2, which has no WebSocket.
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){},
		ErrorLog:     log.New(io.Discard, "", 0),
	}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.ServeTLS(listener, "", "") }) // until it is closed
	closeHTTP3, err := e.serveHTTP3(at, &serving)
	if err != nil {
		return nil, errors.Join(err, server.Close())
	}
	return func() {
		_ = server.Close()
		closeHTTP3()
		serving.Wait()
	}, nil
}

// serveEdges lists the edges that joined each other and take clients.
func (e *Edge) serveEdges(w http.ResponseWriter, _ *http.Request) {
	list := []pubsub.Edge{}
	e.overlay.mu.Lock()
	for _, other := range e.overlay.edges {
		if other.hub.Available() == nil {
			list = append(list, pubsub.Edge{Host: other.host, Region: other.config.region})
		}
	}
	e.overlay.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"edges": list})
}

func addressOf(r *http.Request) netip.Addr {
	addr, _ := netip.ParseAddrPort(r.RemoteAddr) // the network gives each client one
	return addr.Addr()
}

func (e *Edge) candidate(r *http.Request, transport string) admission.Candidate {
	ip := addressOf(r)
	return admission.Candidate{
		Edge: e.admit, Client: pubsub.Client{IP: ip, Transport: transport}, Origins: r.Header.Values("Origin"), Secure: true, Peer: ip,
	}
}

// credential returns the token of a handshake. The lists of subprotocols that browsers send
// one in are not looked at.
func credential(r *http.Request) (token string, given bool) {
	return strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
}

func (e *Edge) serveWebSocket(w http.ResponseWriter, r *http.Request) {
	token, _ := credential(r)
	opened, refused := e.candidate(r, tokenstore.ProtocolWebSocket).Open(r.Context(), token)
	upgrader := websocket.Upgrader{Subprotocols: []string{wire.Subprotocol}, CheckOrigin: func(*http.Request) bool { return true }}
	if refused != nil {
		if !slices.Contains(websocket.Subprotocols(r), wire.SubprotocolRefusal) {
			refused.Write(w)
			return
		}
		upgrader.Subprotocols = []string{wire.SubprotocolRefusal}
		if conn, err := upgrader.Upgrade(w, r, nil); err == nil {
			line, code := refused.WebSocket(0)
			wsconn.Refuse(conn.NetConn(), line, code)
		}
		return
	}
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		opened.Session.Detach()
		return
	}
	wsconn.Serve(e.hub, opened.Session, conn.NetConn(), nil, zap.NewNop())
}

// connKey is the key of the *quic.Conn in the context of a request.
type connKey struct{}

// serveHTTP3 serves WebTransport, as caddymodule/takeover does.
func (e *Edge) serveHTTP3(at netip.AddrPort, serving *sync.WaitGroup) (closeServer func(), err error) {
	mux := http.NewServeMux()
	server := &webtransport.Server{
		H3: &http3.Server{
			Handler: mux,
			ConnContext: func(ctx context.Context, conn *quic.Conn) context.Context {
				return context.WithValue(ctx, connKey{}, conn)
			},
		},
		ApplicationProtocols: []string{wire.Subprotocol},
		CheckOrigin:          func(*http.Request) bool { return true },
		Config:               &webtransport.Config{MaxIncomingStreams: 8, MaxIncomingUniStreams: 16, MaxIncomingData: 1 << 20},
	}
	mux.HandleFunc("/wt", func(w http.ResponseWriter, r *http.Request) { e.serveWebTransport(server, w, r) })
	socket, err := e.overlay.network.ListenPacket(at)
	if err != nil {
		return nil, err
	}
	transport := &quic.Transport{Conn: socket}
	listener, err := transport.ListenEarly(
		http3.ConfigureTLSConfig(&tls.Config{Certificates: []tls.Certificate{certificate()}, MinVersion: tls.VersionTLS13}),
		&quic.Config{
			EnableDatagrams: true, EnableStreamResetPartialDelivery: true, InitialPacketSize: 1200,
			MaxIncomingStreams: 100, MaxIncomingUniStreams: 100,
			InitialStreamReceiveWindow: 64 << 10, InitialConnectionReceiveWindow: 128 << 10,
		})
	if err != nil {
		return nil, errors.Join(err, socket.Close())
	}
	serving.Go(func() {
		for {
			conn, err := listener.Accept(context.Background())
			if err != nil {
				return // it is closed
			}
			serving.Go(func() { _ = server.ServeQUICConn(conn) }) // until it ends
		}
	})
	return func() {
		_ = server.Close()
		_ = listener.Close()
		_ = transport.Close()
		_ = socket.Close()
	}, nil
}

func (e *Edge) serveWebTransport(server *webtransport.Server, w http.ResponseWriter, r *http.Request) {
	c := e.candidate(r, tokenstore.ProtocolWebTransport)
	token, given := credential(r)
	if given {
		opened, refused := c.Open(r.Context(), token)
		if refused != nil {
			refused.Write(w)
			return
		}
		if conn, err := upgrade(server, w, r); err == nil {
			wtconn.Serve(e.hub, opened, conn, zap.NewNop())
		} else {
			opened.Session.Detach()
		}
		return
	}
	pending, refused := c.Await()
	if refused != nil {
		refused.Write(w)
		return
	}
	conn, err := upgrade(server, w, r)
	if err != nil {
		pending.Release()
		return
	}
	wtconn.ServePending(e.hub, pending, conn, func(ctx context.Context, token string) (wtconn.Admission, *wtconn.Refusal) {
		opened, refused := c.Auth(ctx, pending, token)
		if refused != nil {
			return wtconn.Admission{}, refused.WebTransport()
		}
		return opened, nil
	}, c.NotAuthenticated, zap.NewNop())
}

func upgrade(server *webtransport.Server, w http.ResponseWriter, r *http.Request) (wtconn.Conn, error) {
	session, err := server.Upgrade(w, r)
	if err != nil {
		return wtconn.Conn{}, err
	}
	conn := r.Context().Value(connKey{}).(*quic.Conn)
	return wtconn.Conn{
		Session: session, Request: w.(http3.HTTPStreamer).HTTPStream(), QUIC: conn,
		CloseIfIdle: func() { _ = conn.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeNoError), "") },
	}, nil
}
