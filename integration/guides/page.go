package guides

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/internal/loopback"
)

// A Page is a page whose blocks a test runs in a folder of its own, beside a link `millrace` to
// the checkout. At its end the test fails if there are blocks that it has not tested.
//
// In the blocks, ports are replaced by free ones, and `millrace pubsub dev` keeps its data in a
// folder of its own. The commands in bin stand before others in the PATH: an install takes what
// scripts/install-test-deps.sh has installed, and fails if that is not there.
type Page struct {
	T      *testing.T
	Folder string // the app's, beside millrace
	Env    []string
	Blocks []*Block
	path   string // in the checkout
	ports  map[string]int
	state  string // a file with the variables and the folder of the reader's shell
}

var opened sync.Map // the pages, by their paths

// Open reads a page, such as docs/quickstart/node.md. The ports are those of the page's own
// programs; the edge's are known.
func Open(t *testing.T, path string, ports ...int) *Page {
	t.Helper()
	must(t, harness.WatchSources())
	opened.Store(path, true)
	content, err := os.ReadFile(filepath.Join("..", path))
	must(t, err)
	checkout, err := filepath.Abs("..")
	must(t, err)
	dir := t.TempDir()
	p := &Page{T: t, Folder: filepath.Join(dir, "app"), Blocks: Parse(string(content)), path: path, ports: map[string]int{}, state: filepath.Join(dir, "state")}
	for _, port := range append(ports, 8080, 8443, 2019) {
		p.ports[strconv.Itoa(port)] = loopback.FreePort(t)
	}
	must(t, os.Mkdir(p.Folder, 0o700))
	must(t, os.Symlink(checkout, filepath.Join(dir, "millrace")))
	must(t, os.WriteFile(p.state, nil, 0o600))
	goEnv, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE", "GOPATH").Output()
	must(t, err)
	caches := strings.Split(string(goEnv), "\n")
	p.Env = []string{
		"HOME=" + dir, "TMPDIR=" + os.Getenv("TMPDIR"), "no_proxy=*", "CADDY_ADMIN=localhost:" + fmt.Sprint(p.ports["2019"]),
		"PATH=" + filepath.Join(checkout, "integration/guides/bin") + ":" + os.Getenv("PATH"), "CHECKOUT=" + checkout,
		"MILLRACE_PROGRAM=" + harness.Program, "MILLRACE_DEV=" + p.adapt("--https-port 8443 --http-port 8080 --admin localhost:2019"),
		"GOCACHE=" + caches[0], "GOMODCACHE=" + caches[1], "GOPATH=" + caches[2],
		"GOPROXY=off", "GONOSUMDB=*", "GONOSUMCHECK=1", "GOFLAGS=-trimpath -mod=mod", "GOTOOLCHAIN=local",
		"PYTHONUNBUFFERED=1", "npm_config_update_notifier=false", "npm_config_offline=true", "npm_config_audit=false", "npm_config_fund=false",
	}
	t.Cleanup(func() {
		for _, b := range p.Blocks {
			if !b.tested && !t.Failed() && !t.Skipped() {
				t.Errorf("%s:%d: no test runs this block:\n%s", path, b.Line, b.Text)
			}
		}
	})
	return p
}

// Port is the one that stands for a port of the page.
func (p *Page) Port(ofPage int) int { return p.ports[strconv.Itoa(ofPage)] }

// URL is an address of the page, such as http://localhost:8080/demo, with the port that stands
// for its port.
func (p *Page) URL(ofPage string) string { return p.adapt(ofPage) }

var number = regexp.MustCompile(`\b\d+\b`)

func (p *Page) adapt(text string) string {
	return number.ReplaceAllStringFunc(text, func(n string) string {
		if port, found := p.ports[n]; found {
			return strconv.Itoa(port)
		}
		return n
	})
}

// Block returns the one block that is a text, or else has it, and is not tested yet. Now it counts as tested.
func (p *Page) Block(text string) *Block {
	p.T.Helper()
	var found *Block
	for _, b := range p.Blocks {
		switch {
		case b.tested || !strings.Contains(b.Text, text):
		case found == nil || strings.TrimSpace(b.Text) == text:
			found = b
		case strings.TrimSpace(found.Text) != text:
			p.T.Fatalf("%s: the blocks in lines %d and %d have %q", p.path, found.Line, b.Line, text)
		}
	}
	if found == nil {
		p.T.Fatalf("%s: no block that is not yet tested has %q", p.path, text)
	}
	found.tested = true
	return found
}

// Files writes the files that the page shows, all or these.
func (p *Page) Files(names ...string) {
	p.T.Helper()
	wanted := map[string]bool{}
	for _, name := range names {
		wanted[name] = true
	}
	for _, b := range p.Blocks {
		if b.File != "" && !b.tested && (len(names) == 0 || wanted[b.File]) {
			b.tested = true
			delete(wanted, b.File)
			p.Write(b.File, b.Text)
		}
	}
	for name := range wanted {
		p.T.Fatalf("%s shows no file %s", p.path, name)
	}
}

// Write writes a file into the app's folder, with the ports that stand for the page's.
func (p *Page) Write(name, text string) {
	p.T.Helper()
	file := filepath.Join(p.Folder, name)
	must(p.T, os.MkdirAll(filepath.Dir(file), 0o700))
	must(p.T, os.WriteFile(file, []byte(p.adapt(text)), 0o600))
}

// Run runs the block of commands that has a text, in the reader's shell: what it exports, and
// the folder it goes to, is there for the next one. It compares what the block prints with the
// block of output after it, if there is one, and returns it.
func (p *Page) Run(text string) string {
	p.T.Helper()
	b := p.Block(text)
	out := p.Shell(b.Text + "\n{ declare -px; printf 'cd %q\\n' \"$PWD\"; } >" + p.state)
	if want := p.output(b); want != nil && !want.MatchString(out) {
		p.T.Fatalf("%s:%d: printed\n%s\nwant %s", p.path, b.Line, out, want)
	}
	return out
}

// Start runs the block of commands that has a text in another terminal, beside the test. It
// returns when the block has printed what the block of output after it says, if there is one.
// The commands end with the test.
func (p *Page) Start(text string) *harness.Background {
	p.T.Helper()
	b := p.Block(text)
	background := p.terminal().background(p.T, "source "+p.state, p.adapt(b.Text))
	if want := p.output(b); want != nil {
		background.AwaitMatchFor(harness.WaitTimeout, background.Out, want)
	}
	return background
}

// Edge runs the block that starts the edge with `millrace pubsub dev`.
func (p *Page) Edge() *harness.Background {
	p.T.Helper()
	edge := p.Start("millrace pubsub dev")
	edge.Await(edge.Out, "Ctrl+C stops the edge.\n")
	return edge
}

// Shell runs a script of the test in the reader's shell, and returns what it prints.
func (p *Page) Shell(script string) string {
	p.T.Helper()
	return p.terminal().RunBlocks(p.T, "source "+p.state, p.adapt(script))
}

// terminal is a new one, without an edge.
func (p *Page) terminal() *Terminal {
	return &Terminal{&harness.DevEdge{Env: p.Env}, p.Folder, strings.NewReplacer()}
}

// output is what a block of commands prints, by the block that follows it.
func (p *Page) output(of *Block) *regexp.Regexp {
	for i, b := range p.Blocks[1:] {
		if p.Blocks[i] == of && b.follows() {
			b.tested = true
			return expected(p.adapt(b.Text))
		}
	}
	return nil
}

// Await returns when a program that [Page.Start] has started has printed the block of output
// that has a text.
func (p *Page) Await(program *harness.Background, text string) {
	p.T.Helper()
	program.AwaitMatchFor(harness.WaitTimeout, program.Out, expected(p.adapt(p.Block(text).Text)))
}
