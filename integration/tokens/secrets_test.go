package tokens

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
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
	hidden  map[string]string // what the secret is → the secret
	places  map[string]string // what was written → the text
	marks   map[string]int    // "n=…" in the URL of a request → the status of its answer
	targets int               // requests with a token in the target
}

// hide records a token whose secret must not be found, and returns it.
func (w *watched) hide(what, token string) string {
	w.hidden[what] = token[len(token)-32:]
	return token
}

// saw keeps an answer.
func (w *watched) saw(what string, a harness.Answer) harness.Answer {
	w.places["the answer to "+what] = fmt.Sprint(a.Header) + string(a.Body)
	return a
}

// mark returns a query that identifies a request in the log.
func (w *watched) mark() string { return fmt.Sprintf("n=%d.", len(w.marks)) }

// No token is found in anything that an edge writes, stores or answers.
func TestNoSecretLeaves(t *testing.T) {
	t.Parallel()
	var proxied capture.Output // what the upstream got but the Authorization, which it may have
	upstream := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(&proxied, r.Header["Sec-Websocket-Protocol"], r.Header["Wt-Available-Protocols"])
	}))
	defer upstream.Close()
	w, dir := &watched{hidden: map[string]string{}, places: map[string]string{}, marks: map[string]int{}}, t.TempDir()
	byFile, byHash := w.hide("master token by file", harness.NewMasterToken()), w.hide("master token by hash", harness.NewMasterToken())
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
	w.malformed()

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
	err := filepath.WalkDir(w.Dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || entry.Name() == "from.file" {
			return err
		}
		content, err := os.ReadFile(path)
		w.places[strings.TrimPrefix(path, w.Dir)] = string(content)
		return err
	})
	w.Must(err)
	w.places["stdout and stderr"], w.places["what the upstream got"] = w.Output(), proxied.String()
	if !strings.Contains(proxied.String(), "llps.v1") {
		t.Error("the upstream got no subprotocols to search")
	}
	w.checkLogged()
	for place, text := range w.places {
		layers := harness.Layers(text)
		for what, secret := range w.hidden {
			if found := harness.FindIn(layers, secret); found != "" {
				t.Errorf("%s holds the secret of the %s: %s", place, what, found)
			}
		}
	}
}

// checkLogged requires that each request that reached Caddy is in the log once, with its
// status: otherwise there was nothing to search.
func (w *watched) checkLogged() {
	w.T.Helper()
	marked, logged, redacted := regexp.MustCompile(`n=\d+\.`), map[string]int{}, 0
	for line := range strings.Lines(w.places["/everything.log"]) {
		var r struct {
			Msg    string
			Status int
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			w.T.Fatalf("the log has the line %q: %v", line, err)
		}
		if r.Msg == "handled request with a token" && strings.Contains(line, "[redacted]") {
			redacted++
		}
		if mark := marked.FindString(line); mark != "" && strings.HasPrefix(r.Msg, "handled request") {
			logged[mark] += r.Status // a second record makes it another number
		}
	}
	if !maps.Equal(logged, w.marks) || redacted != w.targets {
		w.T.Errorf("the log has requests with the statuses %v, want %v, and %d with tokens in the target, want %d",
			logged, w.marks, redacted, w.targets)
	}
}

// sessions opens sessions and has them refused, over both transports and with AUTH lines, and
// sends tokens where none belongs.
func (w *watched) sessions() {
	valid, revoked := w.hide("access token", w.Issue(harness.AllowAll("room")).Token), w.hide("revoked token", w.Issue(harness.AllowAll("room")).Token)
	w.Revoke(w.Master, revoked).Decode(w.T, 200, new(harness.Object))
	talk := func(s *harness.Socket) {
		s.Subscribe("paint.room", valid)
		s.Publish("paint.room", valid, valid)
		s.ExpectDeliver("paint.room", valid, valid, valid)
		for _, line := range []string{"AUTH:" + valid, valid} {
			s.SendLine(line)
			s.ExpectText("ERR:bad_request")
		}
		s.SendFrame([]byte("\x07" + valid))
		s.ExpectText("ERR:bad_frame")
		s.Close()
	}
	limited, wrong := w.Limited(harness.Object{"allow_regions": []string{"EU"}}), valid[:36]+harness.RandomHex()
	for token, status := range map[string]int{
		valid: 200, revoked: 401, w.hide("wrong secret", wrong): 401, w.hide("limited token", limited): 403,
	} {
		for url, open := range map[string]func(harness.Handshake) (*harness.Socket, harness.Answer){
			fmt.Sprintf("ws://localhost:%d/ws?", w.HTTP): w.Open, w.HttpsURL("/wt?"): w.OpenWebTransport,
		} {
			for _, h := range []harness.Handshake{{Token: token}, {Protocols: []string{"llps.v1", "at." + token}}} {
				mark := w.mark()
				h.URL = url + mark
				s, a := open(h)
				w.saw("handshake "+mark, a)
				if w.marks[mark] = a.Status; (s != nil) != (status == 200) || s == nil && a.Status != status {
					w.T.Errorf("handshake: got status %d, want %d", a.Status, status)
				}
				if s != nil {
					talk(s)
				}
			}
		}
		s := w.MustOpenWebTransport(harness.Handshake{})
		s.SendLine("AUTH:" + token)
		_, line, err := s.Read()
		s.Must(err)
		w.saw("AUTH as "+fmt.Sprint(status, token[:36]), harness.Answer{Body: line})
		if status == 200 {
			s.SubscribeOwn("paint.room", "own."+token)
			talk(s)
		}
	}
}

// administration makes, shows and ends tokens by the APIs and the console.
func (w *watched) administration() {
	t := w.T
	ada := w.Console().Login("ada", harness.AdaPassword)
	const wrong = "a password that is wrong"
	w.hidden["password"], w.hidden["wrong password"], w.hidden["session"] = harness.AdaPassword, wrong, strings.ToLower(ada.Cookie.Value)
	w.saw("a wrong password", w.Console().TryLogin("ada", wrong))
	w.saw("a password as a name", w.Console().TryLogin(wrong, harness.AdaPassword))
	w.saw("the console", ada.Get("session"))
	byAdmin := func(method, path string, body any) harness.Answer { return w.AdminCall(method, "/pubsub/"+path, body) }
	for by, call := range map[string]func(string, string, any) harness.Answer{"the console": ada.Call, "the admin API": byAdmin} {
		var made struct{ ID, Token string }
		var token harness.Issued
		call("POST", "master-tokens", harness.Object{"name": "made"}).Decode(t, 200, &made)
		w.hide("master token of "+by, made.Token)
		call("POST", "master-tokens/"+made.ID+"/rotate", harness.Object{}).Decode(t, 200, &made)
		w.hide("rotated master token of "+by, made.Token)
		call("POST", "tokens", harness.TokenRequest(harness.AllowAll("paint.room"))).Decode(t, 200, &token)
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

// requests sends tokens to right and wrong places, and in URLs.
func (w *watched) requests() {
	token := w.hide("travelling token", w.Issue(harness.AllowAll("room")).Token)
	carriers := []http.Header{
		{"Authorization": {"Bearer " + token}}, {"Sec-Websocket-Protocol": {"at." + token + " , llps.v1", "at." + token}},
		{"Wt-Available-Protocols": {`"llps.v1", "at.` + token + `"`}}, {"Sec-Websocket-Protocol": {"llps.v1, " + token}}, {"Authorization": {"Bearer " + w.Master}},
	}
	for _, lane := range []struct {
		base   string
		client http.RoundTripper
	}{{w.HttpURL(""), &http.Transport{DialContext: harness.DialLoopback, DisableKeepAlives: true}}, {w.HttpsURL(""), w.Http2()}, {w.HttpsURL(""), w.Http3()}} {
		send := func(method, target, body string, header http.Header) int {
			req, err := http.NewRequestWithContext(w.T.Context(), method, lane.base+target, strings.NewReader(body))
			w.Must(err)
			req.Header = header
			res, err := lane.client.RoundTrip(req)
			w.Must(err)
			defer res.Body.Close()
			read, err := io.ReadAll(res.Body)
			w.Must(err)
			w.saw(method+lane.base+target+res.Proto, harness.Answer{Header: res.Header, Body: read})
			return res.StatusCode
		}
		for _, header := range carriers {
			for _, call := range [][2]string{
				{"GET", "/ping"}, {"GET", "/ws"}, {"POST", "/ws"}, {"GET", "/ws/"}, {"GET", "/wt"}, {"GET", "/nowhere"}, {"GET", "/old/page"},
				{"GET", "/boom"}, {"GET", "/dead"}, {"GET", "/v1/tokens"}, {"POST", "/v1/get-token"},
			} {
				mark, body := w.mark(), map[string]string{"POST": token}[call[0]]
				w.marks[mark] = send(call[0], call[1]+"?"+mark, body, header.Clone())
			}
		}
		for _, target := range []string{
			"/" + token, "/ws?token=at." + token, "/ws?a&b&" + token, "/ws?t=%41" + token[1:], "/ws?t=AT%255F" + token[3:], "/ws?t=" + w.Master, "/ws?t=" + strings.ToLower(token),
		} {
			if status := send("GET", target, "", http.Header{}); status != 400 {
				w.T.Errorf("%s: %d, want 400", target, status)
			}
			w.targets++
		}
	}
}

// malformed writes requests that no HTTP client sends.
func (w *watched) malformed() {
	token := w.hide("token of malformed requests", w.Issue(harness.AllowAll("room")).Token)
	const local = " HTTP/1.1\r\nHost: localhost\r\n"
	held := "Connection: close\r\nSec-WebSocket-Protocol: llps.v1, at." + token + "\r\nAuthorization: Bearer " + token + "\r\n\r\n"
	for request, target := range map[string]bool{
		"GET /ws HTTP/1.1\r\n" + held:                                                          false, // no Host
		"GET /ws HTTP/3.7\r\nHost: localhost\r\n" + held:                                       false,
		"GET http://" + token + "@localhost/ HTTP/1.1\r\nHost: a\r\n" + held:                   true,
		"CONNECT " + token + ":443" + local + held:                                             true,
		token + " /ws" + local + held:                                                          true,
		"GET /#" + token + local + held:                                                        true,
		"GET / HTTP/1.1\r\nHost: at." + token + "\r\n" + held:                                  true,
		"GET /ws" + local + "Sec-WebSocket-Protocol: llps.v1,\r\n at." + token + "\r\n" + held: false, // folded
		"GET /favicon.ico" + local + "Connection: close\r\nReferer: /?t=" + token + "\r\n\r\n": false,
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + token:                                             false,
	} {
		conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", w.HTTP))
		w.Must(err)
		_, _ = conn.Write([]byte(request)) // the edge may refuse before it has read all
		_ = conn.(*net.TCPConn).CloseWrite()
		answer, _ := io.ReadAll(conn)
		conn.Close()
		w.saw(strings.ReplaceAll(request, token, "…"), harness.Answer{Body: answer})
		if target {
			w.targets++
		}
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
	w.Rest("GET", "/v1/tokens", token, nil).Problem(w.T, 401, "bad_master_token")
}
