package browsers

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/browser"
	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/internal/testcheck"
)

// TestSite builds the documentation as a site below a path, and reads it as visitors do.
func TestSite(t *testing.T) {
	t.Parallel()
	testcheck.Must(t, harness.WatchSources())
	browsers := []*browser.Browser{browser.Start(t, "chromium"), browser.Start(t, "firefox")}
	folder := t.TempDir()
	if out, err := exec.Command("../scripts/docs.sh", "build", "--base", "/docs/", "--outDir", folder).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	list, err := os.ReadFile(filepath.Join(folder, "llms.txt"))
	testcheck.Must(t, err)
	plain := regexp.MustCompile(`\]\((\S+\.md)\): \S`).FindAllSubmatch(list, -1) // with a description
	for _, m := range plain {
		if _, err := os.Stat(filepath.Join(folder, string(m[1]))); err != nil {
			t.Error(err)
		}
	}
	if lines := strings.Count(string(list), "\n- "); len(plain) != lines || lines < 40 {
		t.Errorf("llms.txt has %d pages in %d lines", len(plain), lines)
	}
	files := http.StripPrefix("/docs/", http.FileServer(http.Dir(folder)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The browser complains of requests to other origins.
		w.Header().Set("Content-Security-Policy", "default-src 'self' 'unsafe-inline' data:")
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	for _, b := range browsers {
		for _, width := range []int{1280, 390} {
			b.Run(t, fmt.Sprintf("%s, %d pixels wide", b.Name, width), func(b *browser.Browser) {
				visitor{b, server.URL + "/docs/", width}.visit()
			})
		}
	}
}

type visitor struct {
	*browser.Browser
	site  string
	width int
}

func (v visitor) visit() {
	p := v.open("index.html")
	p.Until(`((table) => { // of the comparison: its first column stays
		table.scrollLeft = 1000;
		return Math.abs(table.querySelector("td").getBoundingClientRect().left - table.getBoundingClientRect().left) <= 1;
	})(document.querySelector("table"))`)
	if v.width < 960 {
		p.Click("button", "Menu")
	}
	p.Click("link", "Errors")
	p.See("h1", "Errors")

	p.Click("button", "Search")
	p.Until(`document.activeElement.id === "localsearch-input"`)
	p.Press("token is revoked")
	p.Until(`document.querySelector(".results .result.selected")`)
	var hit string
	p.Evaluate(&hit, `document.querySelector(".results .result.selected").href`)
	p.Press("Enter")
	p.Until(`location.href === %s && document.getElementById(location.hash.slice(1))`, hit)

	p = v.open("how-to/tokens.html")
	p.Evaluate(nil, `document.querySelector("[role=tab]").focus()`)
	p.Press("End", "ArrowRight", "ArrowLeft") // around, and back to the last one
	p.See("[role=tab][aria-selected=true]:focus", "Go")
	p.Until(shown, "Go")
	p = v.open("how-to/outbox.html")
	p.Until(shown, "Go")
	p.Click("tab", "Python")
	p.Until(shown, "Python")

	if v.width < 768 {
		p.Click("button", "mobile navigation")
	}
	p.Click("switch", "Switch to dark theme")
	p.Until(dark)
	p.Reload()
	p.Until(dark)
}

const (
	// shown is whether a panel is shown if and only if it belongs to the tab with a name.
	shown = `[...document.querySelectorAll("[role=tabpanel]")].every((panel) =>
		panel.checkVisibility() === (document.getElementById(panel.getAttribute("aria-labelledby")).innerText === %s))`
	dark = `document.documentElement.classList.contains("dark")`
)

// open opens a page, which fits into the window.
func (v visitor) open(path string) browser.Tab {
	v.T.Helper()
	p := v.Open(path, v.site+path, "")
	p.Window(v.width, 844, "light")
	p.Until(`document.getElementById("app").__vue_app__`) // its buttons work
	var over int
	if p.Evaluate(&over, "document.documentElement.scrollWidth - document.documentElement.clientWidth"); over > 0 {
		v.T.Errorf("%s is %d pixels wider than the window", path, over)
	}
	return p
}
