package integration

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// The operators of consoles: passwords, and hashes of the lowest cost that is allowed.
const (
	adaPassword = "correct horse 1" // a manager
	bobPassword = "correct horse 2" // a viewer
	adaHash     = "$argon2id$v=19$m=7168,t=1,p=1$NYXBFFMzzefnvA3loiddsg$TO1GTXy6uCCDuBGHP11dU4GkAFdlBq0tNFEk1tq1a4c"
	bobHash     = "$argon2id$v=19$m=7168,t=1,p=1$ih5SPaxIvQ3UML6vDi/OnQ$sBKME29ZYncSdAfmtorHHxJ0A/W0kNhst6eETX+NwAY"
)

// consoleOperators is the block of a console.
const consoleOperators = `
	pubsub_console {
		operator ada ` + adaHash + ` manager
		operator bob ` + bobHash + ` viewer
	}
`

// consoleCaddyfile has a console on the usual sites and on those of any other name, and
// trusts a proxy at 127.0.0.9.
const consoleCaddyfile = "{" + globalOptions + `
	servers {
		trusted_proxies static 127.0.0.9/32
		trusted_proxies_strict
	}
	pubsub {` + pubsubStore + defaultMaster + fastBandwidth + `
		hook audit {
			max_refusals 10000
		}
	}
}
http://localhost:{{.HTTP}} {
	pubsub` + consoleOperators + `
	respond "no such page" 404
}
https://localhost:{{.HTTPS}} {
	tls internal
	pubsub` + consoleOperators + `
	respond "no such page" 404
}
http://:{{.HTTP}} {` + consoleOperators + `}
`

// consoleUser is a browser's part in the calls of a console: it keeps cookies and says where
// it comes from.
type consoleUser struct {
	t      *testing.T
	base   string // the origin
	dial   string // where it is
	from   net.IP // the address of this end; nil: any
	header http.Header
	cookie *http.Cookie // of the session
}

// console returns somebody at the edge's console, over plain HTTP on loopback.
func (e *edge) console() *consoleUser {
	return &consoleUser{
		t: e.t, base: fmt.Sprintf("http://localhost:%d", e.HTTP), dial: fmt.Sprintf("127.0.0.1:%d", e.HTTP),
		header: http.Header{"Sec-Fetch-Site": {"same-origin"}},
	}
}

// behindProxy returns somebody at an address who comes by the trusted proxy, over TLS.
func (e *edge) consoleBehindProxy(ip string) *consoleUser {
	u := e.console()
	u.from = net.IPv4(127, 0, 0, 9)
	u.base = fmt.Sprintf("https://localhost:%d", e.HTTP)
	u.header.Set("X-Forwarded-For", ip)
	u.header.Set("X-Forwarded-Proto", "https")
	return u
}

// request makes a call of the API, or of another path if that begins with a slash.
func (u *consoleUser) request(method, path string, body any) *http.Request {
	u.t.Helper()
	if !strings.HasPrefix(path, "/") {
		path = "/console/api/" + path
	}
	encoded, err := json.Marshal(body)
	if err != nil {
		u.t.Fatal(err)
	}
	_, hostPort, _ := strings.Cut(u.base, "://")
	r, err := http.NewRequestWithContext(u.t.Context(), method, "http://"+u.dial+path, bytes.NewReader(encoded))
	if err != nil {
		u.t.Fatal(err)
	}
	r.Host = hostPort
	for name, values := range u.header {
		r.Header[name] = values
	}
	if method != http.MethodGet {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Origin", u.base)
	} else {
		r.Body, r.ContentLength = nil, 0
	}
	if u.cookie != nil {
		r.AddCookie(u.cookie)
	}
	return r
}

// send sends a request, and keeps the cookie that the answer sets.
func (u *consoleUser) send(r *http.Request) answer {
	u.t.Helper()
	dialer := net.Dialer{}
	if u.from != nil {
		dialer.LocalAddr = &net.TCPAddr{IP: u.from}
	}
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return dialer.DialContext(ctx, network, u.dial)
	}}
	res, err := transport.RoundTrip(r)
	if err != nil {
		u.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		u.t.Fatal(err)
	}
	for _, cookie := range res.Cookies() {
		if u.cookie = cookie; cookie.MaxAge < 0 {
			u.cookie = nil
		}
	}
	return answer{Status: res.StatusCode, Header: res.Header, Body: body}
}

func (u *consoleUser) call(method, path string, body any) answer {
	u.t.Helper()
	return u.send(u.request(method, path, body))
}

func (u *consoleUser) get(path string) answer { u.t.Helper(); return u.call(http.MethodGet, path, nil) }

// tryLogin asks for a session.
func (u *consoleUser) tryLogin(name, password string) answer {
	u.t.Helper()
	return u.call(http.MethodPost, "session", object{"name": name, "password": password})
}

// consoleSession is what the console says of a session.
type consoleSession struct {
	SignedIn bool   `json:"signed_in"`
	Operator string `json:"operator"`
	Role     string `json:"role"`
	Tail     bool   `json:"tail"`
	User     string `json:"user"`
}

// login gets a session.
func (u *consoleUser) login(name, password string) *consoleUser {
	u.t.Helper()
	var session consoleSession
	u.tryLogin(name, password).decode(u.t, http.StatusOK, &session)
	if !session.SignedIn || session.Operator != name || u.cookie == nil {
		u.t.Fatalf("after the login: %+v, cookie %v", session, u.cookie)
	}
	return u
}

// signedIn reports whether there is a session.
func (u *consoleUser) signedIn() bool {
	u.t.Helper()
	var session consoleSession
	u.get("session").decode(u.t, http.StatusOK, &session)
	return session.SignedIn
}
