package tokens

import (
	"bytes"
	"os"
	"strings"

	"github.com/millrace/millrace/integration/harness"
)

// administration creates, shows and revokes tokens by both APIs.
func (w *watched) administration() {
	w.T.Helper()
	var made struct{ ID, Token string }
	w.Ask("POST", "/pubsub/master-tokens", harness.Object{"name": "made", "tenant_prefix": "paint."}).Decode(w.T, 200, &made)
	w.hide("master token made by the admin API", made.Token)
	w.Ask("POST", "/pubsub/master-tokens/"+made.ID+"/rotate", harness.Object{}).Decode(w.T, 200, &made)
	w.hide("rotated master token", made.Token)
	var token harness.Issued
	w.Ask("POST", "/pubsub/tokens", harness.TokenRequest(harness.AllowAll("paint.room"))).Decode(w.T, 200, &token)
	w.hide("access token issued by the admin API", token.Token)

	byMaster := w.IssueAs(made.Token, harness.TokenRequest(harness.AllowAll("room")))
	w.hide("access token of the rotated master token", byMaster.Token)
	for what, a := range map[string]harness.Answer{
		"explain":              w.Ask("POST", "/pubsub/explain", harness.Object{"token": token.Token, "action": "connect"}),
		"explain of a master":  w.Ask("POST", "/pubsub/explain", harness.Object{"token": made.Token, "action": "connect"}),
		"explain as no JSON":   w.Ask("POST", "/pubsub/explain", `{"token":"`+token.Token+`",,}`),
		"a token as its id":    w.Ask("POST", "/pubsub/explain", harness.Object{"token_id": token.Token, "action": "connect"}),
		"a token as a field":   w.Ask("POST", "/pubsub/tokens", harness.Object{token.Token: made.Token}),
		"a token as the name":  w.Ask("POST", "/pubsub/master-tokens", harness.Object{"name": strings.Repeat(made.Token, 8)}),
		"a token as a prefix":  w.Ask("POST", "/pubsub/master-tokens", harness.Object{"tenant_prefix": ":" + made.Token}),
		"a token as the admin": w.Do(harness.Call{Method: "GET", URL: w.AdminURL("/pubsub/tokens"), Token: made.Token}),
		"refresh":              w.Refresh(made.Token, byMaster.TokenID, harness.In(2*60e9)),
		"refresh of a token":   w.Refresh(made.Token, byMaster.Token, harness.In(2*60e9)),
		"refresh at a token":   w.Refresh(made.Token, byMaster.TokenID, byMaster.Token),
		"revoke":               w.Revoke(made.Token, byMaster.Token),
		"revoke a master":      w.Revoke(made.Token, w.Master),
		"revoke by no JSON":    w.Rest("DELETE", "/v1/revoke-token", w.Master, `{"token":"`+token.Token+`"`),
		"get-token as field":   w.Rest("POST", "/v1/get-token", w.Master, harness.Object{token.Token: 1}),
		"get-token as value":   w.Rest("POST", "/v1/get-token", w.Master, harness.Object{"created_by": []string{token.Token}}),
		"get-token as a rule":  w.Rest("POST", "/v1/get-token", w.Master, harness.TokenRequest(harness.Grant("room", []string{token.Token + "#x"}, nil))),
		"list":                 w.Rest("GET", "/v1/tokens", made.Token, nil),
	} {
		w.answers[what] = a
	}
}

// Ask calls the admin API. Answers that must show a secret are not searched, all others
// are.
func (w *watched) Ask(method, path string, body any) harness.Answer {
	w.T.Helper()
	return w.Do(harness.Call{Method: method, URL: w.AdminURL(path), Body: w.Encode(body)})
}

// replaceMasters replaces all static master tokens by another one.
func (w *watched) replaceMasters() {
	w.T.Helper()
	text, err := os.ReadFile(w.File)
	if err != nil {
		w.T.Fatal(err)
	}
	begin, end := bytes.Index(text, []byte("master_token {env")), bytes.Index(text, []byte("bandwidth"))
	last := harness.NewMasterToken()
	w.Reload(string(text[:begin]) + "master_token " + hashForm(w.hide("master token of a reload", last)) + "\n" + string(text[end:]))
	w.List(last, "")
	w.answers["a call with a removed master token"] = w.Rest("GET", "/v1/tokens", w.Master, nil)
	w.answers["a call with a removed master token"].Problem(w.T, 401, "bad_master_token")
}
