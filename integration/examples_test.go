package integration

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
)

// The examples do what examples/README.md says, pasted from there.
func TestExamples(t *testing.T) {
	t.Parallel()
	var all []*browser
	for _, kind := range browsers {
		all = append(all, &browser{t: t, name: kind.name, driver: kind.start(t)})
	}
	e := startExamples(t)
	t.Run("snippets", func(t *testing.T) {
		for _, b := range all {
			b.run(t, b.name, e.snippets)
		}
		t.Run("terminal", e.terminal)
	})
	for _, backend := range []struct {
		name  string
		block int
	}{{"backend-go", backendGoBlock}, {"backend-node", backendNodeBlock}} {
		t.Run(backend.name, func(t *testing.T) {
			server := e.startBackend(t, backend.block)
			for _, b := range all {
				b.run(t, b.name, func(b *browser) {
					e.chat(b)
					e.cursors(b)
					e.refusals(b)
				})
			}
			server.signal(syscall.SIGTERM) // the port is the next backend's
			server.exitCode()
		})
	}
	for _, workers := range []struct {
		name  string
		block int
	}{{"workers", workersBlock}, {"workers in Python", pythonWorkersBlock}} {
		t.Run(workers.name, func(t *testing.T) { e.workers(t, workers.block) })
	}
	t.Run("streaming", func(t *testing.T) {
		server, pauses := e.startStreaming(t)
		for _, b := range all {
			b.run(t, b.name, func(b *browser) { e.streaming(b, pauses) })
		}
		server.signal(syscall.SIGTERM)
		server.exitCode()
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
func (e *exampleEdge) streaming(b *browser, pauses *net.TCPListener) {
	text, err := os.ReadFile("../examples/python/streaming/answer.txt")
	if err != nil {
		b.t.Fatal(err)
	}
	whole := "You asked: why?\n\n" + string(text) + " "
	first := b.open("first", e.backend+"/", "")
	first.see("[role=status]", "connected")
	first.fill("Question", "why?")
	first.click("button", "Ask")
	_ = pauses.SetDeadline(time.Now().Add(waitTimeout)) // else Accept says why
	pause, err := pauses.Accept()
	if err != nil {
		b.t.Fatalf("the model does not come to its pause: %v", err)
	}
	defer pause.Close()
	first.see("#answer", "You asked: why?")
	var hash string
	first.evaluate(&hash, `location.hash`)
	first.reload()
	second := b.open("second", e.backend+"/"+hash, "")
	for _, p := range []tab{first, second} {
		if answer := p.see("#answer", "You asked: why?"); len(answer) >= len(whole)/2 {
			b.t.Errorf("in the pause, the page shows %q", answer)
		}
		p.see("#status", "Writing…")
	}
	pause.Close() // the model goes on
	for _, p := range []tab{first, second} {
		p.see("#status", "That is all.")
		var answer string
		if p.evaluate(&answer, `document.getElementById("answer").textContent`); answer != whole {
			b.t.Errorf("the page shows %q, want %q", answer, whole)
		}
	}
}

func (e *exampleEdge) chat(c *browser) {
	first, second := c.open("first", e.backend+"/chat/", ""), c.open("second", e.backend+"/chat/", "")
	enter := func(p tab, name string) {
		c.t.Helper()
		p.fill("Name", name)
		p.click("button", "Join")
		p.see("#status", "Connected.")
		p.see("form:not([hidden]) button:enabled", "Send")
	}
	name, guest := "Ada "+randomHex()[:8], "Guest "+randomHex()[:8] // the edge keeps what others have said
	enter(first, name)
	enter(second, guest)
	first.fill("Message", "Grüße <b>")
	first.click("button", "Send")
	first.see("#log", name+": Grüße <b>")
	second.see("#log", name+": Grüße <b>")
	second.fill("Message", "hello")
	second.click("button", "Send")
	if log := first.see("#log", guest+": hello"); strings.Count(log, name) != 1 {
		c.t.Errorf("the first tab shows %q", log)
	}
	// A page that says that it is another is shown under its own name.
	forged := `{"sender":"` + name + `","name":"` + name + `","text":"I am Ada"}`
	second.evaluate(nil, `import("/edge.js").then(async ({ join, TENANT }) => {
		const client = await join(document.createElement("p"), { name: %s });
		await client.publish(TENANT, "chat.lobby", %s, { confirm: true });
		await client.close();
	})`, guest, forged)
	late := c.open("late", e.backend+"/chat/", "")
	enter(late, "Late")
	for _, p := range []tab{first, late} {
		log := p.see("#log", guest+": "+forged)
		if strings.Count(log, name+": Grüße <b>") != 1 || !strings.Contains(log, guest+": hello") {
			c.t.Errorf("a tab shows %q", log)
		}
	}
	// Who is here: each name once, and a visitor until it leaves.
	visitor := "Visitor " + randomHex()[:8]
	second.evaluate(nil, `import("/edge.js").then(async ({ join, TENANT }) => {
		globalThis.visitor = await join(document.createElement("p"), { name: %s });
		await globalThis.visitor.join(TENANT, "chat.lobby");
	})`, visitor)
	if here := first.see("#here", visitor); strings.Count(here, guest) != 1 || strings.Count(here, name) != 1 {
		c.t.Errorf("the first tab shows %q", here)
	}
	second.evaluate(nil, `globalThis.visitor.close()`)
	first.until(`!document.getElementById("here").textContent.includes(%s)`, visitor)
	// Who has no name may not publish there.
	var refused string
	second.evaluate(&refused, `import("/edge.js").then(async ({ join, TENANT }) => {
		const client = await join(document.createElement("p"));
		const { code } = await client.publish(TENANT, "chat.lobby", "nobody", { confirm: true }).catch((error) => error);
		await client.close();
		return code;
	})`)
	if refused != "permission_denied" {
		c.t.Errorf("a publish without a name: got %q, want permission_denied", refused)
	}
}

func (e *exampleEdge) cursors(c *browser) {
	watching, moving := c.open("watching", e.backend+"/cursors/", ""), c.open("moving", e.backend+"/cursors/", "")
	for _, p := range []tab{watching, moving} {
		p.see("#status", "Connected.")
	}
	for _, x := range []float64{0.25, 0.75} {
		moving.act("move", object{"x": x, "y": 0.5})
		watching.until(`document.querySelectorAll(".cursor:not(.silent)").length === 1 &&
			Math.abs(parseFloat(document.querySelector(".cursor").style.left) - %s) < 1`, 100*x)
	}
	var own int
	if moving.evaluate(&own, `document.querySelectorAll(".cursor").length`); own != 0 {
		c.t.Error("a tab shows its own cursor")
	}
	watching.until(`document.querySelectorAll(".cursor.silent").length === 1`)
}

// refusals checks that another site's page gets no token, and that pages have the
// policy of docs/recipes.md.
func (e *exampleEdge) refusals(c *browser) {
	head, err := exec.Command("curl", "-s", "--noproxy", "*", "-o", "/dev/null", "-D", "-", e.backend+"/chat/").Output()
	if err != nil || !strings.Contains(string(head), "Content-Security-Policy: default-src 'none'; script-src 'self'; ") {
		c.t.Errorf("the chat has no policy: %v\n%s", err, head)
	}
	for site, want := range map[string]string{"same-origin": "200", "cross-site": "403"} {
		cmd := exec.Command("curl", "-s", "--noproxy", "*", "-o", "/dev/null", "-w", "%{http_code}",
			"-X", "POST", "-H", "Sec-Fetch-Site: "+site, e.backend+"/token")
		if out, err := cmd.Output(); err != nil || string(out) != want {
			c.t.Errorf("a page that is %s is answered %s (%v), want %s", site, out, err, want)
		}
	}
}

// snippets checks that those for the browser do what they are for, as pages of a
// backend.
func (e *exampleEdge) snippets(b *browser) {
	server := e.startBackend(b.t, backendGoBlock)
	earlier := e.subscribers(b.t)
	subscribe := b.open("subscribe", e.backend+"/snippets/browser-subscribe.html", "")
	e.awaitSubscription(b.t, earlier)
	publish := b.open("publish", e.backend+"/snippets/browser-publish.html", "")
	publish.fill("News", "Grüße")
	publish.click("button", "Publish")
	subscribe.see("#news", "news.today: Grüße")
	server.signal(syscall.SIGTERM)
	server.exitCode()
}

// terminal checks that those for the terminal do what they are for.
func (e *exampleEdge) terminal(t *testing.T) {
	token, _, _ := strings.Cut(e.blocks[workerBlock], "\n")
	worker := startBackground(t, e.paste(e.blocks[masterBlock], e.blocks[workerBlock]))
	worker.await(worker.err, "waiting for jobs")
	if out, err := e.paste(e.blocks[masterBlock], token, e.blocks[publishBlock]).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	worker.await(worker.err, "jobs.resize cat.png")
	worker.signal(syscall.SIGTERM)
	worker.exitCode()
	worker = startBackground(t, e.paste(e.blocks[masterBlock], token, e.blocks[pythonWorkerBlock]))
	worker.await(worker.out, "waiting for jobs")
	if out, err := e.paste(e.blocks[masterBlock], token, e.blocks[pythonPublishBlock]).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	worker.await(worker.out, "jobs.resize dog.png")
	worker.signal(syscall.SIGTERM)
	worker.exitCode()
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
