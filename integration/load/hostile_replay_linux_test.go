package load

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"github.com/millrace/millrace/integration/harness"
)

// relay passes datagrams between a client and an edge, and remembers those of the
// client.
type relay struct {
	edge  *net.UDPAddr
	front *net.UDPConn // where the client sends

	mu     sync.Mutex
	back   *net.UDPConn // what the edge takes for the client
	client *net.UDPAddr
	sent   [][]byte // by the client
	held   [][]byte // what the client does not get yet
	hold   bool

	running sync.WaitGroup
}

// startRelay starts a relay that is on the edge's address. It ends with the test.
func startRelay(e *harness.Edge) *relay {
	e.T.Helper()
	r := &relay{edge: e.UdpAddress(), front: e.SocketAt("127.0.0.1")}
	e.T.Cleanup(r.running.Wait)
	e.T.Cleanup(func() { r.front.Close() })
	r.moveTo(e, "127.0.0.1")
	r.running.Go(r.forward)
	return r
}

func (r *relay) address() *net.UDPAddr { return r.front.LocalAddr().(*net.UDPAddr) }

// moveTo sends from another address of loopback from now on.
func (r *relay) moveTo(e *harness.Edge, address string) {
	e.T.Helper()
	back := e.SocketAt(address)
	e.T.Cleanup(func() { back.Close() }) // before the relay is waited for
	r.mu.Lock()
	defer r.mu.Unlock()
	r.back = back
	r.running.Go(func() { r.backward(back) })
}

func (r *relay) forward() {
	buffer := make([]byte, 1<<16)
	for {
		n, from, err := r.front.ReadFromUDP(buffer)
		if err != nil {
			return
		}
		r.mu.Lock()
		r.client, r.sent = from, append(r.sent, append([]byte(nil), buffer[:n]...))
		back := r.back
		r.mu.Unlock()
		_, _ = back.WriteToUDP(buffer[:n], r.edge) // may be lost, as datagrams are
	}
}

func (r *relay) backward(back *net.UDPConn) {
	buffer := make([]byte, 1<<16)
	for {
		n, err := back.Read(buffer)
		if err != nil {
			return
		}
		r.mu.Lock()
		if r.hold {
			r.held = append(r.held, append([]byte(nil), buffer[:n]...))
		} else {
			_, _ = r.front.WriteToUDP(buffer[:n], r.client)
		}
		r.mu.Unlock()
	}
}

// holdBack keeps what the edge sends from the client.
func (r *relay) holdBack() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hold = true
}

// release lets the client have what the edge has sent, and returns what the client
// has sent so far.
func (r *relay) release() [][]byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hold = false
	for _, datagram := range r.held {
		_, _ = r.front.WriteToUDP(datagram, r.client)
	}
	r.held = nil
	return r.sent
}

// loggedCaddyfile writes a line for each request that was answered.
var loggedCaddyfile = "{" + harness.GlobalOptions + "\tpubsub {" + harness.PubsubStore + harness.DefaultMaster + harness.FastBandwidth + `
	}
}
http://localhost:{{.HTTP}} {
	pubsub
}
https://localhost:{{.HTTPS}} {
	tls internal
	log
	pubsub
}
`

// early is a request in early data.
type early struct {
	method, path, proto string
	token               string
	body                string
	status              int // what it is answered with
}

// Send sends the request and does not wait for anything.
func (r early) Send(e *harness.Edge, client *http3.ClientConn) (*http3.RequestStream, error) {
	stream, err := client.OpenRequestStream(context.Background())
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(e.HttpsURL(r.path))
	if err != nil {
		return nil, err
	}
	request := &http.Request{Method: r.method, Proto: r.proto, URL: u, Host: u.Host, Header: http.Header{}}
	if r.token != "" {
		request.Header.Set("Authorization", "Bearer "+r.token)
	}
	if r.body != "" {
		request.Header.Set("Content-Type", "application/json")
		request.Body, request.ContentLength = http.NoBody, int64(len(r.body)) // it follows
	}
	if err := stream.SendRequestHeader(request); err != nil {
		return nil, err
	}
	if _, err := io.WriteString(stream, r.body); err != nil {
		return nil, err
	}
	if r.method != http.MethodConnect {
		return stream, stream.Close()
	}
	return stream, nil
}

// ticketJar is a cache of session tickets that says when one has come.
type ticketJar struct {
	tls.ClientSessionCache
	came chan struct{}
}

func (j *ticketJar) Put(key string, state *tls.ClientSessionState) {
	j.ClientSessionCache.Put(key, state)
	select {
	case j.came <- struct{}{}:
	default:
	}
}

// resumption returns the settings of a client that has a session ticket of the
// edge's.
func resumption(e *harness.Edge, ctx context.Context) *tls.Config {
	e.T.Helper()
	config := e.QuicTLS()
	jar := &ticketJar{tls.NewLRUClientSessionCache(1), make(chan struct{}, 1)}
	config.ClientSessionCache = jar
	conn, err := quic.DialAddr(ctx, e.UdpAddress().String(), config, harness.EarlySettings)
	if err != nil {
		e.T.Fatal(err)
	}
	e.T.Cleanup(func() { harness.CloseQUIC(conn) })
	select {
	case <-jar.came:
	case <-ctx.Done():
		e.T.Fatal("no session ticket came")
	}
	return config
}

// dialEarly opens a connection through the relay on which early data can be sent.
func (r *relay) dialEarly(ctx context.Context, e *harness.Edge, config *tls.Config) (*quic.Conn, *http3.ClientConn) {
	e.T.Helper()
	conn, err := quic.DialAddrEarly(ctx, r.address().String(), config, harness.EarlySettings)
	if err != nil {
		e.T.Fatal(err)
	}
	transport := &http3.Transport{EnableDatagrams: true, AdditionalSettings: map[uint64]uint64{0x2c7cf000: 1}}
	return conn, transport.NewClientConn(conn)
}

// What a client sends as TLS early data may be a replay: nothing in it opens a
// session or issues a token, neither when it comes first nor when somebody who
// has seen it on its way sends it again.
func TestHostileReplay(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, loggedCaddyfile)
	calm := e.StartCalm()
	token := e.Issue(harness.AllowAll("room"))
	body := string(e.Encode(harness.TokenRequest(harness.AllowAll("room"))))
	requests := []early{
		{method: http.MethodConnect, path: "/wt", proto: "webtransport-h3", token: token.Token, status: http.StatusTooEarly},
		{method: http.MethodConnect, path: "/wt", proto: "webtransport-h3", status: http.StatusTooEarly},
		{method: http.MethodPost, path: "/v1/get-token", token: e.Master, body: body, status: http.StatusTooEarly},
		{method: http.MethodGet, path: "/ping", status: http.StatusOK},
	}
	tokens := e.TokenCount()
	checkNothing := func(when string) {
		t.Helper()
		for _, c := range e.Connections() {
			if c.TokenID == token.TokenID {
				t.Errorf("%s: the token has a session", when)
			}
		}
		if got := e.TokenCount(); got != tokens {
			t.Errorf("%s: there are %d tokens, want %d", when, got, tokens)
		}
	}
	// answered reports whether the access log has each of the requests so often.
	answered := func(times int) bool {
		log := e.Output()
		return !slices.ContainsFunc(requests, func(r early) bool {
			line := regexp.MustCompile(fmt.Sprintf(`"uri":"%s".*"proto":"h3".*"status":%d`, r.path, r.status))
			want := times * len(slices.DeleteFunc(slices.Clone(requests), func(other early) bool { return other.path != r.path }))
			return len(line.FindAllString(log, -1)) < want
		})
	}

	// A first connection gets a ticket, with which the second one resumes.
	ctx, cancel := context.WithTimeout(context.Background(), 2*harness.WaitTimeout)
	defer cancel()
	config := resumption(e, ctx)

	// The edge's packets are held back: the handshake cannot complete before all
	// requests have been answered.
	r := startRelay(e)
	r.holdBack()
	conn, client := r.dialEarly(ctx, e, config)
	defer harness.CloseQUIC(conn)
	streams := make([]*http3.RequestStream, len(requests))
	for i, request := range requests {
		var err error
		if streams[i], err = request.Send(e, client); err != nil {
			t.Fatal(err)
		}
	}
	e.Poll("answers to early data", func() bool { return answered(1) })
	captured := r.release()
	for i, request := range requests {
		res, err := streams[i].ReadResponse()
		if err != nil {
			t.Fatalf("%s %s: %v", request.method, request.path, err)
		}
		got, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		if request.status == http.StatusOK {
			if res.StatusCode != http.StatusOK || string(got) != "pong" {
				t.Errorf("GET /ping: %d %q", res.StatusCode, got)
			}
			continue
		}
		harness.Answer{Status: res.StatusCode, Header: res.Header, Body: got}.Problem(t, http.StatusTooEarly, "too_early")
	}
	if !conn.ConnectionState().Used0RTT {
		t.Error("the edge did not take the early data")
	}
	checkNothing("the first time")

	// Others send it again, while the connection is there, and when it has gone.
	replay := func() {
		t.Helper()
		socket := e.SocketAt("127.0.0.4")
		for _, datagram := range captured {
			if _, err := socket.WriteToUDP(datagram, r.edge); err != nil {
				t.Fatal(err)
			}
		}
	}
	replay()

	// After the handshake the connection is as good as any other.
	stream, err := requests[0].Send(e, client)
	if err != nil {
		t.Fatal(err)
	}
	if res, err := stream.ReadResponse(); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("got %v, %v; want a session", res, err)
	}
	if n := len(e.Connections()); n != 4 { // three are calm
		t.Errorf("there are %d connections, want 4", n)
	}
	harness.CloseQUIC(conn)
	e.Poll("the session to end", func() bool { return len(e.Connections()) == 3 })
	checkNothing("while the connection was there")

	e.Poll("answers to a replay", func() bool { // the edge remembers a connection's IDs for a while
		replay()
		return answered(2)
	})
	checkNothing("the second time")
	if out := e.Output(); strings.Contains(out, token.Token) || strings.Contains(out, e.Master) {
		t.Error("a log has a token")
	}
	calm.Check()
}
