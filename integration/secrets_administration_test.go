package integration

import (
	"bytes"
	"os"
	"strings"
)

// administration creates, shows and revokes tokens by both APIs.
func (w *watched) administration() {
	w.t.Helper()
	var made struct{ ID, Token string }
	w.ask("POST", "/pubsub/master-tokens", object{"name": "made", "tenant_prefix": "paint."}).decode(w.t, 200, &made)
	w.hide("master token made by the admin API", made.Token)
	w.ask("POST", "/pubsub/master-tokens/"+made.ID+"/rotate", object{}).decode(w.t, 200, &made)
	w.hide("rotated master token", made.Token)
	var token issued
	w.ask("POST", "/pubsub/tokens", tokenRequest(allowAll("paint.room"))).decode(w.t, 200, &token)
	w.hide("access token issued by the admin API", token.Token)

	byMaster := w.issueAs(made.Token, tokenRequest(allowAll("room")))
	w.hide("access token of the rotated master token", byMaster.Token)
	for what, a := range map[string]answer{
		"explain":              w.ask("POST", "/pubsub/explain", object{"token": token.Token, "action": "connect"}),
		"explain of a master":  w.ask("POST", "/pubsub/explain", object{"token": made.Token, "action": "connect"}),
		"explain as no JSON":   w.ask("POST", "/pubsub/explain", `{"token":"`+token.Token+`",,}`),
		"a token as its id":    w.ask("POST", "/pubsub/explain", object{"token_id": token.Token, "action": "connect"}),
		"a token as a field":   w.ask("POST", "/pubsub/tokens", object{token.Token: made.Token}),
		"a token as the name":  w.ask("POST", "/pubsub/master-tokens", object{"name": strings.Repeat(made.Token, 8)}),
		"a token as a prefix":  w.ask("POST", "/pubsub/master-tokens", object{"tenant_prefix": ":" + made.Token}),
		"a token as the admin": w.do(call{Method: "GET", URL: w.adminURL("/pubsub/tokens"), Token: made.Token}),
		"refresh":              w.refresh(made.Token, byMaster.TokenID, in(2*60e9)),
		"refresh of a token":   w.refresh(made.Token, byMaster.Token, in(2*60e9)),
		"refresh at a token":   w.refresh(made.Token, byMaster.TokenID, byMaster.Token),
		"revoke":               w.revoke(made.Token, byMaster.Token),
		"revoke a master":      w.revoke(made.Token, w.master),
		"revoke by no JSON":    w.rest("DELETE", "/v1/revoke-token", w.master, `{"token":"`+token.Token+`"`),
		"get-token as field":   w.rest("POST", "/v1/get-token", w.master, object{token.Token: 1}),
		"get-token as value":   w.rest("POST", "/v1/get-token", w.master, object{"created_by": []string{token.Token}}),
		"get-token as a rule":  w.rest("POST", "/v1/get-token", w.master, tokenRequest(grant("room", []string{token.Token + "#x"}, nil))),
		"list":                 w.rest("GET", "/v1/tokens", made.Token, nil),
	} {
		w.answers[what] = a
	}
}

// ask calls the admin API. Answers that must show a secret are not searched, all others
// are.
func (w *watched) ask(method, path string, body any) answer {
	w.t.Helper()
	return w.do(call{Method: method, URL: w.adminURL(path), Body: w.encode(body)})
}

// replaceMasters replaces all static master tokens by another one.
func (w *watched) replaceMasters() {
	w.t.Helper()
	text, err := os.ReadFile(w.file)
	if err != nil {
		w.t.Fatal(err)
	}
	begin, end := bytes.Index(text, []byte("master_token {env")), bytes.Index(text, []byte("bandwidth"))
	last := newMasterToken()
	w.reload(string(text[:begin]) + "master_token " + hashForm(w.hide("master token of a reload", last)) + "\n" + string(text[end:]))
	w.list(last, "")
	w.answers["a call with a removed master token"] = w.rest("GET", "/v1/tokens", w.master, nil)
	w.answers["a call with a removed master token"].problem(w.t, 401, "bad_master_token")
}
