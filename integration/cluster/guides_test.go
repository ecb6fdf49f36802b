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

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/history"
	"github.com/millrace/millrace/internal/loopback"
	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/wire"
)

// What follows runs the configurations of docs/clustering.md as they stand there,
// with other addresses.

// guide returns a block of docs/clustering.md by the name in its first line.
func guide(t *testing.T, name string) string {
	t.Helper()
	_, block, _ := strings.Cut(guideText(t, "```\n# "+name+"\n"), "```\n# "+name+"\n")
	block, _, _ = strings.Cut(block, "```\n")
	return block
}

// guideText is all of the guide, which must have these words.
func guideText(t *testing.T, words string) string {
	t.Helper()
	text, err := os.ReadFile("../docs/clustering.md")
	if err != nil || !strings.Contains(string(text), words) {
		t.Fatalf("docs/clustering.md has no %q (%v)", words, err)
	}
	return string(text)
}

var exampleSite = regexp.MustCompile(`(?m)^[a-z0-9-]+\.example\.com \{$`)

// here makes a Caddyfile of the guide one that StartEdge can run.
func here(t *testing.T, caddyfile string) string {
	t.Helper()
	caddyfile = strings.Replace(caddyfile, "{\n\tpubsub {\n",
		"{"+harness.GlobalOptions+"\tpubsub {\n\t\tdrain 7s\n"+harness.DefaultMaster+harness.FastBandwidth, 1)
	if !exampleSite.MatchString(caddyfile) {
		t.Fatalf("no site in\n%s", caddyfile)
	}
	return exampleSite.ReplaceAllString(caddyfile, "http://localhost:{{.HTTP}} {")
}

// startAt adds an edge to the overlay.
func startAt(o *harness.Overlay, caddyfile string, options ...harness.Option) {
	o.T.Helper()
	if len(o.Edges) > 0 {
		options = append(options, harness.WithMaster(o.Edges[0]))
	}
	o.Edges = append(o.Edges, harness.StartEdge(o.T, here(o.T, caddyfile), options...))
}

// awaitToken issues a token at an edge, when the store is ready for it.
func awaitToken(o *harness.Overlay, at int) (token string) {
	o.T.Helper()
	o.Edges[at].Poll("a token to be issued", func() bool {
		token = tryIssue(o.Edges[at], harness.TokenRequest(harness.AllowAll("room")))
		return token != ""
	})
	return token
}

// tryIssue issues a token; "": the edge refuses.
func tryIssue(e *harness.Edge, request harness.Object) string {
	e.T.Helper()
	var got harness.Issued
	if answer := e.Rest("POST", "/v1/get-token", e.Master, request); answer.Status == http.StatusOK {
		answer.Decode(e.T, http.StatusOK, &got)
	}
	return got.Token
}

// works shows that the edges are one overlay: each one's messages reach all, its
// tokens work at all, and are revoked at all.
func works(o *harness.Overlay) {
	o.T.Helper()
	o.Token = awaitToken(o, 0)
	counts := make([]int, len(o.Edges))
	for at := range counts {
		counts[at] = 1
	}
	sessions := o.Spread("news.#", "news.mark", counts...)
	for at, e := range o.Edges {
		p := o.Session(at)
		text := "from " + strconv.Itoa(at)
		p.Publish("paint.room", "news.today", text)
		for _, list := range sessions {
			list[0].ExpectDeliver("paint.room", "news.today", text, "news.#")
		}
		one := *o
		one.Token = awaitToken(o, at)
		var open []*harness.Socket
		for other := range o.Edges {
			open = append(open, one.Session(other))
		}
		e.Revoke(e.Master, one.Token).Decode(o.T, http.StatusOK, new(harness.Object))
		for _, s := range open {
			expectRevoked(s)
		}
	}
}

// One edge needs no NATS, and lists those edges that stand in its Caddyfile.
func TestGuideOneEdge(t *testing.T) {
	t.Parallel()
	o := &harness.Overlay{T: t}
	startAt(o, strings.Replace(guide(t, "edge"), "\tpubsub\n", "\tpubsub\n\tpubsub_edges /near {\n\t\tedge eu.example.com EU\n\t\tedge us.example.com:8443\n\t}\n", 1))
	works(o)
	const want = `{"edges":[{"host":"eu.example.com","region":"EU"},{"host":"us.example.com:8443"}]}`
	e := o.Edges[0]
	if a := e.Rest("GET", "/near", "", nil); a.Status != http.StatusOK || string(a.Body) != want || a.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("the list of edges is %d %s %v", a.Status, a.Body, a.Header)
	}
	e.Rest("POST", "/near", "", harness.Object{}).Problem(t, http.StatusMethodNotAllowed, "method_not_allowed")
}

// Three edges with NATS inside: two of them are enough, and the third one may lose its data.
func TestGuideThreeEdges(t *testing.T) {
	t.Parallel()
	o := &harness.Overlay{T: t}
	routes, secret := free(t, 3), harness.WithEnv("MILLRACE_CLUSTER_PASSWORD="+guidePassword)
	text := func(i int) string {
		return harness.Replaced(t, guide(t, "three"),
			"listen 10.0.0.1:6222", "listen "+routes[i],
			"10.0.0.1:6222", routes[0], "10.0.0.2:6222", routes[1], "10.0.0.3:6222", routes[2],
			"name edge-1", fmt.Sprintf("name edge-%d", i+1), "announce edge-1.example.com", fmt.Sprintf("announce e%d.example.com", i))
	}
	startAt(o, text(0), secret)
	o.Edges[0].Rest("POST", "/v1/get-token", o.Edges[0].Master, harness.TokenRequest(harness.AllowAll("room"))).
		Problem(t, http.StatusServiceUnavailable, "") // one of three is no majority
	startAt(o, text(1), secret)
	startAt(o, text(2), secret)
	works(o)
	awaitEdges(o, 1, 0, 1, 2)
	lack(o, guidePassword)

	if got := o.Listed(0); len(got) != 3 || got[0].Region != "EU" {
		t.Errorf("the edges are %v", got)
	}

	third := o.Edges[2]
	third.Kill()
	awaitEdges(o, 0, 0, 1)
	o.Token = awaitToken(o, 0) // two of three are enough
	o.Edges = o.Edges[:2]
	data := filepath.Join(third.Dir, "data", "caddy", "pubsub", "nats")
	if _, err := os.Stat(filepath.Join(data, "jetstream")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(data); err != nil { // as on another machine
		t.Fatal(err)
	}
	startAt(o, text(2), secret, harness.InDir(third.Dir))
	awaitEdges(o, 0, 0, 1, 2)
	o.Edges[2].Poll("a token that was issued meanwhile to work", func() bool { return accepts(o.Edges[2], o.Token) })
	works(o)

	o.Edges[1].AdminCLI("drain").Want(0, "", "")
	awaitEdges(o, 0, 0, 2)
	awaitEdges(o, 1, 0, 2)
}

// lack requires that no log and no saved configuration of an edge has a secret.
func lack(o *harness.Overlay, secret string) {
	o.T.Helper()
	for i, e := range o.Edges {
		answer := e.AdminCall("GET", "/config/", nil)
		if answer.Status != http.StatusOK || strings.Contains(e.Output()+string(answer.Body), secret) {
			o.T.Errorf("the log or the configuration of edge %d has a password: %d", i, answer.Status)
		}
	}
}

const guidePassword = "c0rrect-horse"

// guideNode is a NATS server that takes the user of the guide.
func guideNode(t *testing.T) *natstest.Node {
	t.Helper()
	n := natstest.NewNode(t, harness.NatsServer(t))
	n.Login, n.Env = "edge:"+guidePassword, []string{"NATS_PASSWORD=" + guidePassword, "NATS_ADMIN_PASSWORD=adm1n"}
	return n
}

// free returns so many addresses that nobody uses.
func free(t *testing.T, n int) (list []string) {
	t.Helper()
	for range n {
		list = append(list, fmt.Sprintf("127.0.0.1:%d", loopback.FreePort(t)))
	}
	return list
}

// Edges beside a cluster of NATS servers. The permissions of the guide are all that they need,
// also with a history.
func TestGuideBesideCluster(t *testing.T) {
	t.Parallel()
	o := &harness.Overlay{T: t}
	address := func(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }
	for range 3 {
		o.Nodes = append(o.Nodes, guideNode(t))
	}
	guideText(t, "The user [above](#edges-beside-a-nats-cluster) needs `$KV.millrace_histories.>` in addition to what it has.")
	config := harness.Replaced(t, guide(t, "nats-1.conf"), `"$KV.millrace_tokens.>"`, `"$KV.millrace_tokens.>", "$KV.millrace_histories.>"`)
	for i, node := range o.Nodes {
		node.Start(t, harness.Replaced(t, config,
			"nats-1", fmt.Sprintf("nats-%d", i+1), "/var/lib/nats", strconv.Quote(t.TempDir()),
			"listen: 10.0.1.1:4222", "listen: "+address(node.Client),
			"listen: 10.0.1.1:6222", "listen: "+address(node.Route),
			"10.0.1.1:6222", address(o.Nodes[0].Route), "10.0.1.2:6222", address(o.Nodes[1].Route), "10.0.1.3:6222", address(o.Nodes[2].Route)))
	}
	o.AwaitAll(o.Nodes...)
	for range 2 {
		startAt(o, harness.Replaced(t, guide(t, "beside"), "10.0.1.1:4222", address(o.Nodes[0].Client),
			"10.0.1.2:4222", address(o.Nodes[1].Client), "10.0.1.3:4222", address(o.Nodes[2].Client),
			"\t\tregion EU\n", "\t\tregion EU\n\t\thistory chat {\n\t\t\tchannels chat.#\n\t\t}\n\t\thistory_store nats {\n\t\t\treplicas 3\n\t\t}\n"),
			harness.WithEnv("NATS_PASSWORD="+guidePassword))
	}
	works(o)
	o.Token = o.Edges[0].Issue(history.AllowHistory("a", "b")).Token
	for at := range o.Edges {
		history.AwaitHistory(o, at)
	}
	p, s := o.Session(0), o.Session(1)
	history.Resume(s, "chat.#", "now", "complete")
	positions := history.Store(p, "chat.1", "1", "2")
	s.ExpectDeliver(history.KeptTenant, "chat.1", "1", "chat.#")
	s.ExpectDeliver(history.KeptTenant, "chat.1", "2", "chat.#")
	o.KillAndStart(1, o.Edges[1].Given, func() { positions = append(positions, history.Store(p, "chat.1", "3")...) }, harness.WithEnv("NATS_PASSWORD="+guidePassword))
	s = o.Session(1)
	history.Resume(s, "chat.#", positions[0].String(), "complete chat.1=2 chat.1=3") // read from NATS
	// The last reload decides for all, and so does a purge.
	o.Edges[0].Reload(strings.Replace(o.Edges[0].Given, "channels chat.#\n", "channels chat.#\n\t\t\tmessages 2\n", 1))
	o.Edges[1].Poll("the lower limit to hold", func() bool {
		return strings.Count(o.Edges[1].AdminCLI("history", "read", "chat", history.KeptTenant, "chat.#").Out, " chat.1 ") == 2
	})
	o.Edges[1].AdminCLI("history", "purge", "chat", "--tenant", history.KeptTenant).Want(0, "2 messages are deleted.", "")
	history.Resume(o.Session(0), "chat.1", positions[0].String(), "gap")
	o.Edges[1].AdminCLI("history", "list").Want(0, history.BeginTenant, "")
	for _, node := range o.Nodes {
		if strings.Contains(node.Output(), "Violation") {
			t.Errorf("NATS refused something:\n%s", node.Output())
		}
	}
	lack(o, guidePassword)
}

// Three regions, and a site that joins one by a leaf node: one beside its edges,
// and one inside an edge.
func TestGuideRegions(t *testing.T) {
	t.Parallel()
	o := &harness.Overlay{T: t}
	regions := []string{"EU", "EU", "EU", "US", "AP"} // of the servers
	leafs, gateways := free(t, len(regions)), free(t, len(regions))
	routes := map[string][]string{"EU": free(t, 3), "US": free(t, 1), "AP": free(t, 1)}
	for i, region := range regions {
		node, list := guideNode(t), routes[region]
		all, at := slices.Repeat(list, 3), i%3
		config := harness.Replaced(t, guide(t, "eu.conf"),
			"server_name: eu-1", fmt.Sprintf("server_name: %s-%d", region, at), "/var/lib/nats", strconv.Quote(t.TempDir()),
			"10.1.0.1:4222", fmt.Sprintf("127.0.0.1:%d", node.Client),
			"listen: 10.1.0.1:6222", "listen: "+list[at%len(list)], "listen: 10.1.0.1:7222", "listen: "+gateways[i], "listen: 10.1.0.1:7422", "listen: "+leafs[i],
			"10.1.0.1:6222", all[0], "10.1.0.2:6222", all[1], "10.1.0.3:6222", all[2],
			"10.1.0.1:7222", gateways[0], "10.1.0.2:7222", gateways[1], "10.2.0.1:7222", gateways[3], "10.3.0.1:7222", gateways[4])
		node.Start(t, strings.ReplaceAll(config, "\n\tname: EU\n", "\n\tname: "+region+"\n")) // not the one in the list
		o.Nodes = append(o.Nodes, node)
	}
	o.AwaitAll(o.Nodes...)
	guideText(t, "nats-leaf://edge:<password>@10.1.0.1:7422")
	leaf, conf := guideNode(t), guide(t, "leaf.conf")
	leaf.Env = append(leaf.Env, "NATS_LEAF_URL=nats-leaf://edge:"+guidePassword+"@"+leafs[0])
	leaf.Start(t, harness.Replaced(t, conf, "10.1.9.1:4222", fmt.Sprintf("127.0.0.1:%d", leaf.Client)))
	leaf.AwaitClients(t)

	outside := regexp.MustCompile(`(?s)\{\n\t+embedded \{.*?\n\t\t\t\}`)
	var secrets []harness.Option
	for _, variable := range leaf.Env {
		secrets = append(secrets, harness.WithEnv(variable))
	}
	site := guide(t, "site")
	for _, node := range []*natstest.Node{o.Nodes[0], o.Nodes[3], leaf} {
		startAt(o, outside.ReplaceAllString(site, node.URL()+" {"), secrets...)
	}
	file := filepath.Join(t.TempDir(), "leaf.conf")
	conf = harness.Replaced(t, conf, "10.1.9.1:4222", free(t, 1)[0], "site-1", "site-2")
	if err := os.WriteFile(file, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	startAt(o, harness.Replaced(t, site, "/etc/millrace/leaf.conf", file), secrets...)
	works(o)
	lack(o, guidePassword)

	// A message for one connection stays as near as it can: not at the US.
	jobs := o.Spread("jobs", "jobs", 0, 1, 1, 0)
	p := o.Session(0)
	for i := range 20 {
		p.PublishTagged(wire.OneNearest, "paint.room", "jobs", strconv.Itoa(i))
		jobs[2][0].ExpectDeliver("paint.room", "jobs", strconv.Itoa(i), "jobs")
	}
}
