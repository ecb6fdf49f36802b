package harness

import (
	"net/http"
	"strings"
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

// ConsoleCaddyfile has a console on the usual sites.
var ConsoleCaddyfile = strings.NewReplacer("\tpubsub\n", "\tpubsub"+ConsoleOperators, "\tpubsub {", `
	pubsub {
		hook audit {
			max_refusals 10000
		}`).Replace(DefaultCaddyfile)

// ConsoleUser is a browser's part in the calls of a console: it keeps cookies.
type ConsoleUser struct {
	e      *Edge
	Cookie *http.Cookie // of the session
}

// Console returns somebody at the edge's console, over plain HTTP on loopback.
func (e *Edge) Console() *ConsoleUser { return &ConsoleUser{e: e} }

// Call makes a call of the API, and keeps the cookie that the answer sets.
func (u *ConsoleUser) Call(method, path string, body any) Answer {
	u.e.T.Helper()
	c := Call{Method: method, URL: "/console/api/" + path, Header: http.Header{"Sec-Fetch-Site": {"same-origin"}}}
	if method != http.MethodGet {
		c.Body = body
		c.Header.Set("Origin", u.e.HttpURL(""))
	}
	if u.Cookie != nil {
		c.Header.Set("Cookie", u.Cookie.Name+"="+u.Cookie.Value)
	}
	a := u.e.Do(c)
	for _, cookie := range (&http.Response{Header: a.Header}).Cookies() {
		if u.Cookie = cookie; cookie.MaxAge < 0 {
			u.Cookie = nil
		}
	}
	return a
}

func (u *ConsoleUser) Get(path string) Answer {
	u.e.T.Helper()
	return u.Call(http.MethodGet, path, nil)
}

// TryLogin asks for a session.
func (u *ConsoleUser) TryLogin(name, password string) Answer {
	u.e.T.Helper()
	return u.Call(http.MethodPost, "session", Object{"name": name, "password": password})
}

// session is what the console says of a session.
func (u *ConsoleUser) session(a Answer) (got struct {
	SignedIn bool `json:"signed_in"`
	Operator string
}) {
	u.e.T.Helper()
	a.Decode(u.e.T, http.StatusOK, &got)
	return got
}

// Login gets a session.
func (u *ConsoleUser) Login(name, password string) *ConsoleUser {
	u.e.T.Helper()
	if got := u.session(u.TryLogin(name, password)); !got.SignedIn || got.Operator != name || u.Cookie == nil {
		u.e.T.Fatalf("after the login: %+v, cookie %v", got, u.Cookie)
	}
	return u
}

// SignedIn reports whether there is a session.
func (u *ConsoleUser) SignedIn() bool {
	u.e.T.Helper()
	return u.session(u.Get("session")).SignedIn
}
