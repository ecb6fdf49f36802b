package cluster

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/history"
	"github.com/millrace/millrace/internal/loopback"
	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/internal/testcheck"
	"github.com/millrace/millrace/wire"
)

// guide runs the configurations of docs/clustering.md, and the files of deploy/nats that it links to,
// as they stand there, with a port on loopback for each of their addresses.
type guide struct {
	*harness.Overlay
	text  string
	ports map[string]int // by address
	env   []string       // of edges and NATS servers
}

const guidePassword = "c0rrect-horse"

var (
	guideSecret  = regexp.MustCompile(`\{env\.(\w+)\}|\$([A-Z]+_\w+)`)
	guideAddress = regexp.MustCompile(`10(\.\d+){3}:\d+`)
	guideSite    = regexp.MustCompile(`(?m)^[a-z0-9-]+\.example\.com \{$`)
)

func readGuide(t *testing.T) *guide {
	t.Helper()
	text, err := os.ReadFile("../docs/clustering.md")
	testcheck.Must(t, err)
	g := &guide{Overlay: &harness.Overlay{T: t}, text: string(text), ports: map[string]int{}}
	for _, link := range regexp.MustCompile(`\]\(\.\./deploy/nats/(\S+)\)`).FindAllStringSubmatch(g.text, -1) {
		file, err := os.ReadFile("../deploy/nats/" + link[1])
		testcheck.Must(t, err)
		g.text += "```\n# " + link[1] + "\n" + string(file) + "```\n"
	}
	for _, name := range guideSecret.FindAllStringSubmatch(g.text, -1) {
		g.env = append(g.env, name[1]+name[2]+"="+guidePassword)
	}
	return g
}

// local replaces the addresses in a text.
func (g *guide) local(text string) string {
	g.T.Helper()
	return guideAddress.ReplaceAllStringFunc(text, func(address string) string {
		if g.ports[address] == 0 {
			g.ports[address] = loopback.FreePort(g.T)
		}
		return fmt.Sprintf("127.0.0.1:%d", g.ports[address])
	})
}

// block returns a block by the name in its first line, with some of its texts replaced.
func (g *guide) block(name string, pairs ...string) string {
	g.T.Helper()
	_, block, _ := strings.Cut(g.text, "```\n# "+name+"\n")
	block, _, found := strings.Cut(block, "```\n")
	if !found {
		g.T.Fatalf("docs/clustering.md and the files that it links to have no block %q", name)
	}
	return g.local(harness.Replaced(g.T, block, pairs...))
}

// startNode starts a NATS server with a block, at an address of the guide.
func (g *guide) startNode(address, login, block string) *natstest.Node {
	g.T.Helper()
	n := natstest.NewNode(g.T, harness.NatsServer(g.T))
	n.Client, n.Login, n.Env = g.ports[address], login+":"+guidePassword, g.env
	n.Start(g.T, strings.Replace(block, "/var/lib/nats", strconv.Quote(g.T.TempDir()), 1))
	g.Nodes = append(g.Nodes, n)
	return n
}

// startEdge adds an edge with a block.
func (g *guide) startEdge(block string, options ...harness.Option) {
	g.T.Helper()
	if len(g.Edges) > 0 {
		options = append(options, harness.WithMaster(g.Edges[0]))
	}
	for _, variable := range g.env {
		options = append(options, harness.WithEnv(variable))
	}
	block = guideSite.ReplaceAllString(block, "http://localhost:{{.HTTP}} {")
	g.Edges = append(g.Edges, harness.StartEdge(g.T, harness.Replaced(g.T, block,
		"{\n\tpubsub {\n", "{"+harness.GlobalOptions+"\tpubsub {\n\t\tdrain 7s\n"+harness.DefaultMaster+harness.FastBandwidth), options...))
}

// clean requires that NATS denies no edge anything, and that no log and no saved configuration of
// an edge has a secret.
func (g *guide) clean() {
	g.T.Helper()
	text := ""
	for _, e := range g.Edges {
		config := e.AdminCall("GET", "/config/", nil)
		config.Decode(g.T, http.StatusOK, new(harness.Object))
		text += e.Output() + string(config.Body)
	}
	for _, n := range g.Nodes {
		text += n.Output()
	}
	if strings.Contains(text, guidePassword) || strings.Contains(strings.ToLower(text), "permissions violation") {
		g.T.Errorf("this has a password, or a refusal:\n%s", text)
	}
}

// awaitListed waits until an edge lists these.
func (g *guide) awaitListed(at int, want ...string) {
	g.T.Helper()
	list := "[{" + strings.Join(want, ".example.com EU} {") + ".example.com EU}]"
	g.Edges[at].Poll("its list to be "+list, func() bool { return fmt.Sprint(g.Listed(at)) == list })
}

// One edge needs no NATS, and lists those edges that stand in its Caddyfile.
func TestGuideOneEdge(t *testing.T) {
	t.Parallel()
	g := readGuide(t)
	g.startEdge(g.block("edge", "\tpubsub\n", "\tpubsub\n\tpubsub_edges /near {\n\t\tedge eu.example.com EU\n\t\tedge us.example.com:8443\n\t}\n"))
	works(g.Overlay)
	const want = `{"edges":[{"host":"eu.example.com","region":"EU"},{"host":"us.example.com:8443"}]}`
	e := g.Edges[0]
	if a := e.Rest("GET", "/near", "", nil); a.Status != http.StatusOK || string(a.Body) != want || a.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("the list of edges is %d %s %v", a.Status, a.Body, a.Header)
	}
	e.Rest("POST", "/near", "", harness.Object{}).Problem(t, http.StatusMethodNotAllowed, "method_not_allowed")
}

// Three edges with NATS inside: two of them are enough, and the third one may lose its data.
func TestGuideThreeEdges(t *testing.T) {
	t.Parallel()
	g := readGuide(t)
	block := func(n string) string {
		return g.block("three", "listen 10.0.0.1:6222", "listen 10.0.0."+n+":6222", "edge-1", "edge-"+n)
	}
	g.startEdge(block("1"))
	g.Edges[0].Rest("POST", "/v1/get-token", g.Edges[0].Master, harness.TokenRequest(harness.AllowAll("room"))).
		Problem(t, http.StatusServiceUnavailable, "") // one of three is no majority
	g.startEdge(block("2"))
	g.startEdge(block("3"))
	works(g.Overlay)
	g.awaitListed(1, "edge-1", "edge-2", "edge-3")
	g.clean()

	third := g.Edges[2]
	third.Kill()
	g.awaitListed(0, "edge-1", "edge-2")
	g.Token = awaitToken(g.Overlay, 0) // two of three are enough
	g.Edges = g.Edges[:2]
	data := filepath.Join(third.Dir, "data", "caddy", "pubsub", "nats")
	_, err := os.Stat(filepath.Join(data, "jetstream"))
	testcheck.Must(t, err)
	testcheck.Must(t, os.RemoveAll(data)) // as on another machine
	g.startEdge(block("3"), harness.InDir(third.Dir))
	g.awaitListed(0, "edge-1", "edge-2", "edge-3")
	g.Edges[2].Poll("a token that was issued meanwhile to work", func() bool { return accepts(g.Edges[2], g.Token) })
	works(g.Overlay)

	g.Edges[1].AdminCLI("drain").Want(0, "", "")
	g.awaitListed(0, "edge-1", "edge-3")
	g.awaitListed(1, "edge-1", "edge-3")
}

// Edges beside a cluster of NATS servers. The permissions of the guide are all that they need,
// also with a history.
func TestGuideBesideCluster(t *testing.T) {
	t.Parallel()
	g := readGuide(t)
	for _, n := range []string{"1", "2", "3"} {
		g.startNode("10.0.1."+n+":4222", "edge", g.block("nats-1.conf",
			"nats-1", "nats-"+n, "listen: 10.0.1.1", "listen: 10.0.1."+n))
	}
	g.AwaitAll(g.Nodes...)
	for range 2 {
		g.startEdge(g.block("beside", "\t\tregion EU\n",
			"\t\tregion EU\n\t\thistory chat {\n\t\t\tchannels chat.#\n\t\t}\n\t\thistory_store nats {\n\t\t\treplicas 3\n\t\t}\n"))
	}
	works(g.Overlay)
	g.Nodes[0].Kill(t) // the edges find the other two, and these are enough
	token := awaitToken(g.Overlay, 0)
	for _, e := range g.Edges {
		e.Poll("a new token to work", func() bool { return accepts(e, token) })
	}
	works(g.Overlay)
	g.Token = g.Edges[0].Issue(history.AllowHistory("a", "b")).Token
	for at := range g.Edges {
		history.AwaitHistory(g.Overlay, at)
	}
	positions := history.Store(g.Session(0), "chat.1", "1", "2")
	history.Resume(g.Session(1), "chat.#", positions[0].String(), "complete chat.1=2")
	g.Edges[1].AdminCLI("history", "purge", "chat", "--tenant", history.KeptTenant).Want(0, "2 messages are deleted.", "")
	history.Resume(g.Session(0), "chat.1", positions[0].String(), "gap")
	g.clean()
}

// Three regions, and a site that joins one by a leaf node: one beside its edges,
// and one inside an edge.
func TestGuideRegions(t *testing.T) {
	t.Parallel()
	g := readGuide(t)
	const routes = "nats://10.1.0.1:6222, nats://10.1.0.2:6222, nats://10.1.0.3:6222"
	for _, s := range []struct{ region, host, routes string }{
		{"EU", "10.1.0.1", routes}, {"EU", "10.1.0.2", routes}, {"EU", "10.1.0.3", routes},
		{"US", "10.2.0.1", "nats://10.2.0.1:6222"}, {"AP", "10.3.0.1", "nats://10.3.0.1:6222"},
	} {
		g.startNode(s.host+":4222", "edge", g.block("eu.conf", "server_name: eu-1", "server_name: "+s.host,
			routes, s.routes, "listen: 10.1.0.1", "listen: "+s.host, "\n\tname: EU\n", "\n\tname: "+s.region+"\n"))
	}
	g.AwaitAll(g.Nodes...)
	const url = "nats-leaf://edge:<password>@10.1.0.1:7422"
	harness.Replaced(t, g.text, url, "") // it must be there
	g.env = append(g.env, "NATS_LEAF_URL="+g.local(strings.Replace(url, "<password>", guidePassword, 1)))
	leaf := g.startNode("10.1.9.1:4222", "edge", g.block("leaf.conf"))
	leaf.AwaitClients(t)

	outside := regexp.MustCompile(`(?s)\{\n\t+embedded \{.*?\n\t\t\t\}`)
	for _, node := range []*natstest.Node{g.Nodes[0], g.Nodes[3], leaf} {
		g.startEdge(outside.ReplaceAllString(g.block("site.Caddyfile"), node.URL()+" {"))
	}
	file := filepath.Join(t.TempDir(), "leaf.conf")
	second := g.block("leaf.conf", "10.1.9.1:4222", "10.1.9.2:4222", "site-1", "site-2")
	testcheck.Must(t, os.WriteFile(file, []byte(second), 0o600))
	g.startEdge(g.block("site.Caddyfile", "/etc/millrace/leaf.conf", file))
	works(g.Overlay)
	g.clean()

	// A message for one connection stays as near as it can: not at the US.
	jobs := g.Spread("jobs", "jobs", 0, 1, 1, 0)
	p := g.Session(0)
	for i := range 20 {
		p.PublishTagged(wire.OneNearest, "paint.room", "jobs", strconv.Itoa(i))
		jobs[2][0].ExpectDeliver("paint.room", "jobs", strconv.Itoa(i), "jobs")
	}
}

// awaitToken issues a token at an edge, when the store is ready for it.
func awaitToken(o *harness.Overlay, at int) (token string) {
	o.T.Helper()
	o.Edges[at].Poll("a token to be issued", func() bool {
		token = tryIssue(o.Edges[at])
		return token != ""
	})
	return token
}

// tryIssue issues a token that is valid for longer than clocks are wrong by; "": the edge refuses.
func tryIssue(e *harness.Edge) string {
	e.T.Helper()
	request := harness.TokenRequest(harness.AllowAll("room"))
	request["right"].(harness.Object)["expires_at"] = harness.In(5 * time.Hour)
	var got harness.Issued
	if answer := e.Rest("POST", "/v1/get-token", e.Master, request); answer.Status == http.StatusOK {
		answer.Decode(e.T, http.StatusOK, &got)
	}
	return got.Token
}

// works shows that the edges are one overlay: each one's messages reach all, and its tokens, if it
// issues any, work at all, and are revoked at all.
func works(o *harness.Overlay, readers ...int) {
	o.T.Helper()
	o.Token = awaitToken(o, 0)
	o.Spread("news.#", "news.mark", slices.Repeat([]int{1}, len(o.Edges))...)
	for at, e := range o.Edges {
		if slices.Contains(readers, at) {
			continue
		}
		var open []*harness.Socket
		token := awaitToken(o, at)
		for _, other := range o.Edges {
			open = append(open, other.Dial(token))
		}
		e.Revoke(e.Master, token).Decode(o.T, http.StatusOK, new(harness.Object))
		for _, s := range open {
			expectRevoked(s)
		}
	}
}

func expectRevoked(s *harness.Socket) {
	s.T.Helper()
	s.ExpectText("ERR:" + string(wire.CodeTokenRevoked))
	s.ExpectClose(wire.CloseForbidden)
}

// accepts reports whether an edge opens a session with a token.
func accepts(e *harness.Edge, token string) bool {
	return handshake(e, token) == http.StatusSwitchingProtocols
}

// awaitSession opens a session as soon as the edge accepts a token.
func awaitSession(e *harness.Edge, token string) (s *harness.Socket) {
	e.T.Helper()
	e.Poll("a session", func() bool {
		s, _, _ = e.TryOpen(harness.Handshake{Token: token})
		return s != nil
	})
	return s
}

// handshake returns how an edge answers one with a token; 0: not at all.
func handshake(e *harness.Edge, token string) (status int) {
	s, a, err := e.TryOpen(harness.Handshake{Token: token})
	if err == nil && s != nil {
		_ = s.Cut()
	}
	return a.Status
}
