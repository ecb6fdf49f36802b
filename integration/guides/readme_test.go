package guides

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/browser"
	"github.com/millrace/millrace/integration/harness"
)

// One edge and one token serve the code of README.md in all languages.
func TestReadme(t *testing.T) {
	t.Parallel()
	p := Open(t, "README.md")
	p.Shell(`git() { [[ "$*" == "clone https://github.com/millrace/millrace" ]] && ln -s "$CHECKOUT" millrace; }
		go() { [[ "$*" == "install ./cmd/millrace" && -f cmd/millrace/main.go ]]; }
		` + p.Block("git clone").Text)
	p.Edge()
	p.Run("token issue")
	token := harness.AccessToken.FindString(p.Shell("echo $MILLRACE_TOKEN"))

	p.Shell("npm install ../millrace/sdk/js ws react react-dom esbuild && npm install --install-links ../millrace/sdk/react")
	p.Files("hello.mjs", "hello.py")
	p.goFile("main.go", p.Block("client.Connect(ctx").Text)
	for language, command := range map[string]string{"Node": "node hello.mjs", "Python": "python3 hello.py", "Go": "go run ."} {
		program := p.terminal().background(t, "source "+p.state, command)
		program.AwaitMatchFor(harness.WaitTimeout, program.Out, regexp.MustCompile("Hello from "+language))
	}

	page := func(name, block string) {
		p.Write(name, strings.Replace(block, "AT_…", token, 1))
	}
	page("hello.html", p.Block("<ul></ul>").Text)
	page("App.tsx", p.Block("<MillraceProvider").Text)
	p.Write("main.tsx", `import { createRoot } from "react-dom/client"; import App from "./App.tsx"; createRoot(document.getElementById("root")!).render(<App />);`)
	p.Write("react.html", `<!doctype html><title>Hello</title><div id="root"></div><script src="main.js"></script>`)
	p.Shell("node_modules/.bin/esbuild main.tsx --bundle --jsx=automatic --log-level=warning --outfile=main.js")
	server := httptest.NewServer(http.FileServer(http.Dir(p.Folder)))
	t.Cleanup(server.Close)
	chrome := browser.Start(t, "chromium")
	react := chrome.Open("react", server.URL+"/react.html", "")
	react.See("p", "Hello from Go")
	react.Click("button", "Hello")
	react.See("p", "Hello from React")
	chrome.Open("browser", server.URL+"/hello.html", "").See("li", "Hello from React", "Hello from a page")
	react.See("p", "Hello from a page")

	if edge := p.Block("MILLRACE_MASTER_TOKEN").Text; p.Shell("millrace pubsub caddyfile edge.example.com") != edge {
		t.Errorf("this is not the edge that pubsub caddyfile prints:\n%s", edge)
	}
}

// goFile makes a program, in a module, of statements that a page shows, as of main.
func (p *Page) goFile(name, statements string) {
	p.T.Helper()
	p.Shell("go mod init example.com/app && go mod edit -replace github.com/millrace/millrace=../millrace")
	imports := ""
	for _, path := range []string{"context", "errors", "fmt", "log", "os"} {
		if path == "context" || strings.Contains(statements, path+".") {
			imports += "\t\"" + path + "\"\n"
		}
	}
	indented := "\t" + strings.ReplaceAll(strings.TrimSpace(statements), "\n", "\n\t")
	code := "package main\n\nimport (\n" + imports + "\n\t\"github.com/millrace/millrace/client\"\n)\n\nfunc main() {\n\tctx := context.Background()\n" + indented + "\n}\n"
	p.Write(name, code)
	p.Shell("gofmt -d " + name + " | (! grep .) && go mod tidy && go vet .")
}
