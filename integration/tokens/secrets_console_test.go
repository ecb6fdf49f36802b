package tokens

import (
	"net/http"
	"strings"

	"github.com/millrace/millrace/integration/harness"
)

// consoles signs in, and makes, shows and ends what has secrets on a console.
func (w *watched) consoles() {
	w.T.Helper()
	ada := w.Console().Login("ada", harness.AdaPassword)
	hide := func(what, secret string) { w.hidden[what] = strings.ToLower(secret) }
	hide("password of an operator", harness.AdaPassword)
	hide("session", ada.Cookie.Value)
	const wrong, misplaced = "a wrong password", "a password in the wrong field"
	hide("wrong password", wrong)
	hide("password as a name", misplaced)

	var made struct{ ID, Token string }
	ada.Call("POST", "master-tokens", harness.Object{"name": "by the console"}).Decode(w.T, http.StatusOK, &made)
	w.hide("master token made by the console", made.Token)
	ada.Call("POST", "master-tokens/"+made.ID+"/rotate", harness.Object{}).Decode(w.T, http.StatusOK, &made)
	w.hide("master token rotated by the console", made.Token)
	var token, live harness.Issued
	ada.Call("POST", "tokens", harness.TokenRequest(harness.AllowAll("paint.room"))).Decode(w.T, http.StatusOK, &token)
	w.hide("access token issued by the console", token.Token)
	ada.Call("POST", "live-token", harness.Object{"tenant": "paint.room", "pattern": "#", "publish": true}).Decode(w.T, http.StatusOK, &live)
	w.hide("live token", live.Token)

	w.answers["the console: a wrong password"] = w.Console().TryLogin("ada", wrong)
	w.answers["the console: a password as a name"] = w.Console().TryLogin(misplaced, harness.AdaPassword)
	w.answers["the console: a login with a member more"] = w.Console().Call("POST", "session", harness.Object{"name": "ada", harness.AdaPassword: wrong})
	w.answers["the console: a wrong password to confirm"] = ada.Call("POST", "session/confirm", harness.Object{"password": wrong})
	for _, path := range []string{"/console", "session", "master-tokens", "tokens"} {
		w.answers["the console: "+path] = ada.Get(path)
	}
	w.answers["the console: explain"] = ada.Call("POST", "explain", harness.Object{"token": token.Token, "action": "connect"})
	w.targets++
	w.answers["the console: a token as an id"] = ada.Call("DELETE", "tokens/"+token.Token, harness.Object{})
	w.answers["the console: revoke"] = ada.Call("DELETE", "tokens/"+token.TokenID, harness.Object{})
	w.answers["the console: sign out"] = ada.Call("DELETE", "session", harness.Object{})
}
