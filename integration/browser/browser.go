package browser

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/internal/testcheck"
)

// Browser is a running browser, which subtests share, with a context of the test's: tabs share
// its storage. Its methods fail the test T instead of returning errors.
type Browser struct {
	T        *testing.T
	Name     string         // chromium or firefox
	Expected *regexp.Regexp // complaints that are part of the test; nil: none are

	process process
	context string
}

// in is the browser with a context of another test. The browser must not complain in it: no
// error on the console, nothing that a policy blocks.
func (b *Browser) in(t *testing.T) *Browser {
	own := &Browser{T: t, Name: b.Name, process: b.process, context: strings.ReplaceAll(t.Name(), "/", " ")}
	t.Cleanup(func() { // also if the test fails: the complaints may explain it
		complaints, err := own.process.do(harness.Object{"cmd": "close", "context": own.context})
		must(t, err)
		for _, complaint := range complaints.([]any) {
			if own.Expected == nil || !own.Expected.MatchString(fmt.Sprint(complaint)) {
				t.Errorf("the browser complains: %q", complaint)
			}
		}
	})
	return own
}

// Run runs a subtest in a context of its own.
func (b *Browser) Run(t *testing.T, name string, f func(*Browser)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { f(b.in(t)) })
}

var must = testcheck.Must

// A tab is a page of a context.
type Tab struct {
	*Browser
	name string
}

// Open opens a page in a new tab. The script runs before the page's own.
func (b *Browser) Open(name, url, script string) Tab {
	b.T.Helper()
	opened := Tab{b, b.context + "/" + name}
	status := opened.Act("open", harness.Object{"url": url, "script": script})
	if status != 200.0 && status != 304.0 { // which Firefox says of what it has already
		b.T.Fatalf("%s is answered %v", url, status)
	}
	return opened
}

// Reload returns when the page has been loaded again.
func (p Tab) Reload() {
	p.T.Helper()
	p.Act("reload", harness.Object{})
}

func (p Tab) Act(cmd string, fields harness.Object) any {
	p.T.Helper()
	fields["cmd"], fields["tab"] = cmd, p.name
	value, err := p.process.do(fields)
	must(p.T, err)
	return value
}

// Click clicks elements with this role and these names in the accessibility tree, one after
// the other.
func (p Tab) Click(role string, names ...string) {
	p.T.Helper()
	for _, name := range names {
		p.Act("click", harness.Object{"role": role, "name": name})
	}
}

// Fill types values in fields: a label, a value, and so on.
func (p Tab) Fill(labelled ...string) {
	p.T.Helper()
	for pair := range slices.Chunk(labelled, 2) {
		p.Act("fill", harness.Object{"label": pair[0], "value": pair[1]})
	}
}

// See waits until elements of the CSS selector show these texts, each in turn, and returns all
// of the text that the last one shows.
func (p Tab) See(selector string, texts ...string) (shown string) {
	p.T.Helper()
	for _, text := range texts {
		shown, _ = p.Act("see", harness.Object{"selector": selector, "text": text}).(string) // an error has no other value
	}
	return shown
}

// Evaluate awaits the value of a JavaScript expression and decodes it into into. In the
// expression, each %s of the format stands for an argument in JSON.
func (p Tab) Evaluate(into any, format string, args ...any) {
	p.T.Helper()
	value, err := json.Marshal(p.Act("run", harness.Object{"expression": p.expression(format, args)}))
	if err == nil && into != nil {
		err = json.Unmarshal(value, into)
	}
	must(p.T, err)
}

func (p Tab) expression(format string, args []any) string {
	p.T.Helper()
	for _, arg := range args {
		encoded, err := json.Marshal(arg)
		must(p.T, err)
		format = strings.Replace(format, "%s", string(encoded), 1)
	}
	return format
}

// Until waits until a JavaScript expression, written as for evaluate, is true.
func (p Tab) Until(format string, args ...any) {
	p.T.Helper()
	p.Act("until", harness.Object{"expression": p.expression(format, args)})
}

// Choose selects an option in the list with this label, by its value.
func (p Tab) Choose(label, value string) {
	p.T.Helper()
	p.Act("select", harness.Object{"label": label, "value": value})
}

// Press presses keys, one after the other, as playwright names them (Tab, Enter,
// Shift+Tab); what is not capitalised is text that is typed.
func (p Tab) Press(keys ...string) {
	p.T.Helper()
	p.Act("press", harness.Object{"keys": keys})
}

// Window sets the size of the window in pixels, and the colour scheme, light or dark.
func (p Tab) Window(width, height int, scheme string) {
	p.T.Helper()
	p.Act("window", harness.Object{"width": width, "height": height, "scheme": scheme})
}

// WantAccessible fails for each violation that axe-core finds on the page.
func (p Tab) WantAccessible(what string) {
	p.T.Helper()
	for _, violation := range p.Act("axe", harness.Object{}).([]any) {
		p.T.Errorf("%s: %v", what, violation)
	}
}
