package guides

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/browser"
	"github.com/millrace/millrace/integration/harness"
)

// asked counts what a page asks for: tokens, and WebSockets of edges; the tools of frameworks have others.
const asked = `globalThis.asked = [];
	const ask = (url) => { const { pathname } = new URL(url, location); if (/^.(token|ws)$/.test(pathname)) asked.push(pathname); };
	const { fetch: real } = globalThis;
	globalThis.fetch = (url, init) => { ask(url.url ?? url); return real(url, init); };
	globalThis.WebSocket = class extends WebSocket { constructor(url, ...rest) { super(url, ...rest); ask(url); } };`

// once is what a page asks that has one connection.
const once = `asked.join() === "/token,/ws"`

// The components show what is published, over one connection, in the development servers of their frameworks.
// What the pages show is also built.
func TestFrameworkPages(t *testing.T) {
	t.Parallel()
	chrome := browser.Start(t, "chromium")
	next := Open(t, "docs/how-to/nextjs.md", 3000)
	edge := next.edge()
	server := next.startNext()
	chrome.Run(t, "vue", func(b *browser.Browser) {
		viteFramework(b, "vue", "src/millrace.js", `import { createApp } from "vue"; import App from "./App.vue";
			const app = createApp(App); app.mount("#app"); globalThis.leave = () => app.unmount();`)
	})
	chrome.Run(t, "svelte", func(b *browser.Browser) {
		viteFramework(b, "svelte", "src/lib/millrace.svelte.js", `import { mount, unmount } from "svelte"; import App from "./App.svelte";
			const app = mount(App, { target: document.getElementById("app") }); globalThis.leave = () => unmount(app);`)
	})
	chrome.Run(t, "next", func(b *browser.Browser) {
		next.T = b.T
		server.Await(server.Out, "Ready")
		next.next(b, edge)
	})
}

// viteFramework also unmounts the component: then it has unsubscribed.
func viteFramework(b *browser.Browser, name, module, main string) {
	p := Open(b.T, "docs/how-to/"+name+".md", 3000, 5173)
	edge := p.edge()
	p.serveToken()
	p.Folder = filepath.Dir(p.Folder)
	p.Shell("npm create vite@latest app -- --template " + name + " --no-interactive")
	p.Folder = filepath.Join(p.Folder, "app")
	p.Shell("npm install")
	p.Run("npm install")
	p.Files()
	p.Write("src/main.js", main)
	p.Shell("npm pkg set 'scripts.dev=vite --port 5173 --strictPort' && npm run build")
	server := p.Start("npm run dev")
	server.Await(server.Out, "Local")
	tab := b.Open("page", p.URL("http://localhost:5173"), asked)
	tab.Fill("Message", "hello")
	tab.Press("Enter")
	tab.See("p", "ada: hello")
	tab.Until(`document.querySelector("input").value === "" && ` + once)
	p.awaitConnections(edge, 1, 1)
	tab.Evaluate(nil, `leave()`)
	p.awaitConnections(edge, 1, 0)
	tab.Evaluate(nil, `import(%s).then((m) => m.logOut())`, "/"+module)
	p.awaitConnections(edge, 0, 0)
}

// startNext builds the app, with its types, once for each text of the page and each build of the SDKs, and starts the
// development server.
func (p *Page) startNext() *harness.Background {
	p.T.Helper()
	p.Run("--install-links")
	p.Write("package.json", `{"private": true, "scripts": {"build": "next build", "dev": "next dev --port 3000"}}`)
	p.Write("app/layout.tsx", `import type { ReactNode } from "react";
export default function Layout({ children }: { children: ReactNode }) {
	return <html lang="en"><body>{children}</body></html>;
}
`)
	p.Files()
	p.inNextFolder()
	p.Shell(`built=$(cat $(find app node_modules/@millrace/ -name '*.js' -o -name '*.ts*') ../../package-lock.json | sed s/:8080// | sha256sum)
		[[ $built == $(cat ../built) ]] || { npm run build && echo "$built" >../built; }`)
	return p.Start("npm run dev")
}

// next has no connection while the server renders, and one in Strict Mode.
func (p *Page) next(b *browser.Browser, edge *harness.Background) {
	rendered := p.Shell("curl -s --fail -b user=ada http://localhost:3000/; curl -s -o /dev/null -w '%{http_code}' -X POST http://localhost:3000/token")
	if !strings.Contains(rendered, "<p>subscribing</p>") || !strings.HasSuffix(rendered, "401") {
		p.T.Errorf("the server answers %s", rendered)
	}
	p.awaitConnections(edge, 0, 0)
	tab := b.Open("page", p.URL("http://localhost:3000"), asked)
	tab.See("p", "idle")
	tab.Evaluate(nil, `document.cookie = "user=ada"`)
	tab.Reload()
	tab.See("p", "subscribed")
	tab.Fill("Message", "hello")
	tab.Press("Enter")
	tab.See("p", "ada: hello")
	tab.Until(once)
	p.awaitConnections(edge, 1, 1)
}

// inNextFolder goes on in a folder below the packages: Turbopack takes no links to them.
func (p *Page) inNextFolder() {
	p.T.Helper()
	work, err := filepath.Abs("guides/npm/.work")
	must(p.T, err)
	must(p.T, os.MkdirAll(work, 0o700))
	folder, err := os.MkdirTemp(work, "next-")
	must(p.T, err)
	p.T.Cleanup(func() { _ = os.RemoveAll(folder) }) // a server that is being killed may still write
	must(p.T, os.CopyFS(folder, os.DirFS(p.Folder)))
	p.Folder = folder
	p.Shell("echo cd " + folder + " >>" + p.state)
	p.Shell("ln -s $CHECKOUT/sdk/react/node_modules/{typescript,@types} node_modules/")
}

// serveToken serves ada's token at /token, on the port of the page's backend.
func (p *Page) serveToken() {
	p.T.Helper()
	token := strings.TrimSpace(p.Shell("millrace pubsub token issue --quiet --tenant demo.room --pub 'chat.#' --sub 'chat.#' --history 'chat.#' --subject ada"))
	mux := http.NewServeMux()
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(token) })
	listener, err := net.Listen("tcp", p.URL("localhost:3000"))
	must(p.T, err)
	server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: mux}}
	server.Start()
	p.T.Cleanup(server.Close)
}

// awaitConnections waits until the edge has so many connections, with so many subscriptions in all.
func (p *Page) awaitConnections(edge *harness.Background, connections, subscriptions int) {
	p.T.Helper()
	edge.AwaitTrue(func() bool {
		answer, err := http.Get(p.URL("http://localhost:2019/pubsub/connections"))
		must(p.T, err)
		defer answer.Body.Close()
		var got struct{ Connections []struct{ Subscriptions int } }
		must(p.T, json.NewDecoder(answer.Body).Decode(&got))
		sum := 0
		for _, c := range got.Connections {
			sum += c.Subscriptions
		}
		return len(got.Connections) == connections && sum == subscriptions
	})
}
