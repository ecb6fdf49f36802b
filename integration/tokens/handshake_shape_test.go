package tokens

import (
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

// handshakeCaddyfile is an edge in region EU behind a TCP proxy, which names the clients'
// addresses, and a trusted HTTP proxy at 192.0.2.1.
var handshakeCaddyfile = "{" + harness.GlobalOptions + behindProxies + "\tpubsub {\n\t\tregion EU" +
	harness.PubsubStore + harness.DefaultMaster + harness.FastBandwidth + "\t}\n}\n" + harness.Sites

const behindProxies = `
	servers {
		listener_wrappers {
			proxy_protocol {
				allow 127.0.0.0/8
			}
			tls
		}
		trusted_proxies static 192.0.2.1/32
		trusted_proxies_strict
	}
`

// refusal is a row of a table of refused handshakes.
type refusal struct {
	name    string
	upgrade harness.Upgrade
	status  int
	code    string
}

func checkRefusals(t *testing.T, e *harness.Edge, rows []refusal) {
	t.Helper()
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			e := e.With(t)
			got := e.Upgrade(row.upgrade)
			got.Problem(t, row.status, row.code)
			harness.CheckNoStore(t, got)
			for _, name := range []string{"Sec-WebSocket-Accept", "Sec-WebSocket-Protocol"} {
				if value := got.Header.Get(name); value != "" {
					t.Errorf("the refusal has %s: %s", name, value)
				}
			}
			switch row.status {
			case http.StatusMethodNotAllowed:
				harness.CheckAllow(t, got, "GET")
			case http.StatusUpgradeRequired:
				if got.Header.Get("Upgrade") != "websocket" && got.Header.Get("Sec-WebSocket-Version") != "13" {
					t.Errorf("the refusal does not say what to upgrade to: %v", got.Header)
				}
			case http.StatusServiceUnavailable, http.StatusTooManyRequests:
				if after, err := strconv.Atoi(got.Header.Get("Retry-After")); err != nil || after < 1 {
					t.Errorf("got Retry-After %q, want seconds", got.Header.Get("Retry-After"))
				}
			}
		})
	}
}

func TestHandshakeShape(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, handshakeCaddyfile)
	token := e.Issue(harness.AllowAll("room")).Token
	good := harness.Bearer(token)
	var rows []refusal
	for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS", "PATCH"} {
		rows = append(rows, refusal{method, harness.Upgrade{Method: method, Header: []string{good}}, 405, "method_not_allowed"})
	}
	rows = append(rows, []refusal{
		{"CONNECT", harness.Upgrade{Method: "CONNECT", Header: []string{good}}, 501, "not_implemented"},
		{"early data of a proxy", harness.Upgrade{Header: []string{"Early-Data: 1", good}}, 425, "too_early"},
		{"early data, malformed", harness.Upgrade{Header: []string{"Early-Data: 0", "Early-Data: 0", good}}, 425, "too_early"},
		{"no Upgrade", harness.Upgrade{Without: "Upgrade", Header: []string{good}}, 426, "upgrade_required"},
		{"no Connection", harness.Upgrade{Without: "Connection", Header: []string{good}}, 426, "upgrade_required"},
		{"another Upgrade", harness.Upgrade{Header: []string{"Upgrade: h2c", good}}, 426, "upgrade_required"},
		{"no version", harness.Upgrade{Without: "Sec-WebSocket-Version", Header: []string{good}}, 426, "upgrade_required"},
		{"version 8", harness.Upgrade{Header: []string{"Sec-WebSocket-Version: 8", good}}, 426, "upgrade_required"},
		{"no key", harness.Upgrade{Without: "Sec-WebSocket-Key", Header: []string{good}}, 400, "bad_handshake"},
		{"short key", harness.Upgrade{Header: []string{"Sec-WebSocket-Key: AAECAwQ=", good}}, 400, "bad_handshake"},
		{"key not in base64", harness.Upgrade{Header: []string{"Sec-WebSocket-Key: ________________________", good}}, 400, "bad_handshake"},
		{"two keys", harness.Upgrade{Header: []string{
			"Sec-WebSocket-Key: AAECAwQFBgcICQoLDA0ODw==", "Sec-WebSocket-Key: AAECAwQFBgcICQoLDA0ODw==", good,
		}}, 400, "bad_handshake"},
		{"a body", harness.Upgrade{Header: []string{good, "Content-Length: 5"}, Body: "hello"}, 400, "bad_handshake"},
		{"a chunked body", harness.Upgrade{Header: []string{good, "Transfer-Encoding: chunked"}, Body: "0\r\n\r\n"}, 400, "bad_handshake"},
		{"at. alone", harness.Upgrade{Header: []string{harness.Offer("at." + token)}}, 400, "bad_handshake"},
		{"at. beside another protocol", harness.Upgrade{Header: []string{harness.Offer("chat, at." + token)}}, 400, "bad_handshake"},
		{"at. beside LLPS.V1", harness.Upgrade{Header: []string{harness.Offer("LLPS.V1, at." + token)}}, 400, "bad_handshake"},
		{"at. alone beside a good header", harness.Upgrade{Header: []string{good, harness.Offer("at." + token)}}, 400, "bad_handshake"},
		{"the same at. twice", harness.Upgrade{Header: []string{harness.Offer("llps.v1, at." + token + ", at." + token)}}, 400, "bad_handshake"},
		{"two at. in two headers", harness.Upgrade{Header: []string{harness.Offer("llps.v1, at." + token), harness.Offer("at.x")}}, 400, "bad_handshake"},
		{"two at. beside a good header", harness.Upgrade{Header: []string{good, harness.Offer("llps.v1, at.x, at.y")}}, 400, "bad_handshake"},
		{"two Authorization", harness.Upgrade{Header: []string{good, good}}, 400, "bad_handshake"},
		{"two Authorization of different schemes", harness.Upgrade{Header: []string{"Authorization: Basic eDp5", good}}, 400, "bad_handshake"},
		{"two Authorization beside a good at.", harness.Upgrade{Header: []string{good, good, harness.Offer("llps.v1, at." + token)}}, 400, "bad_handshake"},
		{"another case", harness.Upgrade{Path: "/WS", Header: []string{good}}, 404, "not_found"},
		{"a trailing slash", harness.Upgrade{Path: "/ws/", Header: []string{good}}, 404, "not_found"},
		{"the token in the URL", harness.Upgrade{Path: "/ws?token=" + token, Header: []string{good}}, 400, "token_in_url"},
		{"shape before token", harness.Upgrade{Method: "POST"}, 405, "method_not_allowed"},
	}...)
	checkRefusals(t, e, rows)

	t.Run("HEAD", func(t *testing.T) {
		got := e.With(t).Upgrade(harness.Upgrade{Method: "HEAD", Header: []string{good}})
		if got.Status != 405 || len(got.Body) != 0 {
			t.Errorf("got status %d and body %q, want 405 without one", got.Status, got.Body)
		}
		harness.CheckAllow(t, got, "GET")
	})
	t.Run("another path", func(t *testing.T) { // is not ours: the site's own 404
		got := e.With(t).Upgrade(harness.Upgrade{Path: "/wsx", Header: []string{good}})
		if got.Status != 404 || string(got.Body) != "no such page" {
			t.Errorf("got %d %q, want the site's own answer", got.Status, got.Body)
		}
	})
	t.Run("HTTP/2", func(t *testing.T) {
		config, err := e.With(t).TlsConfig()
		if err != nil {
			t.Fatal(err)
		}
		transport := &http.Transport{DialContext: harness.DialLoopback, TLSClientConfig: config, ForceAttemptHTTP2: true}
		defer transport.CloseIdleConnections()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, e.HttpsURL("/ws"), nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		res, err := transport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if res.ProtoMajor != 2 || res.StatusCode != http.StatusUpgradeRequired {
			t.Errorf("got %s %s, want 426 over HTTP/2", res.Proto, res.Status)
		}
		for _, name := range []string{"Connection", "Upgrade"} { // forbidden by RFC 9113, section 8.2.2
			if value := res.Header.Get(name); value != "" {
				t.Errorf("got %s: %s over HTTP/2, want none", name, value)
			}
		}
	})
}

func TestHandshakeAccepted(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, handshakeCaddyfile)
	token := e.Issue(harness.AllowAll("room")).Token
	wrong := token[:len(token)-32] + strings.Repeat("0", 32)
	at := "at." + token
	for _, row := range []struct {
		name   string
		header []string
		echo   string // Sec-WebSocket-Protocol of the answer
	}{
		{"header", []string{harness.Bearer(token)}, ""},
		{"header in lower case", []string{"authorization: bearer " + token}, ""},
		{"header with llps.v1", []string{harness.Bearer(token), harness.Offer("llps.v1")}, "llps.v1"},
		{"header with another protocol", []string{harness.Bearer(token), harness.Offer("chat")}, ""},
		{"header with several protocols", []string{harness.Bearer(token), harness.Offer("chat, llps.v1, mqtt")}, "llps.v1"},
		{"subprotocol", []string{harness.Offer("llps.v1,at." + token)}, "llps.v1"},
		{"subprotocol, token first", []string{harness.Offer(at + ",llps.v1")}, "llps.v1"},
		{"subprotocol with spaces", []string{harness.Offer("  " + at + " \t,   llps.v1  ")}, "llps.v1"},
		{"subprotocol with others between", []string{harness.Offer("chat, " + at + ", mqtt, llps.v1")}, "llps.v1"},
		{"subprotocol in two headers", []string{harness.Offer(at), harness.Offer("llps.v1")}, "llps.v1"},
		{"another scheme is ignored", []string{"Authorization: Basic eDp5", harness.Offer("llps.v1, " + at)}, "llps.v1"},
		{"header wins", []string{harness.Bearer(token), harness.Offer("llps.v1, at." + wrong)}, "llps.v1"},
		{"any Origin without a list", []string{harness.Bearer(token), "Origin: https://anywhere.example"}, ""},
		{"two Origins without a list", []string{harness.Bearer(token), "Origin: https://a.example", "Origin: https://b.example"}, ""},
		{"compression offered", []string{harness.Bearer(token), "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits"}, ""},
		{"Connection with several tokens", []string{harness.Bearer(token), "Connection: keep-alive, Upgrade"}, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := e.With(t).Upgrade(harness.Upgrade{Header: row.header})
			if got.Status != http.StatusSwitchingProtocols {
				t.Fatalf("got %d %s, want 101", got.Status, got.Body)
			}
			// RFC 6455, section 1.3, for the key that upgrade sends.
			if accept := got.Header.Get("Sec-WebSocket-Accept"); accept != keyAnswer {
				t.Errorf("got Sec-WebSocket-Accept %q, want %q", accept, keyAnswer)
			}
			if echo := strings.Join(got.Header.Values("Sec-WebSocket-Protocol"), ","); echo != row.echo {
				t.Errorf("got Sec-WebSocket-Protocol %q, want %q", echo, row.echo)
			}
			if got := got.Header.Values("Sec-WebSocket-Extensions"); len(got) != 0 {
				t.Errorf("the edge agreed to extensions %q, want none", got)
			}
			if all := fmt.Sprint(got.Header); strings.Contains(all, token[:len(token)-33]) {
				t.Errorf("the answer repeats the token: %s", all)
			}
		})
	}
}

// Whatever is wrong with a token, the answer is the same, byte for byte.
func TestHandshakeUnauthorized(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, handshakeCaddyfile)
	valid, revoked, expired := e.Issue(harness.AllowAll("room")).Token, e.Issue(harness.AllowAll("room")).Token, e.IssueExpired().Token
	e.Revoke(e.Master, revoked).Decode(t, http.StatusOK, new(harness.Object))
	id, secret, zeros := valid[3:35], valid[36:], strings.Repeat("0", 32)

	type row struct {
		name   string
		header []string
	}
	rows := []row{
		{"none", nil},
		{"none, llps.v1 offered", []string{harness.Offer("llps.v1")}},
		{"another scheme", []string{"Authorization: Basic " + valid}},
		{"no token in the header", []string{"Authorization: Bearer"}},
		{"header wins", []string{harness.Bearer("AT_" + id + "_" + zeros), harness.Offer("llps.v1, at." + valid)}},
	}
	for name, token := range map[string]string{
		"malformed":           "AT_x",
		"empty":               "",
		"without prefix":      valid[3:],
		"upper case":          "AT_" + strings.ToUpper(id) + "_" + secret,
		"too long":            valid + "0",
		"only the id":         "AT_" + id,
		"a master token":      e.Master,
		"unknown":             "AT_" + zeros + "_" + secret,
		"wrong secret":        "AT_" + id + "_" + zeros,
		"expired":             expired,
		"revoked":             revoked,
		"with something else": valid + " x",
	} {
		rows = append(rows, row{name, []string{harness.Bearer(token)}})
		if !strings.Contains(token, " ") {
			rows = append(rows, row{name + ", in the subprotocols", []string{harness.Offer("llps.v1, at." + token)}})
		}
	}

	var first *harness.Answer
	for i, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			// Another address each time, or failures would soon give 429.
			got := e.With(t).Upgrade(harness.Upgrade{Header: row.header, Peer: fmt.Sprintf("203.0.113.%d", i)})
			got.Problem(t, http.StatusUnauthorized, "unauthorized")
			if challenge := got.Header.Get("WWW-Authenticate"); challenge != "Bearer" {
				t.Errorf("got WWW-Authenticate %q, want Bearer", challenge)
			}
			harness.CheckNoStore(t, got)
			got.Header.Del("Date")
			if first == nil {
				first = &got
			}
			if string(got.Body) != string(first.Body) || !maps.EqualFunc(got.Header, first.Header, equalValues) {
				t.Errorf("got\n%v\n%s\nbut for another reason\n%v\n%s", got.Header, got.Body, first.Header, first.Body)
			}
		})
	}
}

func equalValues(a, b []string) bool { return strings.Join(a, "\n") == strings.Join(b, "\n") }

// keyAnswer is base64(SHA-1(key + GUID)) for the key that upgrade sends.
const keyAnswer = "Bz3qJYTGdOe8gUSpLosEdiLKDrk="

// Unusual handshakes that are almost valid.
func TestHandshakeOddities(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	token := e.Issue(harness.AllowAll("room")).Token
	for _, c := range []struct {
		name   string
		u      harness.Upgrade
		status int
		code   string
	}{
		{"a path with an escape", harness.Upgrade{Path: "/%77s", Header: []string{harness.Bearer(token)}}, http.StatusNotFound, ""},
		{"a body that is announced and never comes", harness.Upgrade{Header: []string{harness.Bearer(token), "Content-Length: 3"}}, http.StatusBadRequest, "bad_handshake"},
		{"the token in WebTransport's header", harness.Upgrade{Header: []string{harness.Offer("llps.v1"), `WT-Available-Protocols: "llps.v1", "at.` + token + `"`}}, http.StatusUnauthorized, "unauthorized"},
		{"the token in both headers", harness.Upgrade{Header: []string{harness.Offer("llps.v1, at." + token), `WT-Available-Protocols: "at.` + token + `"`}}, http.StatusSwitchingProtocols, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := e.With(t).Upgrade(c.u)
			if c.code != "" {
				a.Problem(t, c.status, c.code)
			} else if a.Status != c.status {
				t.Errorf("got status %d, want %d: %s", a.Status, c.status, a.Body)
			}
		})
	}
}

// An edge warns if it trusts proxies that pass on any X-Forwarded-For.
func TestForgeableAddressWarning(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, servers string
		want          bool
	}{
		{"not strict", "trusted_proxies static 10.0.0.0/8", true},
		{"strict", "trusted_proxies static 10.0.0.0/8\n\t\ttrusted_proxies_strict", false},
		{"none", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := harness.StartEdge(t, "{\n\tservers {\n\t\t"+c.servers+"\n\t}\n"+strings.TrimPrefix(harness.DefaultCaddyfile, "{"))
			if got := strings.Contains(e.Output(), "a client can forge the address"); got != c.want {
				t.Errorf("warned: %v, want %v", got, c.want)
			}
		})
	}
}
