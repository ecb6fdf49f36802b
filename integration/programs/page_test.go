package programs

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/browser"
	"github.com/millrace/millrace/integration/harness"
)

// devPage runs the code of the page of `pubsub dev` as it is copied there: its message appears in
// the page, and what is said in the page is printed.
func (e *exampleEdge) devPage(b *browser.Browser) {
	t := b.T
	p := b.Open("dev", fmt.Sprintf("http://localhost:%d/", e.Ports[1]), "")
	p.See("#speed", "Both clients were live ")
	copied := func(tab, file string) {
		t.Helper()
		var code string
		p.Click("tab", tab)
		p.See("#program", "AT_")
		p.Evaluate(&code, `document.querySelector("#program code").textContent`)
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(e.Folder, file)), 0o700))
		must(t, os.WriteFile(filepath.Join(e.Folder, file), []byte(code), 0o600))
	}
	for _, c := range []struct{ tab, file, build, run, prints string }{
		{"Node", "examples/hello.mjs", "", "\nnode examples/hello.mjs", "you: Hello from Node"},
		{"Python", "hello.py", "", "\npython3 hello.py", "you: Hello from Python"},
		{"Go", "hello/main.go", "go vet ./hello && test -z \"$(gofmt -l hello)\" && go build -o built/hello ./hello", "exec built/hello", "you: Hello from Go"},
		{"Command line", "hello.sh", "sed -i.bak -e 's|^millrace|" + harness.Program + "|' -e '$s|^|exec |' hello.sh", "source hello.sh", "chat.hall Hello from the command line"},
	} {
		t.Run(c.tab, func(t *testing.T) {
			copied(c.tab, c.file)
			build := exec.Command("bash", "-ec", c.build)
			build.Dir = e.Folder
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			program := e.StartBlocks(t, c.prints, c.run)
			_, said, _ := strings.Cut(c.prints, "Hello")
			p.See("#ada .log", "Hello"+said)
			p.Fill("Message of ben", "Heard"+said)
			p.Click("button", "Send as ben")
			program.Await(program.Out, "Heard"+said)
		})
	}

	page := func(path string) browser.Tab {
		server := httptest.NewServer(http.FileServer(http.Dir(filepath.Join(e.Folder, "pages"))))
		t.Cleanup(server.Close)
		return b.Open(path, server.URL+"/"+path, "")
	}
	copied("React", "pages/main.tsx")
	modules, err := filepath.Abs("../examples/python/streaming/page/node_modules") // of an example, which has React
	must(t, err)
	build := exec.Command("bash", "-ec", `NODE_PATH="$0" "$0/.bin/esbuild" main.tsx --bundle --jsx=automatic --alias:react="$0/react" --log-level=warning --outfile=main.js
		echo '<!doctype html><title>Hello</title><div id="root"></div><script src="main.js"></script>' >react.html`, modules)
	build.Dir = filepath.Join(e.Folder, "pages")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	react := page("react.html")
	react.Click("button", "Say hello")
	react.See("li", "you: Hello from React")
	p.See("#ada .log", "Hello from React")

	copied("Browser", "pages/hello.html")
	page("hello.html").See("li", "you: Hello from a page")
	p.See("#ada .log", "Hello from a page")
}
