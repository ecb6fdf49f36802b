package integration

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// browser is a running browser, which subtests share. Its methods fail the
// test t instead of returning errors.
type browser struct {
	t       *testing.T
	name    string // of browsers
	driver  browserDriver
	context string // of the test; its tabs share the browser's storage

	expected *regexp.Regexp // complaints that are part of the test; nil: none are
}

// browserStart is how long a browser has to start: the first tests start several, with some
// ten processes each, at once.
const browserStart = 4 * waitTimeout

// A browserDriver carries out the commands of clients/browser.mjs, one at a time.
type browserDriver interface {
	do(command object) (value any, err error)
}

var browsers = []struct {
	name  string
	start func(*testing.T) browserDriver // the browser ends with the test
}{
	{"chromium", startChromium},
	{"firefox", startFirefox},
}

// inBrowsers runs a subtest in each browser, in parallel.
func inBrowsers(t *testing.T, f func(*testing.T, *browser)) {
	for _, kind := range browsers {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			f(t, &browser{t: t, name: kind.name, driver: kind.start(t)})
		})
	}
}

// run runs a subtest in a context of its own. The browser must not complain in it: no
// error on the console, nothing that a policy blocks.
func (b *browser) run(t *testing.T, name string, f func(*browser)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		own := &browser{t: t, name: b.name, driver: b.driver, context: strings.ReplaceAll(t.Name(), "/", " ")}
		t.Cleanup(func() { // also if the test fails: the complaints may explain it
			for _, complaint := range own.do(object{"cmd": "complaints", "context": own.context}).([]any) {
				if own.expected == nil || !own.expected.MatchString(fmt.Sprint(complaint)) {
					t.Errorf("the browser complains: %q", complaint)
				}
			}
			own.do(object{"cmd": "close", "context": own.context})
		})
		f(own)
	})
}

// do sends the browser a command, and returns its value.
func (b *browser) do(command object) any {
	b.t.Helper()
	value, err := b.driver.do(command)
	if err != nil {
		b.t.Fatal(err)
	}
	return value
}

// A tab is a page of a context.
type tab struct {
	*browser
	name string
}

// open opens a page in a new tab. The script runs before the page's own.
func (b *browser) open(name, url, script string) tab {
	b.t.Helper()
	opened := tab{b, b.context + "/" + name}
	if status := opened.act("open", object{"url": url, "script": script}); status != 200.0 {
		b.t.Fatalf("%s is answered %v", url, status)
	}
	return opened
}

// reload returns when the page has been loaded again.
func (p tab) reload() {
	p.t.Helper()
	p.act("reload", object{})
}

func (p tab) act(cmd string, fields object) any {
	p.t.Helper()
	fields["cmd"], fields["tab"] = cmd, p.name
	return p.do(fields)
}

// click clicks the element with this role and name in the accessibility tree.
func (p tab) click(role, name string) {
	p.t.Helper()
	p.act("click", object{"role": role, "name": name})
}

// fill types value in the field with this label.
func (p tab) fill(label, value string) {
	p.t.Helper()
	p.act("fill", object{"label": label, "value": value})
}

// see waits until the element of the CSS selector shows text, and returns all of the text
// that it shows.
func (p tab) see(selector, text string) string {
	p.t.Helper()
	shown, ok := p.act("see", object{"selector": selector, "text": text}).(string)
	if !ok {
		p.t.Fatalf("%s shows no text", selector)
	}
	return shown
}

// evaluate awaits the value of a JavaScript expression and decodes it into into. In the
// expression, each %s of the format stands for an argument in JSON.
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

// choose selects an option in the list with this label, by its value.
func (p tab) choose(label, value string) {
	p.t.Helper()
	p.act("select", object{"label": label, "value": value})
}

// press presses keys, one after the other, as playwright names them (Tab, Enter,
// Shift+Tab); what is not capitalised is text that is typed.
func (p tab) press(keys ...string) {
	p.t.Helper()
	p.act("press", object{"keys": keys})
}

// window sets the size of the window in pixels, and the colour scheme, light or dark.
func (p tab) window(width, height int, scheme string) {
	p.t.Helper()
	p.act("window", object{"width": width, "height": height, "scheme": scheme})
}

// wantAccessible fails for each violation that axe-core finds on the page.
func (p tab) wantAccessible(what string) {
	p.t.Helper()
	for _, violation := range p.act("axe", object{}).([]any) {
		p.t.Errorf("%s: %v", what, violation)
	}
}
