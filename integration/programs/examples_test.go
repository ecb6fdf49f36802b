package programs

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/millrace/millrace/integration/browser"
	"github.com/millrace/millrace/integration/guides"
	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/internal/loopback"
)

// exampleEdge is a terminal in a copy of the repository's folder, where the ports in the
// examples are those of the edge, and of the backend.
type exampleEdge struct {
	*guides.Terminal
	backend string // its origin
	blocks  []string
}

// block returns the block of examples/README.md that has a text, after the one that makes a
// master token.
func (e *exampleEdge) block(t *testing.T, text string) string {
	t.Helper()
	i := slices.IndexFunc(e.blocks, func(block string) bool { return strings.Contains(block, text) })
	if i < 0 {
		t.Fatalf("no block of examples/README.md has %q", text)
	}
	return e.blocks[1] + e.blocks[i]
}

// The examples do what examples/README.md says, pasted from there, with the pages in Chromium.
func TestExamples(t *testing.T) {
	t.Parallel()
	chrome := browser.Start(t, "chromium")
	e := startExamples(t)
	t.Run("workers", e.workers)
	t.Run("queue", e.queue)
	for name, block := range map[string]string{"backend-go": "go run ./examples/backend-go", "backend-node": "node examples/backend-node"} {
		t.Run(name, func(t *testing.T) { // the backend ends with it: its port is the next one's
			e.StartBlocks(t, "open "+e.backend, e.block(t, block))
			chrome.Run(t, "cursors", e.cursors)
			chrome.Run(t, "chat", e.chat)
			e.refusals(t)
		})
	}
	chrome.Run(t, "streaming", e.streaming)
	chrome.Run(t, "page of dev", e.devPage)
	if jupyter := os.Getenv("MILLRACE_JUPYTER"); jupyter != "" {
		// The notebook runs from its first cell to its last, in a real kernel, and draws. That needs
		// some hundred MB of packages, so only the soak notebook does it, which says where jupyter is.
		t.Run("notebook", func(t *testing.T) {
			e.Env = append(e.Env, os.Environ()...)
			done := e.RunBlocks(t, e.blocks[1], "cd examples/python", jupyter+" execute live.ipynb --output=done.ipynb", "cat done.ipynb")
			if !strings.Contains(done, "40 values") || !strings.Contains(done, "image/png") {
				t.Errorf("the notebook has no 40 values or no image:\n%s", done)
			}
		})
	}
}

// startExamples returns when the edge runs and the examples in Go are built.
func startExamples(t *testing.T) *exampleEdge {
	t.Helper()
	must(t, harness.WatchSources())
	from, err := filepath.Abs("..")
	must(t, err)
	port, python := loopback.FreePort(t), "exec "+from+"/integration/clients/.venv/bin/python "
	backend := fmt.Sprintf("localhost:%d", port)
	// The last command of a block takes the shell's place, and the test itself goes on.
	e := &exampleEdge{guides.OpenTerminal(t, "localhost:3000", backend, " &\n", "\n", "\nnode ", "\nexec node ",
		"go run ./examples/", "exec built/",
		"examples/python/.venv/bin/python ", python, "\npython3 ", "\n"+python), "http://" + backend, nil}
	e.Folder = t.TempDir()
	if _, e.blocks = guides.Document(t, "../examples/README.md", "sh"); len(e.blocks) != 12 {
		t.Fatalf("examples/README.md has %d blocks: the test knows 12", len(e.blocks))
	}
	ports := fmt.Sprintf("-e s/:3000/:%d/g -e s/:8080/:%d/g -e s/:8443/:%d/g", port, e.Ports[1], e.Ports[0])
	build := e.Paste("export FROM="+from,
		"ls $FROM/sdk/js/dist/index.js $FROM/examples/node_modules/@millrace/client/dist", // of scripts/install-test-deps.sh
		"ln -s $FROM/* . && rm examples", "tar -C $FROM --exclude node_modules --exclude .venv -cf - examples | tar xf -",
		"find examples -type f -exec sed -i.bak "+ports+" {} +",
		"ln -s $FROM/examples/node_modules examples/",
		"go build -o built/ ./examples/backend-go ./examples/workers ./examples/queue")
	build.Env = os.Environ() // with its caches
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return e
}

// workers checks that each of 100 jobs is done once, by several workers.
func (e *exampleEdge) workers(t *testing.T) {
	for _, block := range []string{"go run ./examples/workers", "examples/python/workers.py"} {
		out := e.RunBlocks(t, e.block(t, block))
		lines := regexp.MustCompile(`(?m)^(worker \d+) does jobs\.resize (\d+\.png)$`).FindAllStringSubmatch(out, -1)
		done, workers := map[string]bool{}, map[string]bool{}
		for _, line := range lines {
			workers[line[1]], done[line[2]] = true, true
		}
		if !strings.Contains(out, "\n100 jobs done\n") || len(done) != 100 || len(lines) != 100 || len(workers) < 2 {
			t.Errorf("%d jobs were done by %d workers:\n%s", len(done), len(workers), out)
		}
	}
}

// queue loses no job of a work queue whose worker is killed in the middle, whichever language does what.
func (e *exampleEdge) queue(t *testing.T) {
	token := e.block(t, "--history 'jobs.*'")
	programs := []string{"exec built/queue", "exec node examples/queue/queue.mjs", "examples/python/.venv/bin/python examples/queue/queue.py"}
	const jobs = 20
	isDone := regexp.MustCompile(`(?m)^done (\S+)$`)
	before := map[string]bool{} // of earlier rounds: a dispatcher that starts may give out what it does not know is done
	for i := range programs {
		dispatcher, killed, left := programs[i], programs[(i+1)%3], programs[(i+2)%3]
		retryAfter := "1"
		if i == 0 {
			retryAfter = "1s"
		}
		first := e.StartBlocks(t, "", token, killed+" work")
		e.StartBlocks(t, "", token, dispatcher+" dispatch "+retryAfter)
		e.RunBlocks(t, token, dispatcher+fmt.Sprintf(" add %d", jobs))
		first.Await(first.Out, "done ") // the other one comes later, or might do all of them
		second := e.StartBlocks(t, "", token, left+" work")
		first.Signal(syscall.SIGKILL)
		first.ExitCode()
		e.RunBlocks(t, token, dispatcher+" add 1") // the other one must do it, even if the first was so quick as to do all before
		done := map[string]bool{}
		second.AwaitTrue(func() bool {
			for _, found := range isDone.FindAllStringSubmatch(first.Out.String()+second.Out.String(), -1) {
				if !before[found[1]] {
					done[found[1]] = true
				}
			}
			return len(done) == jobs+1
		})
		maps.Copy(before, done)
		second.Signal(syscall.SIGTERM) // it drains
		if code := second.ExitCode(); code != 0 {
			t.Errorf("%s: exit code %d\n%s", left, code, second.Out)
		}
	}
}

// publish tries to publish to the chat, with the token that the backend gives to this name.
func (e *exampleEdge) publish(t *testing.T, name, payload string) (printed string) {
	t.Helper()
	return e.RunBlocks(t, "export MILLRACE_TOKEN=$(curl -s --noproxy '*' -H Sec-Fetch-Site:same-origin -d name="+name+" "+e.backend+
		`/token | sed 's/.*"token":"\([^"]*\)".*/\1/')`,
		"./millrace pubsub publish --url ws://localhost:8080/ws --tenant demo.room --confirm chat.lobby '"+payload+"' || true")
}

// refusals checks that another site's page gets no token, that one without a name may not
// publish in the chat, and that pages have a content security policy.
func (e *exampleEdge) refusals(t *testing.T) {
	t.Helper()
	out := e.RunBlocks(t, "curl() { command curl -s --noproxy '*' -o /dev/null \"$@\"; }",
		"for site in same-origin cross-site; do curl -w '%{http_code} ' -X POST -H Sec-Fetch-Site:$site "+e.backend+"/token; done",
		"curl -D - "+e.backend+"/chat/") + e.publish(t, "", "nobody")
	if !strings.HasPrefix(out, "200 403 HTTP") || !strings.Contains(out, "permission_denied") ||
		!strings.Contains(out, "Content-Security-Policy: default-src 'none'; script-src 'self'; ") {
		t.Errorf("tokens and a page of the backend: %s", out)
	}
}

func (e *exampleEdge) cursors(c *browser.Browser) {
	watching, moving := c.Open("watching", e.backend+"/cursors/", ""), c.Open("moving", e.backend+"/cursors/", "")
	for _, p := range []browser.Tab{watching, moving} {
		p.See("#status", "Connected.")
	}
	for _, x := range []float64{0.25, 0.75} {
		moving.Act("move", harness.Object{"x": x, "y": 0.5})
		watching.Until(`document.querySelectorAll(".cursor:not(.silent)").length === 1 &&
			Math.abs(parseFloat(document.querySelector(".cursor").style.left) - %s) < 1`, 100*x)
	}
	var own int
	if moving.Evaluate(&own, `document.querySelectorAll(".cursor").length`); own != 0 {
		c.T.Error("a tab shows its own cursor")
	}
	watching.Until(`document.querySelectorAll(".cursor.silent").length === 1`)
}

// streaming reloads a page in the middle of an answer, where the model pauses, and opens
// it twice.
func (e *exampleEdge) streaming(b *browser.Browser) {
	backend := e.StartBlocks(b.T, "running on "+e.backend, "cd examples/python/streaming\nmv model.py stand_in.py",
		"ln -s ../../../integration/clients/paused_model.py model.py\ncd ../../..", e.block(b.T, "streaming/backend.py"))
	text, _ := guides.Document(b.T, "../examples/python/streaming/answer.txt", "")
	whole := "You asked: why?\n\n" + text + " "
	first := b.Open("first", e.backend+"/", "")
	first.See("[role=status]", "connected")
	first.Fill("Question", "why?")
	first.Click("button", "Ask")
	backend.Await(backend.Out, "the model pauses")
	first.See("#answer", "You asked: why?")
	var hash string
	first.Evaluate(&hash, `location.hash`)
	first.Reload()
	second := b.Open("second", e.backend+"/"+hash, "")
	for _, p := range []browser.Tab{first, second} {
		if answer := p.See("#answer", "You asked: why?"); len(answer) >= len(whole)/2 {
			b.T.Errorf("in the pause, the page shows %q", answer)
		}
		p.See("#status", "Writing…")
	}
	backend.Signal(syscall.SIGUSR1) // the model goes on
	for _, p := range []browser.Tab{first, second} {
		p.See("#status", "That is all.")
		var answer string
		if p.Evaluate(&answer, `document.getElementById("answer").textContent`); answer != whole {
			b.T.Errorf("the page shows %q, want %q", answer, whole)
		}
	}
}

func (e *exampleEdge) chat(c *browser.Browser) {
	ada, guest := "Ada-"+harness.RandomHex()[:8], "Guest-"+harness.RandomHex()[:8] // the edge keeps what others have said
	enter := func(name string) browser.Tab {
		c.T.Helper()
		p := c.Open(name, e.backend+"/chat/", "")
		p.Fill("Name", name)
		p.Click("button", "Join")
		p.See("#status", "Connected.")
		p.See("form:not([hidden]) button:enabled", "Send")
		return p
	}
	first, second := enter(ada), enter(guest)
	first.Fill("Message", "Grüße <b>")
	first.Click("button", "Send")
	second.See("#log", ada+": Grüße <b>")
	// Whatever a client says, it is shown under the name of its token.
	forged := `{"sender":"` + ada + `","name":"` + ada + `","text":"I am Ada"}`
	e.publish(c.T, guest, forged)
	for _, p := range []browser.Tab{first, enter("Late")} {
		if log := p.See("#log", guest+": "+forged); strings.Count(log, ada+": Grüße <b>") != 1 {
			c.T.Errorf("a tab shows %q", log)
		}
	}
	if here := first.See("#here", guest); strings.Count(here, guest) != 1 || strings.Count(here, ada) != 1 {
		c.T.Errorf("the first tab shows %q", here)
	}
}
