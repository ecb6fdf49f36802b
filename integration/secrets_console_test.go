package integration

import (
	"net/http"
	"strings"
)

// consoles signs in, and makes, shows and ends what has secrets on a console.
func (w *watched) consoles() {
	w.t.Helper()
	ada := w.console().login("ada", adaPassword)
	hide := func(what, secret string) { w.hidden[what] = strings.ToLower(secret) }
	hide("password of an operator", adaPassword)
	hide("session", ada.cookie.Value)
	const wrong, misplaced = "a wrong password", "a password in the wrong field"
	hide("wrong password", wrong)
	hide("password as a name", misplaced)

	var made struct{ ID, Token string }
	ada.call("POST", "master-tokens", object{"name": "by the console"}).decode(w.t, http.StatusOK, &made)
	w.hide("master token made by the console", made.Token)
	ada.call("POST", "master-tokens/"+made.ID+"/rotate", object{}).decode(w.t, http.StatusOK, &made)
	w.hide("master token rotated by the console", made.Token)
	var token, live issued
	ada.call("POST", "tokens", tokenRequest(allowAll("paint.room"))).decode(w.t, http.StatusOK, &token)
	w.hide("access token issued by the console", token.Token)
	ada.call("POST", "live-token", object{"tenant": "paint.room", "pattern": "#", "publish": true}).decode(w.t, http.StatusOK, &live)
	w.hide("live token", live.Token)

	w.answers["the console: a wrong password"] = w.console().tryLogin("ada", wrong)
	w.answers["the console: a password as a name"] = w.console().tryLogin(misplaced, adaPassword)
	w.answers["the console: a login with a member more"] = w.console().call("POST", "session", object{"name": "ada", adaPassword: wrong})
	w.answers["the console: a wrong password to confirm"] = ada.call("POST", "session/confirm", object{"password": wrong})
	for _, path := range []string{"/console", "session", "master-tokens", "tokens"} {
		w.answers["the console: "+path] = ada.get(path)
	}
	w.answers["the console: explain"] = ada.call("POST", "explain", object{"token": token.Token, "action": "connect"})
	w.targets++
	w.answers["the console: a token as an id"] = ada.call("DELETE", "tokens/"+token.Token, object{})
	w.answers["the console: revoke"] = ada.call("DELETE", "tokens/"+token.TokenID, object{})
	w.answers["the console: sign out"] = ada.call("DELETE", "session", object{})
}
