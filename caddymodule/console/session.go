package console

import (
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/millrace/millrace/caddymodule/operate"
	"github.com/millrace/millrace/caddymodule/problem"
	"github.com/millrace/millrace/pubsub/hook"
	"github.com/millrace/millrace/tokenstore/rest"
)

// shownSession answers the calls of a session.
type shownSession struct {
	Auth     string `json:"auth"`
	SignedIn bool   `json:"signed_in"`
	User     string `json:"user,omitempty"` // that Caddy's authentication found

	Operator       string     `json:"operator,omitempty"`
	Role           Role       `json:"role,omitempty"`
	ExpiresAt      *time.Time `json:"expires_at,omitempty"`
	IdleSeconds    int        `json:"idle_seconds,omitempty"`
	ConfirmedUntil *time.Time `json:"confirmed_until,omitempty"` // none: no password is ever asked for again
	Tail           bool       `json:"tail"`
	LiveURL        string     `json:"live_url,omitempty"`
}

// signedOut is what is shown without a session.
func (c *Console) signedOut(r *http.Request) shownSession {
	shown := shownSession{Auth: c.Auth}
	if c.Auth == authCaddy {
		shown.User = caddyUser(r)
	}
	return shown
}

// signedIn is what is shown of a session.
func (c *Console) signedIn(s session, role Role) shownSession {
	ends := s.endsAt().UTC()
	shown := shownSession{
		Auth: c.Auth, SignedIn: true, Operator: s.operator, Role: role,
		ExpiresAt: &ends, IdleSeconds: int(idleTime / time.Second), Tail: c.Tail == "on", LiveURL: c.LiveURL,
	}
	if c.Auth == authOperators {
		confirmed := s.confirmedUntil().UTC()
		shown.ConfirmedUntil = &confirmed
	}
	return shown
}

// showSession is GET /session.
func (c *Console) showSession(w http.ResponseWriter, r *http.Request) {
	v := visitOf(r)
	if !c.enter(r, &v) {
		operate.WriteJSON(w, c.signedOut(r))
		return
	}
	operate.WriteJSON(w, c.signedIn(v.session, v.role))
}

// login is POST /session. Whatever session the browser had before ends.
func (c *Console) login(w http.ResponseWriter, r *http.Request) {
	v := visitOf(r)
	name, ok := c.authenticate(w, r, v)
	if !ok {
		return
	}
	v.Actor = "operator:" + name
	if before := v; c.enter(r, &before) {
		c.end(before)
	}
	op := c.operators.byName[name]
	key, opened, orphans := c.state.open(name, op, v.origin.host)
	c.revokeNow(v.Running.Service, orphans)
	c.setCookie(w, v.origin, key, int(longestTime/time.Second))
	v.Conclude(r, "login", http.StatusOK, "", nil)
	operate.WriteJSON(w, c.signedIn(opened, op.role))
}

// authenticate finds out who wants a session. It answers those who get none.
func (c *Console) authenticate(w http.ResponseWriter, r *http.Request, v visit) (name string, ok bool) {
	body, ok := operate.ReadBody(w, r)
	if !ok {
		return "", false
	}
	var given struct {
		Name     string `json:"name"`
		Password string `json:"password"`
	}
	if err := rest.DecodeStrict(body, &given); err != nil {
		v.Answer(w, r, "", nil, err)
		return "", false
	}
	if c.Auth == authCaddy {
		name = caddyUser(r)
		if _, known := c.operators.byName[name]; !known {
			c.refuse(w, v, "login", "", http.StatusForbidden, "not_an_operator", "the authentication in front of this console found nobody that it names as an operator")
			return "", false
		}
		return name, true
	}
	return given.Name, c.checkPassword(w, r, v, "login", given.Name, given.Password)
}

// checkPassword answers those whose password is wrong, or who try too often.
func (c *Console) checkPassword(w http.ResponseWriter, r *http.Request, v visit, operation, name, password string) bool {
	_, exists := c.operators.byName[name]
	err := c.state.logins.try(r.Context(), v.IP, name, exists, func() bool {
		return len(password) <= MaxPassword && c.operators.check(name, password)
	})
	if err == nil {
		return true
	}
	if !exists { // it may be a password in the wrong field
		name = ""
	}
	var tooMany errTooManyAttempts
	switch {
	case errors.Is(err, errBadCredentials):
		c.refuse(w, v, operation, name, http.StatusUnauthorized, "bad_credentials", err.Error())
	case errors.As(err, &tooMany):
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(tooMany.after.Seconds()))))
		c.refuse(w, v, operation, name, http.StatusTooManyRequests, "too_many_attempts", err.Error())
	}
	return false // otherwise the client is gone
}

// refuse answers a login that is refused, and tells the hooks.
func (c *Console) refuse(w http.ResponseWriter, v visit, operation, name string, status int, code, detail string) {
	v.Running.Hub.Operated(hook.Operation{Name: operation, Actor: v.Actor, IP: v.IP, Status: status, Code: code, Operator: name})
	problem.Write(w, status, code, detail)
}

// confirm is POST /session/confirm: the password again, for what is most dangerous.
func (c *Console) confirm(w http.ResponseWriter, r *http.Request, v visit) {
	body, ok := operate.ReadBody(w, r)
	if !ok {
		return
	}
	var given struct {
		Password string `json:"password"`
	}
	if err := rest.DecodeStrict(body, &given); err != nil {
		v.Answer(w, r, "", nil, err)
		return
	}
	if c.Auth == authCaddy {
		operate.WriteJSON(w, c.signedIn(v.session, v.role))
		return
	}
	if !c.checkPassword(w, r, v, "confirm", v.session.operator, given.Password) {
		return
	}
	c.state.change(v.session.id, func(s *session) {
		s.confirmed = c.state.now()
		v.session = *s
	})
	v.Conclude(r, "confirm", http.StatusOK, "", nil)
	operate.WriteJSON(w, c.signedIn(v.session, v.role))
}

// logout is DELETE /session.
func (c *Console) logout(w http.ResponseWriter, r *http.Request, v visit) {
	if _, ok := operate.ReadBody(w, r); !ok {
		return
	}
	c.end(v)
	c.setCookie(w, v.origin, "", -1)
	v.Conclude(r, "logout", http.StatusOK, "", nil)
	operate.WriteJSON(w, c.signedOut(r))
}

// setCookie gives the browser the key of a session, or takes it away with a negative age,
// which is in seconds.
func (c *Console) setCookie(w http.ResponseWriter, o origin, key string, age int) {
	http.SetCookie(w, &http.Cookie{
		Name: o.cookieName(), Value: key, Path: "/", MaxAge: age,
		Secure: true, HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
}
