package tokens

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/internal/capture"
)

// talkativeCaddyfile has everything that makes Caddy log a request: debug records, access
// logs, errors and their handling, a proxy, a rewrite, a site without our handlers.
const talkativeCaddyfile = "{\n\tdebug\n" + harness.GlobalOptions + `
	metrics {
		per_host
	}
	servers {
		trace
	}
	log everything {
		output file {{.Dir}}/everything.log
		level DEBUG
	}
	pubsub {` + harness.PubsubStore + harness.DefaultMaster + harness.FastBandwidth + `
		region US
		master_token {file.{{.Dir}}/from.file}
		master_token {$HASHED}
	}
}
(all) {
	log
	encode
	pubsub
` + harness.ConsoleOperators + `
	rewrite /old/* /new{uri}
	error /boom "it broke" 503
	reverse_proxy /dead 127.0.0.1:1
	reverse_proxy {$UPSTREAM}
	handle_errors {
		respond "sorry: {err.status_code}"
	}
}
http://localhost:{{.HTTP}} {
	import all
}
https://localhost:{{.HTTPS}} {
	tls internal
	import all
}
`

// watched is an edge whose every output is searched for secrets.
type watched struct {
	*harness.Edge
	hidden map[string]string // what the secret is → the secret
	places map[string]string // what was written → the text
	sent   map[string]int    // what tells requests apart in the log → the sum of the statuses there
}

// hide records a token whose secret must not be found, and returns it.
func (w *watched) hide(what, token string) string {
	w.hidden[what] = token[len(token)-32:]
	return token
}

func (w *watched) token(what string) string {
	return w.hide(what, w.Issue(harness.AllowAll("room")).Token)
}

// saw keeps an answer.
func (w *watched) saw(what string, a harness.Answer) harness.Answer {
	w.places["the answer to "+what] = fmt.Sprint(a.Header) + string(a.Body)
	return a
}

// mark returns a query that tells a request from all others.
func (w *watched) mark() string { return fmt.Sprintf("n=%d.", len(w.sent)) }

// inTarget is the log message of a request with a token in its target.
const inTarget = "handled request with a token"

// No token is found in anything that an edge writes, stores or answers.
func TestNoSecretLeaves(t *testing.T) {
	t.Parallel()
	var proxied capture.Output // what the upstream got but the Authorization, which it may have
	upstream := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(&proxied, r.Header["Sec-Websocket-Protocol"], r.Header["Wt-Available-Protocols"])
	}))
	defer upstream.Close()
	w := &watched{hidden: map[string]string{}, places: map[string]string{}, sent: map[string]int{}}
	dir, byFile, byHash := t.TempDir(), w.hide("master token by file", harness.NewMasterToken()), w.hide("master token by hash", harness.NewMasterToken())
	if err := os.WriteFile(filepath.Join(dir, "from.file"), []byte(byFile), 0o600); err != nil {
		t.Fatal(err)
	}
	literal := w.hide("literal master token", harness.NewMasterToken())
	hashed := fmt.Sprintf("HASHED=%ssha256:%x", byHash[:36], sha256.Sum256([]byte(byHash[36:])))
	w.Edge = harness.StartEdge(t, talkativeCaddyfile, harness.InDir(dir), harness.WithEnv(hashed), harness.WithEnv("LITERAL="+literal),
		harness.WithEnv("UPSTREAM="+upstream.Listener.Addr().String()))
	w.hide("master token", w.Master)
	w.List(byFile, "")
	w.List(byHash, "")

	w.sessions()
	w.administration()
	w.requests()
	for path, proof := range map[string]string{
		"/config/": "pubsub", "/metrics": "caddy_http_requests_total", "/debug/pprof/goroutine?debug=2": "goroutine",
		"/pubsub/master-tokens": "master_tokens", "/pubsub/tokens": "token_id", "/pubsub/connections": "connections",
	} {
		if got := w.saw(path, w.AdminCall("GET", path, nil)); !bytes.Contains(got.Body, []byte(proof)) {
			t.Errorf("admin %s: got %d without %q", path, got.Status, proof)
		}
	}
	w.literal(literal)
	w.Stop()
	w.Must(filepath.WalkDir(w.Dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || entry.Name() == "from.file" {
			return err
		}
		content, err := os.ReadFile(path)
		w.places[strings.TrimPrefix(path, w.Dir)] = string(content)
		return err
	}))
	w.places["stdout and stderr"], w.places["what the upstream got"] = w.Output(), proxied.String()
	if !strings.Contains(proxied.String(), "llps.v1") {
		t.Error("the upstream got no subprotocols to search")
	}
	if got := w.logged(); !maps.Equal(got, w.sent) {
		t.Errorf("the log has %v, want %v: there was nothing to search", got, w.sent)
	}
	for place, text := range w.places {
		layers := harness.Layers(text)
		for what, secret := range w.hidden {
			if found := harness.FindIn(layers, secret); found != "" {
				t.Errorf("%s holds the secret of the %s: %s", place, what, found)
			}
		}
	}
}

// logged is what the log has of the requests that were sent: each that reached Caddy once, with
// its status.
func (w *watched) logged() map[string]int {
	got, mark := map[string]int{}, regexp.MustCompile(`n=\d+\.`)
	for line := range strings.Lines(w.places["/everything.log"]) {
		var r struct {
			Msg    string
			Status int
		}
		w.Must(json.Unmarshal([]byte(line), &r))
		if r.Msg == inTarget && strings.Contains(line, "[redacted]") {
			got[inTarget]++
		} else if found := mark.FindString(line); found != "" && strings.HasPrefix(r.Msg, "handled request") {
			got[found] += r.Status
		}
	}
	return got
}

// refusedInside has a token refused within a WebSocket, as browsers see it.
func (w *watched) refusedInside(token, want string) {
	mark := w.mark()
	dialer := websocket.Dialer{NetDialContext: harness.DialLoopback, Subprotocols: []string{"llps.v1", "refusal.v1", "at." + token}}
	conn, res, err := dialer.Dial(fmt.Sprintf("ws://localhost:%d/ws?%s", w.HTTP, mark), nil)
	w.Must(err)
	defer conn.Close()
	_, message, err := conn.ReadMessage()
	w.Must(err)
	_, _, err = conn.ReadMessage()
	closed := new(websocket.CloseError)
	if !errors.As(err, &closed) {
		w.T.Fatalf("after %s: %v", message, err)
	}
	got := fmt.Sprintf("%d %s", closed.Code, message)
	if !strings.HasPrefix(got, want) || !strings.HasSuffix(got, res.Header.Get("Connection-Id")) || conn.Subprotocol() != "refusal.v1" {
		w.T.Errorf("got %s as %s, want %s", got, conn.Subprotocol(), want)
	}
	w.places["the refusal "+mark], w.sent[mark] = fmt.Sprint(res.Header, got), closed.Code-4000
}

// sessions opens sessions and has them refused, over both transports and with AUTH lines, and
// sends tokens where none belongs.
func (w *watched) sessions() {
	valid, revoked := w.token("access token"), w.token("revoked token")
	w.Revoke(w.Master, revoked).Decode(w.T, 200, new(harness.Object))
	wrong := w.hide("wrong secret", valid[:36]+harness.RandomHex())
	limited := w.hide("limited token", w.Limited(harness.Object{"allow_regions": []string{"EU"}}))
	for token, want := range map[string]string{
		revoked: "4401 ERR:unauthorized:the access token was revoked; connect with a new one:connection=",
		wrong:   "4401 ERR:unauthorized:a valid access token is needed: ", limited: "4403 ERR:region_not_allowed:the token does not allow this region:connection=",
	} {
		w.refusedInside(token, want)
	}
	for _, token := range []string{valid, revoked, wrong, limited} {
		for url, open := range map[string]func(harness.Handshake) (*harness.Socket, harness.Answer){
			fmt.Sprintf("ws://localhost:%d/ws?", w.HTTP): w.Open, w.HttpsURL("/wt?"): w.OpenWebTransport,
		} {
			for _, h := range []harness.Handshake{{Token: token}, {Protocols: []string{"llps.v1", "at." + token}}} {
				mark := w.mark()
				h.URL = url + mark
				s, a := open(h)
				if w.sent[mark] = w.saw("handshake "+mark, a).Status; (s != nil) != (token == valid) {
					w.T.Errorf("handshake: got status %d", a.Status)
				}
				if s != nil {
					w.talk(s, token)
				}
			}
		}
		s := w.MustOpenWebTransport(harness.Handshake{})
		s.SendLine("AUTH:" + token)
		_, line, err := s.Read()
		s.Must(err)
		if w.saw("AUTH as "+token[:36], harness.Answer{Body: line}); token == valid {
			w.talk(s, token)
		}
	}
}

// talk sends a token in lines and frames that are right and wrong.
func (w *watched) talk(s *harness.Socket, token string) {
	s.Subscribe("paint.room", token)
	s.Publish("paint.room", token, token)
	s.ExpectDeliver("paint.room", token, token, token)
	for _, line := range []string{"AUTH:" + token, token} {
		s.SendLine(line)
		s.ExpectText("ERR:bad_request")
	}
	s.SendFrame([]byte("\x07" + token))
	s.ExpectText("ERR:bad_frame")
	s.Close()
}

// administration makes, shows and ends tokens by the APIs and the console.
func (w *watched) administration() {
	ada, wrong := w.Console().Login("ada", harness.AdaPassword), "a password that is wrong"
	w.hidden["password"], w.hidden["wrong password"], w.hidden["session"] = harness.AdaPassword, wrong, strings.ToLower(ada.Cookie.Value)
	w.saw("a wrong password", w.Console().TryLogin("ada", wrong))
	w.saw("a password as a name", w.Console().TryLogin(wrong, harness.AdaPassword))
	w.saw("the console", ada.Get("session"))
	byAdmin := func(method, path string, body any) harness.Answer { return w.AdminCall(method, "/pubsub/"+path, body) }
	for by, call := range map[string]func(string, string, any) harness.Answer{"the console": ada.Call, "the admin API": byAdmin} {
		var made struct{ ID, Token string }
		var token harness.Issued
		call("POST", "master-tokens", harness.Object{"name": "made"}).Decode(w.T, 200, &made)
		w.hide("master token of "+by, made.Token)
		call("POST", "master-tokens/"+made.ID+"/rotate", harness.Object{}).Decode(w.T, 200, &made)
		w.hide("rotated master token of "+by, made.Token)
		call("POST", "tokens", harness.TokenRequest(harness.AllowAll("paint.room"))).Decode(w.T, 200, &token)
		w.hide("access token of "+by, token.Token)
		rule := harness.TokenRequest(harness.Grant("room", []string{token.Token + "#x"}, nil))
		for n, a := range []harness.Answer{
			call("POST", "explain", harness.Object{"token": token.Token, "action": "connect"}),
			call("POST", "explain", harness.Object{"token_id": token.Token, "action": "connect"}),
			call("POST", "tokens", harness.Object{token.Token: made.Token}),
			call("POST", "master-tokens", harness.Object{"name": strings.Repeat(made.Token, 8)}),
			call("GET", "tokens", nil), w.Rest("POST", "/v1/get-token", made.Token, rule),
			w.Rest("DELETE", "/v1/revoke-token", made.Token, `{"token":"`+token.Token+`"`), // no JSON
			w.Refresh(made.Token, token.Token, token.Token), w.Revoke(made.Token, token.Token),
		} {
			w.saw(fmt.Sprint(by, n), a)
		}
	}
}

// write writes a request byte by byte, without its end. It returns the status of the answer.
func (w *watched) write(what, request string) (status int) {
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", w.HTTP))
	w.Must(err)
	defer conn.Close()
	_, _ = io.WriteString(conn, request+"\r\n\r\n")      // the edge may refuse before it has read all
	if !strings.Contains(request, "Connection: close") { // else the edge closes, and a proxy would take it for given up
		_ = conn.(*net.TCPConn).CloseWrite()
	}
	w.Must(conn.SetDeadline(time.Now().Add(harness.WaitTimeout)))
	answer, _ := io.ReadAll(conn)
	w.saw(what, harness.Answer{Body: answer})
	_, _ = fmt.Sscanf(string(answer), "HTTP/1.1 %d", &status)
	return status
}

// requests sends tokens to right and wrong places, in URLs, and as no HTTP client does.
func (w *watched) requests() {
	token := w.token("travelling token")
	const local = " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
	for _, header := range []string{
		harness.Bearer(token), harness.Bearer(w.Master), harness.Offer("at."+token+" , llps.v1") + "\r\n" + harness.Offer("at."+token),
		harness.Offer("llps.v1, " + token), `WT-Available-Protocols: "llps.v1", "at.` + token + `"`,
	} {
		for _, call := range []string{
			"GET /ping", "GET /ws", "POST /ws", "GET /ws/", "GET /wt", "GET /nowhere", "GET /old/page", "GET /boom", "GET /dead", "GET /v1/tokens", "POST /v1/get-token",
		} {
			mark, body := w.mark(), ""
			if strings.HasPrefix(call, "POST") {
				body = fmt.Sprintf("\r\nContent-Length: %d\r\n\r\n%s", len(token), token)
			}
			w.sent[mark] = w.write(call+header, call+"?"+mark+local+header+body)
		}
	}
	for _, target := range []string{
		"/" + token, "/ws?token=at." + token, "/ws?a&b&" + token, "/ws?t=%41" + token[1:], "/ws?t=AT%255F" + token[3:], "/ws?t=" + w.Master, "/ws?t=" + strings.ToLower(token),
	} {
		if status := w.write(target, "GET "+target+strings.TrimSuffix(local, "\r\n")); status != 400 {
			w.T.Errorf("%s: %d, want 400", target, status)
		}
		w.sent[inTarget]++
	}
	held := harness.Offer("llps.v1, at."+token) + "\r\n" + harness.Bearer(token)
	for request, logged := range map[string]int{
		"GET /ws HTTP/1.1\r\n" + held:                               0, // no Host
		"GET /ws HTTP/3.7\r\nHost: localhost\r\n" + held:            0,
		"GET http://" + token + "@localhost/" + local + held:        1,
		"CONNECT " + token + ":443" + local + held:                  1,
		token + " /ws" + local + held:                               1,
		"GET /#" + token + local + held:                             1,
		"GET / HTTP/1.1\r\nHost: at." + token + "\r\n" + held:       1,
		"GET /ws" + local + harness.Offer("llps.v1,\r\n at."+token): 0, // folded
		"GET /favicon.ico" + local + "Referer: /?t=" + token:        0,
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + token:                  0,
	} {
		w.write(request, request)
		w.sent[inTarget] += logged
	}
}

// literal has a secret that stands in a configuration refused, by each way that one comes.
// TestAdapt has each way to write it.
func (w *watched) literal(token string) {
	wrote, err := w.TryReload(strings.Replace(talkativeCaddyfile, "{$HASHED}", "{$LITERAL}", 1))
	validated, invalid := w.Command("validate", "--config", w.File, "--adapter", "caddyfile").CombinedOutput()
	w.places["reload and validate"] = wrote + string(validated)
	pubsub := harness.Object{"master_tokens": []harness.Object{{"token": token}}}
	config := harness.Object{"admin": harness.Object{"listen": w.AdminAddress()}, "apps": harness.Object{"pubsub": pubsub}}
	loaded := w.saw("/load", w.AdminCall("POST", "/load", config))
	if err == nil || invalid == nil || loaded.Status == 200 {
		w.T.Error("a literal master token is accepted")
	}
}
