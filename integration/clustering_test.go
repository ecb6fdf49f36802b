package integration

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/millrace/millrace/internal/loopback"
	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/wire"
)

// What follows runs the configurations of docs/clustering.md as they stand there,
// with other addresses.

// guide returns a block of docs/clustering.md by the name in its first line.
func guide(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../docs/clustering.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, found := strings.Cut(string(text), "```\n# "+name+"\n")
	block, _, ended := strings.Cut(block, "```\n")
	if !found || !ended {
		t.Fatalf("docs/clustering.md has no block that begins with # %s", name)
	}
	return block
}

// guideText requires that the guide has a text, and returns it.
func guideText(t *testing.T, text string) string {
	t.Helper()
	all, err := os.ReadFile("../docs/clustering.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(all), text) {
		t.Fatalf("docs/clustering.md has no %q", text)
	}
	return text
}

// replaced replaces pairs of texts, each of which must be there.
func replaced(t *testing.T, text string, pairs ...string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("the guide has no %q in\n%s", pairs[i], text)
		}
		text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
	}
	return text
}

var exampleSite = regexp.MustCompile(`(?m)^[a-z0-9-]+\.example\.com \{$`)

// here makes a Caddyfile of the guide one that startEdge can run.
func here(t *testing.T, caddyfile string) string {
	t.Helper()
	caddyfile = strings.Replace(caddyfile, "{\n\tpubsub {\n",
		"{"+globalOptions+"\tpubsub {\n\t\tdrain 7s\n"+defaultMaster+fastBandwidth, 1)
	if !exampleSite.MatchString(caddyfile) {
		t.Fatalf("no site in\n%s", caddyfile)
	}
	return exampleSite.ReplaceAllString(caddyfile, "http://localhost:{{.HTTP}} {")
}

// startAt adds an edge to the overlay.
func (o *overlay) startAt(caddyfile string, options ...option) {
	o.t.Helper()
	if len(o.edges) > 0 {
		options = append(options, withMaster(o.edges[0]))
	}
	o.edges = append(o.edges, startEdge(o.t, here(o.t, caddyfile), options...))
}

// awaitToken issues a token at an edge, when the store is ready for it.
func (o *overlay) awaitToken(at int) (token string) {
	o.t.Helper()
	e := o.edges[at]
	e.poll("a token to be issued", func() bool {
		answer := e.rest("POST", "/v1/get-token", e.master, tokenRequest(allowAll("room")))
		var got issued
		token = ""
		if answer.Status == http.StatusOK && json.Unmarshal(answer.Body, &got) == nil {
			token = got.Token
		}
		return token != ""
	})
	return token
}

// works shows that the edges are one overlay: each one's messages reach all, its
// tokens work at all, and are revoked at all.
func (o *overlay) works() {
	o.t.Helper()
	o.token = o.awaitToken(0)
	counts := make([]int, len(o.edges))
	for at := range counts {
		counts[at] = 1
	}
	sessions := o.spread("news.#", "news.mark", counts...)
	for at, e := range o.edges {
		p := o.session(at)
		text := "from " + strconv.Itoa(at)
		p.publish("paint.room", "news.today", text)
		for _, list := range sessions {
			list[0].expectDeliver("paint.room", "news.today", text, "news.#")
		}
		one := *o
		one.token = o.awaitToken(at)
		var open []*socket
		for other := range o.edges {
			open = append(open, one.session(other))
		}
		e.revoke(e.master, one.token).decode(o.t, http.StatusOK, new(object))
		for _, s := range open {
			s.expectText("ERR:" + string(wire.CodeTokenRevoked))
			s.expectClose(wire.CloseForbidden)
		}
	}
}

func TestGuideOneEdge(t *testing.T) {
	t.Parallel()
	o := &overlay{t: t}
	o.startAt(guide(t, "edge"))
	o.works()
}

// guideThree is the guide's three edges with NATS inside: the Caddyfile of each, and
// the password of their routes.
func guideThree(t *testing.T) (text func(edge int) string, password string, secret option) {
	t.Helper()
	var routes [3]string
	for i := range routes {
		routes[i] = fmt.Sprintf("127.0.0.1:%d", loopback.FreePort(t))
	}
	text = func(i int) string {
		return replaced(t, guide(t, "three"),
			"listen 10.0.0.1:6222", "listen "+routes[i],
			"10.0.0.1:6222", routes[0], "10.0.0.2:6222", routes[1], "10.0.0.3:6222", routes[2],
			"name edge-1", fmt.Sprintf("name edge-%d", i+1), "announce edge-1.example.com", fmt.Sprintf("announce e%d.example.com", i))
	}
	password = "c0rrect-horse"
	return text, password, withEnv("MILLRACE_CLUSTER_PASSWORD=" + password)
}

func TestGuideThreeEdges(t *testing.T) {
	t.Parallel()
	o := &overlay{t: t}
	text, password, secret := guideThree(t)
	o.startAt(text(0), secret)
	answer := o.edges[0].rest("POST", "/v1/get-token", o.edges[0].master, tokenRequest(allowAll("room")))
	if answer.Status != http.StatusServiceUnavailable { // one of three is no majority
		t.Errorf("a lone first edge issues a token: %d %s", answer.Status, answer.Body)
	}
	o.startAt(text(1), secret)
	o.startAt(text(2), secret)
	o.works()
	o.awaitEdges(1, 0, 1, 2)
	for _, e := range o.edges {
		e.lacks(password)
	}

	if got := o.listed(0); len(got) != 3 || got[0].Region != "EU" {
		t.Errorf("the edges are %v", got)
	}

	third := o.edges[2]
	third.kill()
	o.awaitEdges(0, 0, 1)
	o.token = o.awaitToken(0) // two of three are enough
	o.edges = o.edges[:2]
	data := filepath.Join(third.Dir, "data", "caddy", "pubsub", "nats")
	if _, err := os.Stat(filepath.Join(data, "jetstream")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(data); err != nil { // as on another machine
		t.Fatal(err)
	}
	o.startAt(text(2), secret, inDir(third.Dir))
	o.awaitEdges(0, 0, 1, 2)
	o.edges[2].poll("a token that was issued meanwhile to work", func() bool {
		s, _, err := o.edges[2].tryOpen(handshake{Token: o.token})
		return err == nil && s != nil
	})
	o.works()

	o.edges[1].cli("", "pubsub", "drain", "--address", o.edges[1].adminAddress())
	o.awaitEdges(0, 0, 2)
	o.awaitEdges(1, 0, 2)
}

// lacks requires that neither log nor saved configuration has a secret.
func (e *edge) lacks(secret string) {
	e.t.Helper()
	if strings.Contains(e.output(), secret) {
		e.t.Errorf("the log has a password")
	}
	answer := e.adminCall("GET", "/config/", nil)
	if answer.Status != http.StatusOK || strings.Contains(string(answer.Body), secret) {
		e.t.Errorf("the configuration has a password: %d", answer.Status)
	}
}

const guidePassword = "c0rrect-horse"

// startBeside starts the guide's three NATS servers, with this configuration, and two
// edges beside them.
func startBeside(t *testing.T, config, caddyfile string) *overlay {
	t.Helper()
	const password = guidePassword
	o := &overlay{t: t}
	for range 3 {
		node := natstest.NewNode(t, natsServer(t))
		node.Login, node.Env = "edge:"+password, []string{"NATS_PASSWORD=" + password}
		o.nodes = append(o.nodes, node)
	}
	address := func(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }
	for i, node := range o.nodes {
		node.Start(t, replaced(t, config,
			"nats-1", fmt.Sprintf("nats-%d", i+1), "/var/lib/nats", strconv.Quote(t.TempDir()),
			"listen: 10.0.1.1:4222", "listen: "+address(node.Client),
			"listen: 10.0.1.1:6222", "listen: "+address(node.Route),
			"10.0.1.1:6222", address(o.nodes[0].Route), "10.0.1.2:6222", address(o.nodes[1].Route), "10.0.1.3:6222", address(o.nodes[2].Route)))
	}
	for _, node := range o.nodes {
		node.Await(t)
	}
	for range 2 {
		o.startAt(replaced(t, caddyfile, "10.0.1.1:4222", address(o.nodes[0].Client),
			"10.0.1.2:4222", address(o.nodes[1].Client), "10.0.1.3:4222", address(o.nodes[2].Client)),
			withEnv("NATS_PASSWORD="+password))
	}
	return o
}

func TestGuideBesideCluster(t *testing.T) {
	t.Parallel()
	o := startBeside(t, guide(t, "nats-1.conf"), guide(t, "beside"))
	o.works()
	for _, e := range o.edges {
		e.lacks(guidePassword)
	}
}

// The permissions of the guide are all that edges with histories need.
func TestGuideHistories(t *testing.T) {
	t.Parallel()
	guideText(t, "The user [above](#edges-beside-a-nats-cluster) needs `$KV.millrace_histories.>` in addition to what it has.")
	o := startBeside(t,
		replaced(t, guide(t, "nats-1.conf"), `"$KV.millrace_tokens.>"`, `"$KV.millrace_tokens.>", "$KV.millrace_histories.>"`),
		replaced(t, guide(t, "beside"), "\t\tregion EU\n", "\t\tregion EU\n\t\thistory chat {\n\t\t\tchannels chat.#\n\t\t}\n\t\thistory_store nats {\n\t\t\treplicas 3\n\t\t}\n"))
	o.awaitToken(0)
	o.token = o.edges[0].issue(allowHistory("a", "b")).Token
	for at := range o.edges {
		o.awaitHistory(at)
	}
	p, s := o.session(0), o.session(1)
	s.resume("chat.#", "now").has(t, true)
	positions := p.store("chat.1", "1", "2")
	s.gets(positions, "chat.1=1", "chat.1=2")
	o.killAndStart(1, o.edges[1].given, func() { positions = append(positions, p.store("chat.1", "3")...) }, withEnv("NATS_PASSWORD="+guidePassword))
	s = o.session(1)
	s.resume("chat.#", positions[0].String()).has(t, true, "chat.1=2", "chat.1=3") // read from NATS
	o.edges[1].admin("history", "purge", "chat", "--tenant", keptTenant).want(0, "3 messages are deleted.", "")
	o.edges[1].admin("history", "list").want(0, beginTenant, "")
	for _, node := range o.nodes {
		if strings.Contains(node.Output(), "Violation") {
			t.Errorf("NATS refused something:\n%s", node.Output())
		}
	}
	for _, e := range o.edges {
		e.lacks(guidePassword)
	}
}

// Three regions, and a site that joins one by a leaf node: one beside its edges,
// and one inside an edge.
func TestGuideRegions(t *testing.T) {
	t.Parallel()
	o := &overlay{t: t}
	const password = "c0rrect-horse"
	env := []string{"NATS_PASSWORD=" + password, "NATS_ADMIN_PASSWORD=adm1n"}
	node := func() *natstest.Node {
		n := natstest.NewNode(t, natsServer(t))
		n.Login, n.Env = "edge:"+password, env
		return n
	}
	free := func(n int) (list []string) {
		for range n {
			list = append(list, fmt.Sprintf("127.0.0.1:%d", loopback.FreePort(t)))
		}
		return list
	}
	regions := []string{"EU", "EU", "EU", "US", "AP"} // of the servers
	leafs, gateways := free(len(regions)), free(len(regions))
	routes := map[string][]string{"EU": free(3), "US": free(1), "AP": free(1)}
	for i, region := range regions {
		node, list := node(), routes[region]
		all, at := slices.Repeat(list, 3), i%3
		config := replaced(t, guide(t, "eu.conf"),
			"server_name: eu-1", fmt.Sprintf("server_name: %s-%d", region, at), "/var/lib/nats", strconv.Quote(t.TempDir()),
			"10.1.0.1:4222", fmt.Sprintf("127.0.0.1:%d", node.Client),
			"listen: 10.1.0.1:6222", "listen: "+list[at%len(list)], "listen: 10.1.0.1:7222", "listen: "+gateways[i], "listen: 10.1.0.1:7422", "listen: "+leafs[i],
			"10.1.0.1:6222", all[0], "10.1.0.2:6222", all[1], "10.1.0.3:6222", all[2],
			"10.1.0.1:7222", gateways[0], "10.1.0.2:7222", gateways[1], "10.2.0.1:7222", gateways[3], "10.3.0.1:7222", gateways[4])
		node.Start(t, strings.ReplaceAll(config, "\n\tname: EU\n", "\n\tname: "+region+"\n")) // not the one in the list
		o.nodes = append(o.nodes, node)
	}
	for _, node := range o.nodes {
		node.Await(t)
	}
	env = append(env, "NATS_LEAF_URL="+replaced(t, guideText(t, "nats-leaf://edge:<password>@10.1.0.1:7422"),
		"<password>", password, "10.1.0.1:7422", leafs[0]))
	leaf, conf := node(), guide(t, "leaf.conf")
	leaf.Start(t, replaced(t, conf, "10.1.9.1:4222", fmt.Sprintf("127.0.0.1:%d", leaf.Client)))
	leaf.AwaitClients(t)

	outside := regexp.MustCompile(`(?s)\{\n\t+embedded \{.*?\n\t\t\t\}`)
	var secrets []option
	for _, variable := range env {
		secrets = append(secrets, withEnv(variable))
	}
	site := guide(t, "site")
	for _, node := range []*natstest.Node{o.nodes[0], o.nodes[3], leaf} {
		o.startAt(outside.ReplaceAllString(site, node.URL()+" {"), secrets...)
	}
	file := filepath.Join(t.TempDir(), "leaf.conf")
	conf = replaced(t, conf, "10.1.9.1:4222", fmt.Sprintf("127.0.0.1:%d", loopback.FreePort(t)), "site-1", "site-2")
	if err := os.WriteFile(file, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	o.startAt(replaced(t, site, "/etc/millrace/leaf.conf", file), secrets...)
	o.works()
	for _, e := range o.edges {
		e.lacks(password)
	}

	// A message for one connection stays as near as it can: not at the US.
	jobs := o.spread("jobs", "jobs", 0, 1, 1, 0)
	p := o.session(0)
	for i := range 20 {
		p.publishTagged(wire.OneNearest, "paint.room", "jobs", strconv.Itoa(i))
		jobs[2][0].expectDeliver("paint.room", "jobs", strconv.Itoa(i), "jobs")
	}
}
