package tokens

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/internal/loopback"
)

// An edge with everything that makes Caddy log a request: debug records, access logs,
// errors and their handling, a proxy, a rewrite, the redirecting server, a site without
// our handlers.
const (
	talkativeOptions = `
	debug
	admin localhost:{{.Admin}}
	skip_install_trust
	http_port REDIRECT
	https_port {{.HTTPS}}
	default_bind 127.0.0.1
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
`
	talkativeMasters = `
		master_token {file.{{.Dir}}/from.file} {
			name file
			tenant_prefix paint.
		}
		master_token HASHED {
			name hash
			tenant_prefix paint.
		}
`
	talkativeSites = `
(all) {
	log
	encode
	pubsub
` + harness.ConsoleOperators + `
	rewrite /old/* /new{uri}
	error /boom "it broke" 503
	reverse_proxy /dead 127.0.0.1:1
	reverse_proxy UPSTREAM
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
https://other.localhost:{{.HTTPS}} {
	tls internal
	log
	respond "no pubsub here"
}
`
)

// watched is an edge whose every output is searched for secrets.
type watched struct {
	*harness.Edge
	redirect int // port of Caddy's own redirects to HTTPS
	upstream *upstream

	hidden  map[string]string         // what the secret is → the secret
	answers map[string]harness.Answer // what was asked → the answer
	marks   map[string]int            // "?n=…" of a request → the status of its answer
	targets int                       // requests with a token in their target
}

func startWatched(t *testing.T) *watched {
	t.Helper()
	dir := t.TempDir()
	byFile, byHash := harness.NewMasterToken(), harness.NewMasterToken()
	if err := os.WriteFile(filepath.Join(dir, "from.file"), []byte(byFile+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := &watched{
		redirect: loopback.FreePort(t), upstream: startUpstream(t),
		hidden: map[string]string{}, answers: map[string]harness.Answer{}, marks: map[string]int{},
	}
	caddyfile := "{" + talkativeOptions + "\tpubsub {" + harness.PubsubStore + "\t\tregion US\n" + harness.DefaultMaster + talkativeMasters + harness.FastBandwidth + "\t}\n}\n" + talkativeSites
	caddyfile = strings.NewReplacer("REDIRECT", strconv.Itoa(w.redirect), "HASHED", hashForm(byHash), "UPSTREAM", w.upstream.address).Replace(caddyfile)
	w.Edge = harness.StartEdge(t, caddyfile, harness.InDir(dir))
	for name, token := range map[string]string{"environment": w.Master, "file": byFile, "hash": byHash} {
		w.hide("master token by "+name, token)
		w.List(token, "") // it works
	}
	return w
}

// hide records a token whose secret must not be found, and returns it.
func (w *watched) hide(what, token string) string {
	w.T.Helper()
	parts := strings.Split(token, "_")
	if len(parts) != 3 || len(parts[2]) != 32 {
		w.T.Fatalf("%s: %q is no token", what, token)
	}
	w.hidden[what] = parts[2]
	return token
}

// mark returns a query that identifies a request in the log.
func (w *watched) mark() string { return fmt.Sprintf("n=%d.", len(w.marks)) }

// No token is found in anything that an edge writes, stores or answers.
func TestNoSecretLeaves(t *testing.T) {
	t.Parallel()
	w := startWatched(t)
	w.handshakes()
	w.administration()
	w.consoles()
	w.webTransports()
	w.requests()
	w.tokensInTargets()
	w.malformedRequests()
	w.replaceMasters()

	places := w.places()
	w.Stop()
	maps.Copy(places, w.files())
	places["stdout and stderr"] = w.Output()
	w.checkLogged(places)
	w.upstream.Check(w)
	for _, place := range slices.Sorted(maps.Keys(places)) {
		text := harness.Layers(places[place])
		for what, secret := range w.hidden {
			if found := harness.FindIn(text, secret); found != "" {
				t.Errorf("%s holds the secret of the %s: %s", place, what, found)
			}
		}
	}
}

// record holds the fields of a log line that the tests read.
type record struct {
	Logger, Msg, Method, Host, URI, Proto string
	Status                                int
	Request                               struct{ URI, Proto string }
}

var marked = regexp.MustCompile(`n=\d+\.`)

// checkLogged requires that each request which reached Caddy is in the log once, with its
// status: otherwise there was nothing to search.
func (w *watched) checkLogged(places map[string]string) {
	w.T.Helper()
	logged, protocols, targets := map[string][]int{}, map[string]int{}, 0
	for line := range strings.Lines(places["/everything.log"]) {
		var r record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			w.T.Fatalf("the log has the line %q: %v", line, err)
		}
		if r.Msg == "handled request with a token" && strings.Contains(r.Method+r.Host+r.URI+r.Proto, "[redacted]") {
			targets++
		}
		if !strings.HasPrefix(r.Msg, "handled request") && r.Msg != "NOP" { // Caddy's word where no site has the host
			continue
		}
		protocols[r.Request.Proto]++
		if mark := marked.FindString(r.URI + r.Request.URI); mark != "" {
			logged[mark] = append(logged[mark], r.Status)
		}
	}
	for mark, status := range w.marks {
		if got := logged[mark]; !slices.Equal(got, []int{status}) {
			w.T.Errorf("the request with %s was answered %d; the access log has the statuses %v of it", mark, status, got)
		}
	}
	if targets != w.targets {
		w.T.Errorf("the log has %d records of tokens in the target, want %d", targets, w.targets)
	}
	for _, proto := range []string{"HTTP/1.1", "HTTP/2.0", "HTTP/3.0"} {
		if protocols[proto] == 0 {
			w.T.Errorf("the access log has nothing over %s", proto)
		}
	}
	seen := slices.Compact(slices.Sorted(maps.Values(w.marks)))
	for _, status := range []int{200, 308, 400, 401, 403, 404, 405, 426, 502, 503} {
		if !slices.Contains(seen, status) {
			w.T.Errorf("no request was answered %d", status)
		}
	}
}

// upstream is the server to which the edge's sites proxy.
type upstream struct {
	address string
	mu      sync.Mutex
	headers []http.Header
}

func startUpstream(t *testing.T) *upstream {
	u := new(upstream)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u.mu.Lock()
		u.headers = append(u.headers, r.Header.Clone())
		u.mu.Unlock()
		fmt.Fprint(w, "upstream")
	}))
	t.Cleanup(server.Close)
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	u.address = at.Host
	return u
}

// Check requires that the upstream received requests, and no token as a subprotocol.
func (u *upstream) Check(w *watched) {
	w.T.Helper()
	u.mu.Lock()
	defer u.mu.Unlock()
	kept := 0
	for _, header := range u.headers {
		for _, name := range []string{"Sec-Websocket-Protocol", "Wt-Available-Protocols"} {
			text := strings.Join(header[name], ",")
			if strings.Contains(text, "llps.v1") {
				kept++
			}
			for what, secret := range w.hidden {
				if strings.Contains(text, "at.") || harness.FindSecret(text, secret) != "" {
					w.T.Errorf("the upstream got %s: %s, for a request with the %s", name, text, what)
				}
			}
		}
	}
	if kept == 0 {
		w.T.Errorf("none of the upstream's %d requests offered llps.v1", len(u.headers))
	}
}
