package integration

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// chromium is a running Chromium, which all browser tests share. Its methods
// fail the test t instead of returning errors.
type chromium struct {
	t       *testing.T
	process *foreign
	context string // the test's own; its tabs share what a browser keeps

	expected *regexp.Regexp // complaints that are part of the test; nil: none are
}

// startChromium starts the browser; it ends with the test.
func startChromium(t *testing.T) *chromium {
	t.Helper()
	if _, err := os.Stat(cmp.Or(os.Getenv("CHROMIUM"), "/usr/bin/chromium")); err != nil {
		t.Fatalf("Chromium is not installed (%v): run scripts/install-test-deps.sh", err)
	}
	kind := foreignKind{"chromium", []string{"node", "clients/browser.mjs"}, "clients/node_modules/playwright-core", nil}
	return &chromium{t: t, process: kind.start(t)}
}

// run runs a subtest in a context of its own. The browser must have nothing to
// complain of in it: no error on the console, nothing that a policy stops.
func (c *chromium) run(t *testing.T, name string, f func(*chromium)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		process := *c.process
		process.t = t
		own := &chromium{t: t, process: &process, context: strings.ReplaceAll(t.Name(), "/", " ")}
		f(own)
		for _, complaint := range own.do(object{"cmd": "complaints", "context": own.context}).([]any) {
			if own.expected == nil || !own.expected.MatchString(fmt.Sprint(complaint)) {
				t.Errorf("the browser complains: %q", complaint)
			}
		}
		own.do(object{"cmd": "close", "context": own.context})
	})
}

// do gives a command to clients/browser.mjs and returns its value.
func (c *chromium) do(command object) any {
	c.t.Helper()
	c.process.do(command)
	select {
	case answer, ok := <-c.process.events:
		switch {
		case !ok:
			c.t.Fatalf("the browser ended at %v", command)
		case answer["event"] != "done":
			c.t.Fatalf("%v", answer["text"])
		}
		return answer["value"]
	case <-time.After(patience):
		c.t.Fatalf("the browser does not answer for %v: %v", patience, command)
	}
	return nil
}

// A tab is a page of a context.
type tab struct {
	*chromium
	name string
}

// open opens a page in a new tab. The script runs before the page's own.
func (c *chromium) open(name, url, script string) tab {
	c.t.Helper()
	opened := tab{c, c.context + "/" + name}
	if status := opened.act("open", object{"url": url, "script": script}); status != 200.0 {
		c.t.Fatalf("%s is answered %v", url, status)
	}
	return opened
}

func (p tab) act(cmd string, fields object) any {
	p.t.Helper()
	fields["cmd"], fields["tab"] = cmd, p.name
	return p.do(fields)
}

// click clicks what assistive technology calls so.
func (p tab) click(role, name string) {
	p.t.Helper()
	p.act("click", object{"role": role, "name": name})
}

// fill types value in the field with this label.
func (p tab) fill(label, value string) {
	p.t.Helper()
	p.act("fill", object{"label": label, "value": value})
}

// see waits until what the CSS selector finds shows text, and returns all that
// it shows.
func (p tab) see(selector, text string) string {
	p.t.Helper()
	shown, ok := p.act("see", object{"selector": selector, "text": text}).(string)
	if !ok {
		p.t.Fatalf("%s shows no text", selector)
	}
	return shown
}

// evaluate puts the value of a JavaScript expression, once it has come, in
// into. In the expression, each %s of the format stands for an argument in JSON.
func (p tab) evaluate(into any, format string, args ...any) {
	p.t.Helper()
	value, err := json.Marshal(p.act("run", object{"expression": p.expression(format, args)}))
	if err == nil && into != nil {
		err = json.Unmarshal(value, into)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p tab) expression(format string, args []any) string {
	p.t.Helper()
	for _, arg := range args {
		encoded, err := json.Marshal(arg)
		if err != nil {
			p.t.Fatal(err)
		}
		format = strings.Replace(format, "%s", string(encoded), 1)
	}
	return format
}

// until waits until a JavaScript expression, written as for evaluate, is true.
func (p tab) until(format string, args ...any) {
	p.t.Helper()
	p.act("until", object{"expression": p.expression(format, args)})
}
