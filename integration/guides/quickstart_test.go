package guides

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/browser"
	"github.com/millrace/millrace/integration/harness"
)

func TestNodeQuickstart(t *testing.T) {
	t.Parallel()
	quickstart(Open(t, "docs/quickstart/node.md"), "npm install", "node subscribe.mjs", "node publish.mjs", "chat.hall Hello from Node")
}

func TestPythonQuickstart(t *testing.T) {
	t.Parallel()
	quickstart(Open(t, "docs/quickstart/python.md"), "pip install", "python subscribe.py", "python publish.py", "chat.hall Hello from Python")
}

// quickstart has two programs, in terminals of their own.
func quickstart(p *Page, install, subscribe, publish, prints string) {
	p.T.Helper()
	p.Edge()
	p.Run(install)
	p.Run("token issue")
	p.Files()
	subscriber := p.Start(subscribe)
	p.Run(publish)
	p.Await(subscriber, prints)
}

func TestGoQuickstart(t *testing.T) {
	t.Parallel()
	p := Open(t, "docs/quickstart/go.md")
	p.Edge()
	p.Run("go mod init")
	p.Run("token issue")
	p.Files()
	first := p.Start("go run .")
	p.Shell("go vet . && test -z \"$(gofmt -l .)\"")
	p.terminal().background(t, "source "+p.state, "go run .") // in another terminal
	first.AwaitTrue(func() bool { return strings.Count(first.Out.String(), "chat.hall Hello from Go\n") == 2 })
}

func TestBrowserQuickstart(t *testing.T) {
	t.Parallel()
	p := Open(t, "docs/quickstart/browser.md")
	p.Edge()
	token := harness.AccessToken.FindString(p.Run("token issue"))
	p.Write("chat.html", strings.Replace(p.Block("<!doctype html>").Text, "AT_…", token, 1))
	server := httptest.NewServer(http.FileServer(http.Dir(p.Folder)))
	t.Cleanup(server.Close)
	chrome := browser.Start(t, "chromium")
	first := chrome.Open("first", "file://"+filepath.Join(p.Folder, "chat.html"), "")
	second := chrome.Open("second", server.URL+"/chat.html", "")
	for _, tab := range []browser.Tab{first, second} {
		tab.Fill("Message", "Grüße")
		tab.Click("button", "Send")
	}
	first.See("ul", "chat.hall: Grüße")
	second.See("ul", "chat.hall: Grüße")
}

func TestReactQuickstart(t *testing.T) {
	t.Parallel()
	p := Open(t, "docs/quickstart/react.md", 5173)
	p.Edge()
	p.Folder = filepath.Dir(p.Folder)
	p.Run("npm create vite")
	p.Folder = filepath.Join(p.Folder, "app")
	p.Run("token issue")
	p.Files()
	p.Shell("node_modules/.bin/tsc -b")
	p.Shell("npm pkg set 'scripts.dev=vite --port 5173 --strictPort'")
	server := p.Start("npm run dev")
	server.Await(server.Out, "Local")
	chrome := browser.Start(t, "chromium")
	first := chrome.Open("first", p.URL("http://localhost:5173"), "")
	second := chrome.Open("second", p.URL("http://localhost:5173"), "")
	second.Click("button", "Say hello")
	first.See("li", "Hello from React")
	second.See("li", "Hello from React")
}
