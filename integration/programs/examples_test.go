package programs

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/browser"
	"github.com/millrace/millrace/integration/harness"
)

// The examples do what examples/README.md says, pasted from there, with the pages in Chromium.
func TestExamples(t *testing.T) {
	t.Parallel()
	chrome := &browser.Browser{T: t, Name: "chromium", Driver: browser.StartChromium(t)}
	e := startExamples(t)
	t.Run("terminal", e.terminal)
	t.Run("workers", func(t *testing.T) { e.workers(t, workersBlock) })
	t.Run("workers in Python", func(t *testing.T) { e.workers(t, pythonWorkersBlock) })
	t.Run("backend-go", func(t *testing.T) {
		server := e.startBackend(t, backendGoBlock)
		chrome.Run(t, "snippets", e.snippets)
		chrome.Run(t, "chat", e.chat)
		chrome.Run(t, "cursors", e.cursors)
		e.refusals(t)
		server.Signal(syscall.SIGTERM) // the port is the next backend's
		server.ExitCode()
	})
	t.Run("backend-node", func(t *testing.T) {
		server := e.startBackend(t, backendNodeBlock)
		chrome.Run(t, "cursors", e.cursors)
		e.refusals(t)
		server.Signal(syscall.SIGTERM)
		server.ExitCode()
	})
	t.Run("streaming", func(t *testing.T) {
		server, pauses := e.startStreaming(t)
		chrome.Run(t, "page", func(b *browser.Browser) { e.streaming(b, pauses) })
		server.Signal(syscall.SIGTERM)
		server.ExitCode()
	})
}

// workers checks that each of 100 jobs is done once, by several workers.
func (e *exampleEdge) workers(t *testing.T, block int) {
	out, err := e.paste(e.blocks[masterBlock], e.blocks[block]).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	done := map[string]int{}
	workers := map[string]bool{}
	for _, line := range regexp.MustCompile(`(?m)^(worker \d+) does jobs\.resize (\d+\.png)$`).FindAllStringSubmatch(string(out), -1) {
		workers[line[1]] = true
		done[line[2]]++
	}
	if !strings.Contains(string(out), "\n100 jobs done\n") || len(done) != 100 || len(workers) < 2 {
		t.Errorf("%d jobs were done by %d workers:\n%s", len(done), len(workers), out)
	}
	for job, times := range done {
		if times != 1 {
			t.Errorf("job %s was done %d times", job, times)
		}
	}
}

// streaming reloads a page in the middle of an answer, where the model pauses, and opens
// it twice.
func (e *exampleEdge) streaming(b *browser.Browser, pauses *net.TCPListener) {
	text, err := os.ReadFile("../examples/python/streaming/answer.txt")
	if err != nil {
		b.T.Fatal(err)
	}
	whole := "You asked: why?\n\n" + string(text) + " "
	first := b.Open("first", e.backend+"/", "")
	first.See("[role=status]", "connected")
	first.Fill("Question", "why?")
	first.Click("button", "Ask")
	_ = pauses.SetDeadline(time.Now().Add(harness.WaitTimeout)) // else Accept says why
	pause, err := pauses.Accept()
	if err != nil {
		b.T.Fatalf("the model does not come to its pause: %v", err)
	}
	defer pause.Close()
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
	pause.Close() // the model goes on
	for _, p := range []browser.Tab{first, second} {
		p.See("#status", "That is all.")
		var answer string
		if p.Evaluate(&answer, `document.getElementById("answer").textContent`); answer != whole {
			b.T.Errorf("the page shows %q, want %q", answer, whole)
		}
	}
}

func (e *exampleEdge) chat(c *browser.Browser) {
	first, second := c.Open("first", e.backend+"/chat/", ""), c.Open("second", e.backend+"/chat/", "")
	enter := func(p browser.Tab, name string) {
		c.T.Helper()
		p.Fill("Name", name)
		p.Click("button", "Join")
		p.See("#status", "Connected.")
		p.See("form:not([hidden]) button:enabled", "Send")
	}
	name, guest := "Ada "+harness.RandomHex()[:8], "Guest "+harness.RandomHex()[:8] // the edge keeps what others have said
	enter(first, name)
	enter(second, guest)
	first.Fill("Message", "Grüße <b>")
	first.Click("button", "Send")
	first.See("#log", name+": Grüße <b>")
	second.See("#log", name+": Grüße <b>")
	second.Fill("Message", "hello")
	second.Click("button", "Send")
	if log := first.See("#log", guest+": hello"); strings.Count(log, name) != 1 {
		c.T.Errorf("the first tab shows %q", log)
	}
	// A page that says that it is another is shown under its own name.
	forged := `{"sender":"` + name + `","name":"` + name + `","text":"I am Ada"}`
	second.Evaluate(nil, `import("/edge.js").then(async ({ join, TENANT }) => {
		const client = await join(document.createElement("p"), { name: %s });
		await client.publish(TENANT, "chat.lobby", %s, { confirm: true });
		await client.close();
	})`, guest, forged)
	late := c.Open("late", e.backend+"/chat/", "")
	enter(late, "Late")
	for _, p := range []browser.Tab{first, late} {
		log := p.See("#log", guest+": "+forged)
		if strings.Count(log, name+": Grüße <b>") != 1 || !strings.Contains(log, guest+": hello") {
			c.T.Errorf("a tab shows %q", log)
		}
	}
	if here := first.See("#here", guest); strings.Count(here, guest) != 1 || strings.Count(here, name) != 1 {
		c.T.Errorf("the first tab shows %q", here)
	}
	// Who has no name may not publish there.
	var refused string
	second.Evaluate(&refused, `import("/edge.js").then(async ({ join, TENANT }) => {
		const client = await join(document.createElement("p"));
		const { code } = await client.publish(TENANT, "chat.lobby", "nobody", { confirm: true }).catch((error) => error);
		await client.close();
		return code;
	})`)
	if refused != "permission_denied" {
		c.T.Errorf("a publish without a name: got %q, want permission_denied", refused)
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

// refusals checks that another site's page gets no token, and that pages have the
// policy of docs/recipes.md.
func (e *exampleEdge) refusals(t *testing.T) {
	t.Helper()
	head, err := exec.Command("curl", "-s", "--noproxy", "*", "-o", "/dev/null", "-D", "-", e.backend+"/chat/").Output()
	if err != nil || !strings.Contains(string(head), "Content-Security-Policy: default-src 'none'; script-src 'self'; ") {
		t.Errorf("the chat has no policy: %v\n%s", err, head)
	}
	for site, want := range map[string]string{"same-origin": "200", "cross-site": "403"} {
		cmd := exec.Command("curl", "-s", "--noproxy", "*", "-o", "/dev/null", "-w", "%{http_code}",
			"-X", "POST", "-H", "Sec-Fetch-Site: "+site, e.backend+"/token")
		if out, err := cmd.Output(); err != nil || string(out) != want {
			t.Errorf("a page that is %s is answered %s (%v), want %s", site, out, err, want)
		}
	}
}

// snippets checks that those for the browser do what they are for, as pages of a
// backend.
func (e *exampleEdge) snippets(b *browser.Browser) {
	earlier := e.subscribers(b.T)
	subscribe := b.Open("subscribe", e.backend+"/snippets/browser-subscribe.html", "")
	e.awaitSubscription(b.T, earlier)
	publish := b.Open("publish", e.backend+"/snippets/browser-publish.html", "")
	publish.Fill("News", "Grüße")
	publish.Click("button", "Publish")
	subscribe.See("#news", "news.today: Grüße")
}

// terminal checks that those for the terminal do what they are for.
func (e *exampleEdge) terminal(t *testing.T) {
	token, _, _ := strings.Cut(e.blocks[workerBlock], "\n")
	for _, language := range []struct {
		worker, publish string
		stderr          bool
		does            string
	}{
		{e.blocks[workerBlock], e.blocks[publishBlock], true, "jobs.resize cat.png"},
		{token + "\n" + e.blocks[pythonWorkerBlock], e.blocks[pythonPublishBlock], false, "jobs.resize dog.png"},
	} {
		worker := harness.StartBackground(t, e.paste(e.blocks[masterBlock], language.worker))
		output := worker.Out
		if language.stderr {
			output = worker.Err
		}
		worker.Await(output, "waiting for jobs")
		if out, err := e.paste(e.blocks[masterBlock], token, language.publish).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		worker.Await(output, language.does)
		worker.Signal(syscall.SIGTERM)
		worker.ExitCode()
	}
}

// The README shows the snippets as they are.
func TestReadmeSnippets(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## SDKs\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, snippet := range []struct{ language, file string }{
		{"html", "browser-subscribe.html"}, {"html", "browser-publish.html"}, {"js", "backend-token.mjs"},
		{"go", "publish/main.go"}, {"go", "worker/main.go"}, {"python", "publish.py"}, {"python", "worker.py"},
	} {
		code, err := os.ReadFile(filepath.Join("../examples/snippets", snippet.file))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(section, "```"+snippet.language+"\n"+string(code)+"```\n") {
			t.Errorf("the README does not show %s as it is", snippet.file)
		}
		if lines := strings.Count(string(code), "\n"); lines > 30 {
			t.Errorf("%s has %d lines", snippet.file, lines)
		}
	}
	if n := strings.Count(section, "```") / 2; n != 7 {
		t.Errorf("the README has %d blocks of code in the section SDKs, want the 7 snippets", n)
	}
}
