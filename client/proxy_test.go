package client

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/millrace/millrace/internal/testcheck"
)

// record is what a proxy sees.
type record struct {
	mu     sync.Mutex
	asked  []string
	passed []byte // from clients
}

func (r *record) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.passed = append(r.passed, b...)
	return len(b), nil
}

func (r *record) ask(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = append(r.asked, what)
}

// proxy starts a forward proxy, and returns where it listens.
func (n *internet) proxy(answer string) (address string, seen *record) {
	n.t.Helper()
	at := n.address()
	listener, err := n.Listen(at)
	must(n.t, err)
	seen = &record{}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen.ask(r.Method + " " + r.Host + " " + r.Header.Get("Proxy-Authorization"))
		client, _, err := w.(http.Hijacker).Hijack()
		testcheck.NoError(n.t, err)
		defer client.Close()
		_, _ = io.WriteString(client, answer) // it may have given up
		if answer != proxied {
			if answer == "" { // silence
				_, _ = client.Read(make([]byte, 1))
			}
			return
		}
		edge, err := n.Dial(r.Context(), netip.MustParseAddr("127.0.0.3"), netip.MustParseAddrPort(r.Host))
		if err != nil {
			n.t.Error(err)
			return
		}
		done := make(chan struct{})
		go func() { // ends with the client
			defer close(done)
			_, _ = io.Copy(io.MultiWriter(edge, seen), client)
			edge.Close()
		}()
		_, _ = io.Copy(client, edge)
		client.Close()
		<-done
	})}
	go func() { _ = server.Serve(listener) }() // until it is closed
	n.t.Cleanup(func() { server.Close() })
	return at.String(), seen
}

const proxied = "HTTP/1.1 200 Connection established\r\n\r\n"

func TestProxy(t *testing.T) {
	bubble(t, "WebSocket, and requests", func(t *testing.T, _ *world) {
		n := newInternet(t)
		address, seen := n.proxy(proxied)
		edge := n.script(talk(t, polite))
		list := n.serve(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"edges":[{"host":%q}]}`, strings.TrimPrefix(edge, "https://"))
		})).URL
		c := n.mustConnect(func(o *Options) {
			o.Proxy, o.Transports = "http://edge:s%3Ccret@"+address, nil
		}, list+"/edges")
		equal(t, "transport", c.Transport(), WebSocket) // and no attempt over WebTransport is planned
		equal(t, "wants another transport", c.wantsUpgrade(), false)
		s := mustSubscribe(t, c, "x")
		publish(t, c, "a")
		wantPayloads(t, s, "a")
		c.Close()
		synctest.Wait()
		login := " Basic ZWRnZTpzPGNyZXQ="
		wantStrings(t, "the proxy was asked", seen.asked, "CONNECT "+strings.TrimPrefix(list, "https://")+login, "CONNECT "+strings.TrimPrefix(edge, "https://")+login)
		if len(seen.passed) == 0 || bytes.Contains(seen.passed, []byte("AT_a")) {
			t.Error("the proxy sees the token")
		}
	})
	for name, test := range map[string]struct{ user, answer, want string }{
		"asks for a login":  {"", "HTTP/1.1 407 X\r\nContent-Length: 0\r\n\r\n", "asks for a user and a password (HTTP status 407)"},
		"wrong login":       {"edge:s3cret@", "HTTP/1.1 407 X\r\nContent-Length: 0\r\n\r\n", "does not accept the user and the password (HTTP status 407)"},
		"tinyproxy":         {"edge:s3cret@", "HTTP/1.1 401 X\r\nContent-Length: 0\r\n\r\n", "does not accept the user and the password (HTTP status 401)"},
		"refuses":           {"edge:s3cret@", "HTTP/1.1 403 X\r\n\r\n", "does not connect to 127.0.0.1:9 (HTTP status 403)"},
		"is no proxy":       {"edge:s3cret@", "SSH-2.0-x\r\n", "does not answer as an HTTP proxy does"},
		"floods":            {"edge:s3cret@", "HTTP/1.1 200 X\r\nA: " + strings.Repeat("a", 1<<20), "does not answer as an HTTP proxy does"},
		"sends more":        {"edge:s3cret@", proxied + "x", "sent more than its answer"},
		"does not answer":   {"edge:s3cret@", "", "does not answer: context deadline exceeded"},
		"cannot be reached": {"edge:s3cret@", "no server", "cannot be reached"},
	} {
		bubble(t, name, func(t *testing.T, _ *world) {
			n := newInternet(t)
			address := n.address().String()
			if test.answer != "no server" {
				address, _ = n.proxy(test.answer)
			}
			_, err := n.connect(func(o *Options) { o.Proxy = "http://" + test.user + address }, "https://127.0.0.1:9")
			wantError(t, err, ErrUnreachable)
			want := "millrace: unreachable: the proxy " + address + " " + test.want
			if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
	bubble(t, "given up", func(t *testing.T, _ *world) {
		n := newInternet(t)
		address, _ := n.proxy("")
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		start := time.Now()
		o := Options{Token: "AT_a", Network: n.network(), Proxy: address}
		wantError(t, errorOf(Connect(ctx, []string{"https://127.0.0.1:9"}, o)), context.Canceled)
		equal(t, "given up after", time.Since(start), time.Second)
	})
}

// Which proxy an edge is reached through, by option and environment.
func TestProxyOf(t *testing.T) {
	for _, test := range []struct {
		option, https, no, edge string
		want                    string // the proxy's address; empty: none
	}{
		{"", "", "", "https://edge.test", ""},
		{"", "http://user:s3cret@proxy.test:3128", "", "https://edge.test", "proxy.test:3128"},
		{"", "proxy.test", "", "https://edge.test", "proxy.test:80"},
		{"", "https://proxy.test", "", "https://edge.test", "proxy.test:443"},
		{"", "http://proxy.test:1\n", "", "https://edge.test", "proxy.test:1"},
		{"", "http://proxy.test", "edge.test,other.test", "https://edge.test:8443", ""},
		{"", "http://proxy.test", "*", "https://edge.test", ""},
		{"", "http://proxy.test", ".test", "https://edge.test", ""},
		{"", "http://proxy.test", "10.0.0.0/8", "https://10.1.2.3:8443", ""},
		{"", "http://proxy.test", "edge.test:1", "https://edge.test:8443", "proxy.test:80"},
		{"", "http://proxy.test", "", "http://edge.test", ""},
		{"", "http://proxy.test", "", "https://localhost:8443", ""},
		{"", "http://proxy.test", "", "https://[::1]:8443", ""},
		{"none", "http://proxy.test", "", "https://edge.test", ""},
		{"http://other.test:1", "http://proxy.test", "*", "http://localhost", "other.test:1"},
		{"", "socks5://user:s3cret@proxy.test", "", "https://edge.test", "HTTPS_PROXY is not the URL"},
		{"", "http://user:s3cret#@proxy.test", "", "https://edge.test", "HTTPS_PROXY is not the URL"},
		{"", "http://user:s3cret#@proxy.test", "edge.test", "https://edge.test", ""},
		{"http://user:s3cret#@proxy.test", "", "", "https://edge.test", "Proxy is not the URL"},
		{"socks5://proxy.test", "", "", "https://edge.test", "Proxy is not the URL"},
	} {
		t.Run("", func(t *testing.T) {
			t.Setenv("HTTPS_PROXY", test.https)
			t.Setenv("NO_PROXY", test.no)
			got := ""
			p, err := newProxies(test.option)
			if through := p.ofEdge(test.edge); err == nil && through != nil {
				if got = ""; through.err == nil {
					got = through.address()
				} else {
					_, err = through.connect(t.Context(), machine, nil, "edge.test:443")
				}
			}
			if err != nil {
				got = err.Error()
				wantError(t, err, ErrBadOption)
			}
			if (test.want == "") != (got == "") || !strings.Contains(got, test.want) || strings.Contains(got, "s3cret") {
				t.Errorf("%+v: got %q", test, got)
			}
		})
	}
	o := Options{Token: "AT_a", Transports: []Transport{WebTransport}, Proxy: "http://proxy.test"}
	wantError(t, errorOf(o.settings()), ErrBadOption)
	t.Setenv("HTTPS_PROXY", "http://proxy.test")
	o.Proxy = ""
	s, err := o.settings()
	noError(t, err)
	equal(t, "WebTransport alone", s.hasHTTP3("https://edge.test"), true)
	o.Transports = nil
	s, err = o.settings()
	noError(t, err)
	equal(t, "WebTransport beside a proxy", s.hasHTTP3("https://edge.test"), false)
}
