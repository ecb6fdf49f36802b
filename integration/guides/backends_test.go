package guides

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/millrace/millrace/client"
)

// The function gives tokens, and publishes once for each key, in each runtime: Bun, as the page says, Node,
// Deno, and workerd, which is that of Cloudflare Workers.
func TestServerlessPage(t *testing.T) {
	t.Parallel()
	p := Open(t, "docs/how-to/serverless.md", 3000, 3001, 3002, 3003, 3004)
	p.edge()
	p.Env = append(p.Env, p.adapt("PORT=3000"))
	p.Files()
	p.Write("server.mjs", `import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import handler from "./function.mjs";

createServer(async (request, response) => {
	const { method, headers } = request;
	const answer = await handler.fetch(new Request("http://localhost" + request.url, { method, headers, body: await text(request) }));
	response.writeHead(answer.status).end(await answer.text());
}).listen(3002, () => console.log("listening"));
`)
	// TokenAdmin runs there, too.
	p.Write("admin.mjs", `import { TokenAdmin } from "@millrace/client/admin";

export default {
	async fetch() {
		const admin = new TokenAdmin("http://localhost:8080", process.env.MILLRACE_MASTER_TOKEN);
		return Response.json(await admin.issue({ createdBy: "worker", expiresIn: "1m", grants: [{ tenants: ["demo.room"] }] }));
	},
};
`)
	p.Write("config.capnp", `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
	services = [
		(name = "function", worker = (modules = [(name = "worker", esModule = embed "function.js")],
			bindings = [(name = "MILLRACE_MASTER_TOKEN", fromEnvironment = "MILLRACE_MASTER_TOKEN")], compatibilityDate = "2026-11-01")),
		(name = "admin", worker = (modules = [(name = "worker", esModule = embed "admin.js")],
			bindings = [(name = "MILLRACE_MASTER_TOKEN", fromEnvironment = "MILLRACE_MASTER_TOKEN")], compatibilityDate = "2026-11-01")),
		(name = "internet", network = (allow = ["local"])),
	],
	sockets = [
		(name = "function", address = "localhost:3003", http = (), service = "function"),
		(name = "admin", address = "localhost:3004", http = (), service = "admin"),
	],
);
`)
	p.Shell("npm install ws bun deno esbuild workerd")
	bun := p.Start("npx bun function.mjs")
	bun.Await(bun.Out, "Started")
	p.Run("curl")
	p.Shell("export MILLRACE_MASTER_TOKEN=$(millrace pubsub master-token create --name test --tenant-prefix demo --quiet); declare -px >" + p.state + "\n" +
		"for name in function admin; do node_modules/.bin/esbuild $name.mjs --bundle --format=esm --conditions=workerd,worker,browser --log-level=warning --outfile=$name.js; done")
	origins := map[string]string{"bun": "http://localhost:3000"}
	for _, other := range []struct{ runtime, origin, command, says string }{
		{"deno", "http://localhost:3001", "deno serve --port 3001 --node-modules-dir=manual -A function.mjs", "Listening"},
		{"node", "http://localhost:3002", "node server.mjs", "listening"},
		{"workerd", "http://localhost:3003", "workerd serve --control-fd=1 config.capnp", `"socket":"admin"`},
	} {
		server := p.program("env PATH=$PWD/node_modules/.bin:$PATH " + other.command)
		server.Await(server.Out, other.says)
		origins[other.runtime] = other.origin
	}
	for runtime, origin := range origins {
		for range 2 {
			p.Shell("[[ $(curl -s -H 'Idempotency-Key: " + runtime + "' -d " + runtime + " " + origin + "/orders) == published ]]")
		}
	}
	token := p.Shell("curl -s --fail -X POST http://localhost:3003/token")
	if got := p.stored(token, 1+len(origins)); !slices.Equal(slices.Sorted(maps.Keys(got)), []string{"Order 7", "bun", "deno", "node", "workerd"}) {
		t.Errorf("stored is %q", got)
	}
	p.token(p.Shell("curl -s --fail http://localhost:3004"))
}

// The endpoint gives a token to whom the session names, and to nobody else.
func TestPHPPage(t *testing.T) {
	t.Parallel()
	p := Open(t, "docs/how-to/php.md", 3000)
	p.edge()
	p.Files()
	p.Write("public/login.php", `<?php session_start(); $_SESSION['user'] = 'ada';`)
	server := p.Start("php -S")
	server.Await(server.Out, "started")
	ask := `curl -s -b jar -c jar -w '\n%{http_code} %header{cache-control}' -X POST http://localhost:3000/`
	if got := p.Shell(ask + "token.php"); !strings.HasPrefix(got, "\n401 ") {
		t.Errorf("without a session, the answer is %q", got)
	}
	got, status, _ := strings.Cut(p.Shell(ask+"login.php >/dev/null; "+ask+"token.php"), "\n")
	if status != "200 no-store" {
		t.Fatalf("the answer is %q", got)
	}
	p.Shell("export MILLRACE_TOKEN=" + p.token(got) + "; millrace pubsub publish --confirm --url ws://localhost:8080/ws --tenant demo.room chat.orders hello")
	if got := p.stored(got, 1); got["hello"] != "ada" {
		t.Errorf("stored is %q", got)
	}
}

// token reads an answer to get-token.
func (p *Page) token(answer string) string {
	p.T.Helper()
	var issued struct{ Token string }
	must(p.T, json.Unmarshal([]byte(answer), &issued))
	if issued.Token == "" {
		p.T.Fatalf("no token: %s", answer)
	}
	return issued.Token
}

// stored returns the first n messages in the channel chat.orders, and whose they are.
func (p *Page) stored(answer string, n int) map[string]string {
	p.T.Helper()
	ctx := p.T.Context()
	c, err := client.Connect(ctx, []string{p.URL("http://localhost:8080")}, client.Options{Token: p.token(answer), Sender: true})
	must(p.T, err)
	defer c.Close()
	messages, err := c.Subscribe(ctx, "demo.room", "chat.orders", client.WithHistory(client.LastN(50)))
	must(p.T, err)
	got := map[string]string{}
	for range n {
		m := <-messages.Messages()
		got[string(m.Payload)] = m.Sender
	}
	return got
}
