package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"testing"
)

// The operators of consoles: passwords, and hashes of the lowest cost that is allowed.
const (
	AdaPassword = "correct horse 1" // a manager
	BobPassword = "correct horse 2" // a viewer
	AdaHash     = "$argon2id$v=19$m=7168,t=1,p=1$NYXBFFMzzefnvA3loiddsg$TO1GTXy6uCCDuBGHP11dU4GkAFdlBq0tNFEk1tq1a4c"
	BobHash     = "$argon2id$v=19$m=7168,t=1,p=1$ih5SPaxIvQ3UML6vDi/OnQ$sBKME29ZYncSdAfmtorHHxJ0A/W0kNhst6eETX+NwAY"
)

// ConsoleOperators is the block of a console.
const ConsoleOperators = `
	pubsub_console {
		operator ada ` + AdaHash + ` manager
		operator bob ` + BobHash + ` viewer
	}
`

// ConsoleCaddyfile has a console on the usual sites and on those of any other name, and
// trusts a proxy at 127.0.0.9.
const ConsoleCaddyfile = "{" + GlobalOptions + `
	servers {
		trusted_proxies static 127.0.0.9/32
		trusted_proxies_strict
	}
	pubsub {` + PubsubStore + DefaultMaster + FastBandwidth + `
		hook audit {
			max_refusals 10000
		}
	}
}
http://localhost:{{.HTTP}} {
	pubsub` + ConsoleOperators + `
	respond "no such page" 404
}
https://localhost:{{.HTTPS}} {
	tls internal
	pubsub` + ConsoleOperators + `
	respond "no such page" 404
}
http://:{{.HTTP}} {` + ConsoleOperators + `}
`

// ConsoleUser is a browser's part in the calls of a console: it keeps cookies and says where
// it comes from.
type ConsoleUser struct {
	t       *testing.T
	base    string // the origin
	dial    string // where it is
	from    net.IP // the address of this end; nil: any
	Headers http.Header
	Cookie  *http.Cookie // of the session
}

// Console returns somebody at the edge's console, over plain HTTP on loopback.
func (e *Edge) Console() *ConsoleUser {
	return &ConsoleUser{
		t: e.T, base: fmt.Sprintf("http://localhost:%d", e.HTTP), dial: fmt.Sprintf("127.0.0.1:%d", e.HTTP),
		Headers: http.Header{"Sec-Fetch-Site": {"same-origin"}},
	}
}

// ConsoleBehindProxy returns somebody at an address who comes by the trusted proxy, over TLS.
func (e *Edge) ConsoleBehindProxy(ip string) *ConsoleUser {
	u := e.Console()
	u.from = net.IPv4(127, 0, 0, 9)
	u.base = fmt.Sprintf("https://localhost:%d", e.HTTP)
	u.Headers.Set("X-Forwarded-For", ip)
	u.Headers.Set("X-Forwarded-Proto", "https")
	return u
}

// Request makes a call of the API, or of another path if that begins with a slash.
func (u *ConsoleUser) Request(method, path string, body any) *http.Request {
	u.t.Helper()
	if !strings.HasPrefix(path, "/") {
		path = "/console/api/" + path
	}
	var encoded io.Reader
	if method != http.MethodGet {
		encoded = bytes.NewReader(value(json.Marshal(body))(u.t))
	}
	r := value(http.NewRequestWithContext(u.t.Context(), method, "http://"+u.dial+path, encoded))(u.t)
	_, r.Host, _ = strings.Cut(u.base, "://")
	maps.Copy(r.Header, u.Headers)
	if encoded != nil {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Origin", u.base)
	}
	if u.Cookie != nil {
		r.AddCookie(u.Cookie)
	}
	return r
}

// Send sends a request, and keeps the cookie that the answer sets.
func (u *ConsoleUser) Send(r *http.Request) Answer {
	u.t.Helper()
	dialer := net.Dialer{}
	if u.from != nil {
		dialer.LocalAddr = &net.TCPAddr{IP: u.from}
	}
	transport := &http.Transport{DisableKeepAlives: true, DialContext: dialer.DialContext}
	res, err := transport.RoundTrip(r)
	must(u.t, err)
	defer res.Body.Close()
	for _, cookie := range res.Cookies() {
		if u.Cookie = cookie; cookie.MaxAge < 0 {
			u.Cookie = nil
		}
	}
	return value(answerOf(res))(u.t)
}

func (u *ConsoleUser) Call(method, path string, body any) Answer {
	u.t.Helper()
	return u.Send(u.Request(method, path, body))
}

func (u *ConsoleUser) Get(path string) Answer { u.t.Helper(); return u.Call(http.MethodGet, path, nil) }

// TryLogin asks for a session.
func (u *ConsoleUser) TryLogin(name, password string) Answer {
	u.t.Helper()
	return u.Call(http.MethodPost, "session", Object{"name": name, "password": password})
}

// ConsoleSession is what the console says of a session.
type ConsoleSession struct {
	SignedIn bool   `json:"signed_in"`
	Operator string `json:"operator"`
	Role     string `json:"role"`
	Tail     bool   `json:"tail"`
	User     string `json:"user"`
}

// Login gets a session.
func (u *ConsoleUser) Login(name, password string) *ConsoleUser {
	u.t.Helper()
	var session ConsoleSession
	u.TryLogin(name, password).Decode(u.t, http.StatusOK, &session)
	if !session.SignedIn || session.Operator != name || u.Cookie == nil {
		u.t.Fatalf("after the login: %+v, cookie %v", session, u.Cookie)
	}
	return u
}

// SignedIn reports whether there is a session.
func (u *ConsoleUser) SignedIn() bool {
	u.t.Helper()
	var session ConsoleSession
	u.Get("session").Decode(u.t, http.StatusOK, &session)
	return session.SignedIn
}
